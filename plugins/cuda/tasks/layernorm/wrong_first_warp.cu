// expect: wrong_answer
// form: kernel
// The sums of the warps are never put together.
extern "C" __global__ void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows,
                                     int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f, squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    sum += row[c];
    squares += row[c] * row[c];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    squares += __shfl_xor_sync(0xffffffffu, squares, offset);
  }
  float mean = sum / cols;
  float scale = rsqrtf(squares / cols - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[(size_t)blockIdx.x * cols + c] = (row[c] - mean) * scale * weight[c] + bias[c];
  }
}
