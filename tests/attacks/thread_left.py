"""Ends while threads and children of its own go on. Contained: the run ends; its output is whole."""
import os
import threading
import time

threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
if os.fork() == 0:
    os.setsid()
    while True:
        time.sleep(3600)
print("contained", flush=True)
os._exit(0)
