most = int(input())
print(sum(all(n % d for d in range(2, n)) for n in range(2, most + 1)))
