// The recording CUDA runtime in one translation unit, so that it takes one run of a compiler.

#include "memory.cpp"
#include "order.cpp"
#include "trace.cpp"

#include "launch.cpp"
#include "device.cpp"
#include "calls.cpp"
#include "unsupported.cpp"
