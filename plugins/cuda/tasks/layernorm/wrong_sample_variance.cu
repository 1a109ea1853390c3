// expect: wrong_answer
// form: kernel
// Divides by one less than the number of values.
extern "C" __global__ void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows,
                                     int cols) {
  if (threadIdx.x != 0) return;
  int first = blockIdx.x * cols;
  float mean = 0.0f;
  for (int c = 0; c < cols; ++c) mean += x[first + c];
  mean /= cols;
  float variance = 0.0f;
  for (int c = 0; c < cols; ++c) variance += (x[first + c] - mean) * (x[first + c] - mean);
  variance /= cols - 1;
  for (int c = 0; c < cols; ++c) y[first + c] = (x[first + c] - mean) * rsqrtf(variance + 1e-5f) * weight[c] + bias[c];
}
