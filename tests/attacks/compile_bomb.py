"""Source that takes the compiler's stack and memory. Contained: a crash of its own."""
import sys

sys.setrecursionlimit(10**9)
source = "-" * 4_000_000 + "1"
try:
    compile(source, "attack", "eval")
    eval("(" * 90 + ")" * 90)
except (SyntaxError, RecursionError, MemoryError, ValueError):
    pass
sys.exit(3)
