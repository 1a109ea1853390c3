count = int(input())
print(*(n * n for n in range(1, count + 1)))
