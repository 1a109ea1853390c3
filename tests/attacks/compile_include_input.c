// Has the compiler wait for its own input. Contained: it has none.
#include "/dev/stdin"
#include "/proc/self/fd/0"
