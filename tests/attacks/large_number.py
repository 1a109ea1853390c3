"""One expression that takes for ever and cannot be interrupted. Contained: ended by a limit."""
print(9**9**9)
