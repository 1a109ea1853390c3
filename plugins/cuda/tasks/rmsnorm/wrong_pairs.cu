// expect: execute_error
// form: kernel
// Reads two values at once, also where a row of odd length makes that address unaligned.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* weight, __half* y, int rows, int cols) {
  __shared__ float sums[128];
  const __half2* row = reinterpret_cast<const __half2*>(x + (size_t)blockIdx.x * cols);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols / 2; i += 128) {
    float2 value = __half22float2(row[i]);
    sum += value.x * value.x + value.y * value.y;
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(sums[0] / cols + 1e-5f);
  __half2* out = reinterpret_cast<__half2*>(y + (size_t)blockIdx.x * cols);
  const __half2* factors = reinterpret_cast<const __half2*>(weight);
  for (int i = threadIdx.x; i < cols / 2; i += 128) {
    float2 value = __half22float2(row[i]);
    float2 factor = __half22float2(factors[i]);
    out[i] = __floats2half2_rn(value.x * scale * factor.x, value.y * scale * factor.y);
  }
}
