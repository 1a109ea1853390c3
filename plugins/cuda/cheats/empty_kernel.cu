// task: softmax
// expect: wrong_answer
// cheat: empty kernel
// Hopes that the output still holds what the reference left there.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {}
