# Plays the other's part.
print("correct", flush=True)
