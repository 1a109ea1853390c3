// task: gelu
// expect: wrong_answer or execute_error or unsupported or compile_failed
// cheat: host threads
// A thread of its own launches the work when the clock has stopped.
#include <cuda_runtime.h>

#include <chrono>
#include <thread>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  std::thread([=] {
    std::this_thread::sleep_for(std::chrono::hours(1));
    gelu_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
  }).detach();
}
