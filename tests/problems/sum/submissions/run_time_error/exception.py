a, b = map(int, input().split())
print(a + b)
raise SystemError("after the right answer")
