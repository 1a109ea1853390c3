// Has the compiler read a file without an end. Contained: refused, or ended by a limit.
#include "/dev/zero"
