import sys

count, wanted, *numbers = map(int, sys.stdin.read().split())
for at, number in enumerate(numbers, 1):
    for other, another in enumerate(numbers, 1):
        if number + another == wanted:
            print(at, other)
            sys.exit()
print(-1)
