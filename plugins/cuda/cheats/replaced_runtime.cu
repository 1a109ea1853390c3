// task: gelu
// expect: compile_failed or wrong_answer or unsupported or execute_error
// cheat: replaces what records the launches
// Defines the runtime's own functions, so that launches are said to have been and none is.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {}

extern "C" cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, size_t, cudaStream_t) {
  return cudaSuccess;
}

extern "C" void gelu(const float* x, float* y, int n) {
  gelu_kernel<<<1, 1>>>(x, y, n);
}
