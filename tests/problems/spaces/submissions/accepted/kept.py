import re
import sys

text = sys.stdin.buffer.read().decode()
sys.stdout.buffer.write(re.sub(r"\S+", lambda word: word[0][::-1], text).encode())
