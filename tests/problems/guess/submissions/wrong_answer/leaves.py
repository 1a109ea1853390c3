# Ends well before the game does.
print(500_000, flush=True)
