// A warp a row.
extern "C" __global__ void softmax_reference(const float* x, float* y, int rows, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  float top = -3.402823466e38f;
  for (int i = threadIdx.x; i < cols; i += 32) top = fmaxf(top, row[i]);
  for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 32) sum += expf(row[i] - top);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int i = threadIdx.x; i < cols; i += 32) out[i] = expf(row[i] - top) / sum;
}
