// expect: success
// form: kernel
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* weight, __half* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int first = blockIdx.x * cols;
  float mean = 0.0f;
  for (int c = 0; c < cols; ++c) mean += (float)x[first + c] * (float)x[first + c] / cols;
  for (int c = 0; c < cols; ++c) y[first + c] = __float2half((float)x[first + c] / sqrtf(mean + 1e-5f) * (float)weight[c]);
}
