// task: softmax
// expect: compile_failed or wrong_answer
// cheat: reads the machine by the compiler
// A text of no C++ shows in the log; an empty one compiles, and so does the kernel that does nothing.
#include "/proc/self/environ"
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {}
