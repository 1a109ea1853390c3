print(500_000, flush=True)
raise RuntimeError(input())
