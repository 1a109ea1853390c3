amount, *coins = map(int, open(0).read().split())
used = 0
for coin in sorted(coins, reverse=True):
    used += amount // coin
    amount %= coin
print(-1 if amount else used)
