// task: gelu
// expect: execute_error or unsupported or compile_failed or wrong_answer
// cheat: harms the machine
#include <cuda_runtime.h>

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < 1000; ++i) {
    void* more;
    cudaMalloc(&more, 1ull << 34);
    cudaMemset(more, 0, 1ull << 34);
  }
}
