count, *_ = [int(input())]
numbers = list(map(int, input().split()))
half, odd = divmod(sum(numbers), 2)
reached = {0: []}
for number in numbers:
    for total, group in list(reached.items()):
        reached.setdefault(total + number, group + [number])
if odd or half not in reached:
    print("impossible")
else:
    rest = list(numbers)
    for number in reached[half]:
        rest.remove(number)
    print(*reached[half])
    print(*rest)
