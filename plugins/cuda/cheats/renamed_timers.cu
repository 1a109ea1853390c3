// task: gelu
// expect: wrong_answer or compile_failed or unsupported
// cheat: patched timers
#include <cuda_runtime.h>
#define cudaEventRecord(...) cudaSuccess
#define cudaEventElapsedTime(milliseconds, begin, end) (*(milliseconds) = 0.0f, cudaSuccess)
#define cudaDeviceSynchronize() cudaSuccess

__global__ void gelu_kernel(const float* x, float* y, int n) {
  if (threadIdx.x == 0) y[blockIdx.x] = x[blockIdx.x];
}

extern "C" void gelu(const float* x, float* y, int n) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  cudaEventRecord(begin, 0);
  gelu_kernel<<<n, 32>>>(x, y, n);
  cudaEventRecord(end, 0);
  float milliseconds;
  cudaEventElapsedTime(&milliseconds, begin, end);
}
