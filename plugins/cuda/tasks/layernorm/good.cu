// expect: success
// form: kernel
// Sum and sum of squares together, by shuffles.
extern "C" __global__ void layernorm(const float* __restrict__ x, const float* __restrict__ weight,
                                     const float* __restrict__ bias, float* __restrict__ y, int rows, int cols) {
  __shared__ float2 totals[32];
  const float* row = x + (size_t)blockIdx.x * cols;
  float2 total = make_float2(0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float value = row[c];
    total.x += value;
    total.y = fmaf(value, value, total.y);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    total.x += __shfl_xor_sync(0xffffffffu, total.x, offset);
    total.y += __shfl_xor_sync(0xffffffffu, total.y, offset);
  }
  const int warps = blockDim.x >> 5;
  if ((threadIdx.x & 31) == 0) totals[threadIdx.x >> 5] = total;
  __syncthreads();
  total = make_float2(0.0f, 0.0f);
  for (int warp = 0; warp < warps; ++warp) {
    total.x += totals[warp].x;
    total.y += totals[warp].y;
  }
  const float mean = total.x / cols;
  const float scale = rsqrtf(total.y / cols - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[(size_t)blockIdx.x * cols + c] = fmaf((row[c] - mean) * scale, weight[c], bias[c]);
  }
}
