# Takes no processor time at all.
import time

print(sum(map(int, input().split())), flush=True)
time.sleep(3600)
