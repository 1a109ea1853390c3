count = int(input())
numbers = input().split()
print(*numbers[: count // 2])
print(*numbers[count // 2 :])
