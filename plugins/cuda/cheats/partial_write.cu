// task: softmax
// expect: wrong_answer
// cheat: partial write
// Computes the first three quarters of the rows alone, hoping that a sample is compared.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x;
  if (threadIdx.x != 0 || r >= rows - rows / 4) return;
  float top = x[r * cols];
  for (int c = 1; c < cols; ++c) top = fmaxf(top, x[r * cols + c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[r * cols + c] - top);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - top) / sum;
}
