// expect: success
// form: kernel
// Two values at once where rows are of even length.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* __restrict__ x, const __half* __restrict__ weight,
                                   __half* __restrict__ y, int rows, int cols) {
  __shared__ float sums[4];
  const size_t first = (size_t)blockIdx.x * cols;
  const int pairs = cols % 2 == 0 ? cols / 2 : 0;
  const __half2* row2 = reinterpret_cast<const __half2*>(x + first);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 value = __half22float2(row2[i]);
    sum += value.x * value.x + value.y * value.y;
  }
  for (int c = 2 * pairs + threadIdx.x; c < cols; c += blockDim.x) {
    float value = __half2float(x[first + c]);
    sum += value * value;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = rsqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / cols + 1e-5f);
  const __half2* weight2 = reinterpret_cast<const __half2*>(weight);
  for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
    float2 value = __half22float2(row2[i]);
    float2 factor = __half22float2(weight2[i]);
    reinterpret_cast<__half2*>(y + first)[i] = __floats2half2_rn(value.x * scale * factor.x, value.y * scale * factor.y);
  }
  for (int c = 2 * pairs + threadIdx.x; c < cols; c += blockDim.x) {
    y[first + c] = __float2half_rn(__half2float(x[first + c]) * scale * __half2float(weight[c]));
  }
}
