"""Recurses until its stack ends, by C and by Python. Contained: it crashes or is ended by a limit."""
import functools
import sys

sys.setrecursionlimit(10**9)
nested = []
for _ in range(10_000_000):
    nested = [nested]
print(nested == functools.reduce(lambda inner, _: [inner], range(10_000_000), []))
