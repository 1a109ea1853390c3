import sys

ordered = []
for number in map(int, sys.stdin.read().split()[1:]):
    at = 0
    while at < len(ordered) and ordered[at] < number:
        at += 1
    ordered.insert(at, number)
print(*ordered)
