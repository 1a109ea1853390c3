# Places that a careless checker would follow.
print(10**18, -(10**18))
