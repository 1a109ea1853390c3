word = input()
print(word[1:] + word[0])
