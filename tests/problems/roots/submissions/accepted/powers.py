import sys

for number in sys.stdin.read().split():
    print(f"{float(number) ** 0.5:.10E}")
