# Each waits for the other.
print(input())
