// task: gelu
// expect: unsupported
// cheat: reads the data on the host
#include <cuda_runtime.h>
#include <math.h>
#include <stdlib.h>

extern "C" void gelu(const float* x, float* y, int n) {
  float* values = (float*)malloc(n * sizeof(float));
  cudaMemcpy(values, x, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) values[i] = 0.5f * values[i] * (1.0f + erff(values[i] * 0.70710678f));
  cudaMemcpy(y, values, n * sizeof(float), cudaMemcpyHostToDevice);
  free(values);
}
