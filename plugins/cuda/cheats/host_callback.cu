// task: gelu
// expect: unsupported
// cheat: side streams
// The work is put on a stream that nobody waits for, behind a callback.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

static void later(void*) {}

extern "C" void gelu(const float* x, float* y, int n) {
  cudaStream_t side;
  cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  cudaLaunchHostFunc(side, later, nullptr);
  gelu_kernel<<<(n + 255) / 256, 256, 0, side>>>(x, y, n);
}
