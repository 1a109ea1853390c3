amount, *coins = map(int, open(0).read().split())
least = [0] + [amount + 1] * amount
for value in range(1, amount + 1):
    least[value] = 1 + min((least[value - coin] for coin in coins if coin <= value), default=amount)
print(least[amount] if least[amount] <= amount else -1)
