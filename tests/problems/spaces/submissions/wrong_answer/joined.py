import sys

print(" ".join(word[::-1] for word in sys.stdin.read().split()))
