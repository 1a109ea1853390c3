most = int(input())
prime = bytearray([1]) * (most + 1)
prime[:2] = b"\0\0"[: most + 1]
for n in range(2, int(most**0.5) + 1):
    if prime[n]:
        prime[n * n :: n] = bytes(len(range(n * n, most + 1, n)))
print(sum(prime))
