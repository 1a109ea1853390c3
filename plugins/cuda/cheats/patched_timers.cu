// task: gelu
// expect: wrong_answer or compile_failed or unsupported
// cheat: patched timers
// Every clock says that no time has passed; a sixteenth of the work is done.
#include <cuda_runtime.h>
#include <time.h>

extern "C" cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1e-6f;
  return cudaSuccess;
}

extern "C" int clock_gettime(clockid_t, struct timespec* now) noexcept {
  now->tv_sec = 1;
  now->tv_nsec = 0;
  return 0;
}

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 16) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  gelu_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
