"""Takes memory without end, and goes on where it is refused. Contained: ended by the memory limit."""
kept = []
while True:
    try:
        kept.append(bytearray(b"x") * (8 << 20))
    except MemoryError:
        pass
