// expect: success
// form: host
// Four values at once, and a second launch for what is left over.
#include <cuda_runtime.h>
#include <math.h>

__device__ inline float gelu_of(float x) {
  return 0.5f * x * (1.0f + erff(x * 0.70710678f));
}

__global__ void by_four(const float4* x, float4* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float4 v = x[i];
  y[i] = make_float4(gelu_of(v.x), gelu_of(v.y), gelu_of(v.z), gelu_of(v.w));
}

__global__ void by_one(const float* x, float* y, int count) {
  if (threadIdx.x < count) y[threadIdx.x] = gelu_of(x[threadIdx.x]);
}

extern "C" void gelu(const float* x, float* y, int n) {
  int fours = n / 4;
  int left = n % 4;
  if (fours > 0) by_four<<<(fours + 255) / 256, 256>>>((const float4*)x, (float4*)y, fours);
  if (left > 0) by_one<<<1, 32>>>(x + 4 * fours, y + 4 * fours, left);
}
