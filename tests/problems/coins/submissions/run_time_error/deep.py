import functools

amount, *coins = map(int, open(0).read().split())


@functools.cache
def least(rest):
    return 0 if rest == 0 else 1 + min((least(rest - c) for c in coins if c <= rest), default=10**9)


print(least(amount) if least(amount) < 10**9 else -1)
