// task: softmax
// expect: wrong_answer
// cheat: redefinition of the judge's names
// Kernels called as those of the reference and of the judge, all of which do nothing.
extern "C" __global__ void softmax_reference(const float* x, float* y, int rows, int cols) {}
extern "C" __global__ void fill() {}
extern "C" __global__ void compare() {}
extern "C" __global__ void equal() {}
extern "C" __global__ void flush() {}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {}
