// expect: wrong_answer
// form: kernel
// Walks down a column instead of along a row.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) sum += x[r * cols + blockIdx.x % cols];
  y[blockIdx.x] = sum;
}
