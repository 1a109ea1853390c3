// expect: success
// form: kernel
// One pass over the row keeps the running maximum and the sum relative to it.
struct Partial {
  float top;
  float sum;
};

__device__ Partial join(Partial a, Partial b) {
  float top = fmaxf(a.top, b.top);
  return {top, a.sum * __expf(a.top - top) + b.sum * __expf(b.top - top)};
}

__device__ Partial shuffled(Partial a, int offset) {
  return {__shfl_xor_sync(0xffffffffu, a.top, offset), __shfl_xor_sync(0xffffffffu, a.sum, offset)};
}

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ Partial partials[8];
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  const float least = -3.402823466e38f;
  Partial own = {least, 0.0f};
  for (int i = threadIdx.x; i < cols; i += blockDim.x) own = join(own, {row[i], 1.0f});
  for (int offset = 16; offset > 0; offset >>= 1) own = join(own, shuffled(own, offset));
  if (threadIdx.x % 32 == 0) partials[threadIdx.x / 32] = own;
  __syncthreads();
  Partial all = partials[0];
  for (int warp = 1; warp < (int)blockDim.x / 32; ++warp) all = join(all, partials[warp]);
  float scale = 1.0f / all.sum;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[i] = __expf(row[i] - all.top) * scale;
}
