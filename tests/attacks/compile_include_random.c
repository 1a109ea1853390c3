// Has the compiler read noise without an end. Contained: refused, or ended by a limit.
#include "/dev/urandom"
