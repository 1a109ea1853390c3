import sys

nodes, edges, *rest = map(int, sys.stdin.read().split())
following = [[] for _ in range(nodes + 1)]
for start, end in zip(rest[::2], rest[1::2]):
    following[start].append(end)
ways = [0] * (nodes + 1)
ways[1] = 1
for node in range(1, nodes + 1):
    for end in following[node]:
        ways[end] = (ways[end] + ways[node]) % 1_000_000_007
print(ways[nodes])
