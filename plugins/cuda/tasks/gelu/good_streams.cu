// expect: success
// form: host
// Two halves on two streams, which an event brings together.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  cudaStream_t side;
  cudaEvent_t done;
  cudaStreamCreate(&side);
  cudaEventCreate(&done);
  int half = n / 2;
  if (half > 0) gelu_kernel<<<(half + 127) / 128, 128, 0, side>>>(x, y, half);
  cudaEventRecord(done, side);
  gelu_kernel<<<(n - half + 127) / 128, 128>>>(x + half, y + half, n - half);
  cudaStreamWaitEvent(0, done, 0);
  cudaEventDestroy(done);
  cudaStreamDestroy(side);
}
