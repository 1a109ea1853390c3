import sys

for number in sys.stdin.read().split():
    print("inf")
