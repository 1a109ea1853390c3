// task: row_sum
// expect: wrong_answer
// cheat: hard-coded constant output
// The sum of many normal numbers is zero on average.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x == 0) y[blockIdx.x] = 0.0f;
}
