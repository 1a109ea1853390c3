// Has the compiler print its own environment, or that of the process which started it. Contained: it
// holds nothing of those outside.
#include "/proc/self/environ"
#include "/proc/1/environ"
#include "/proc/self/cmdline"
#include "/proc/1/cmdline"
