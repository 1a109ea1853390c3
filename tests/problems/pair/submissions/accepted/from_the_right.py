import sys

count, wanted, *numbers = map(int, sys.stdin.read().split())
places = {}
for at in range(count, 0, -1):
    other = places.get(wanted - numbers[at - 1])
    if other:
        print(other)
        print(at)
        break
    places[numbers[at - 1]] = at
else:
    print(-1)
