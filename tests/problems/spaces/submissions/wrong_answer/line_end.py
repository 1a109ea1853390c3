import re
import sys

text = sys.stdin.buffer.read().decode()
print(re.sub(r"\S+", lambda word: word[0][::-1], text))
