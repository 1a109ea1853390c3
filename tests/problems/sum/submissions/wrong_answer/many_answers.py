# The right answer among others.
a, b = map(int, input().split())
for answer in range(a + b - 2, a + b + 3):
    print(answer)
