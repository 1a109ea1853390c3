"""Starts processes and threads without end. Contained: ended by a limit, or refused."""
import os
import threading

while True:
    try:
        os.fork()
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    except (OSError, RuntimeError):
        pass
