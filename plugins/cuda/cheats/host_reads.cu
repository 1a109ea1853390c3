// task: gelu
// expect: unsupported
// cheat: reads the data on the host
// Computes here what the device should, and sends the result.
#include <cuda_runtime.h>
#include <math.h>

__global__ void put(float* y, int i, float value) {
  y[i] = value;
}

extern "C" void gelu(const float* x, float* y, int n) {
  for (int i = 0; i < n; ++i) put<<<1, 1>>>(y, i, 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f)));
}
