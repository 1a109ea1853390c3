import sys

nodes, edges, *rest = map(int, sys.stdin.read().split())
following = [[] for _ in range(nodes + 1)]
for start, end in zip(rest[::2], rest[1::2]):
    following[start].append(end)


def walk(node):
    return (node == nodes) + sum(map(walk, following[node]))


print(walk(1) % 1_000_000_007)
