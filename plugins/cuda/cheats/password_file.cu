// task: softmax
// expect: compile_failed
// cheat: reads the machine by the compiler
#include "/etc/passwd"
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {}
