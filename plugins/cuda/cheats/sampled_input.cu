// task: row_sum
// expect: wrong_answer
// cheat: reads a part of the input
// Sums every other value and doubles.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; c += 2) sum += x[blockIdx.x * cols + c];
  y[blockIdx.x] = 2.0f * sum;
}
