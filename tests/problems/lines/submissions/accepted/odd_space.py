count = int(input())
for n in range(1, count + 1):
    print(n * n, end=" \r\n")
print("\n\n")
