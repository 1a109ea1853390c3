// task: row_sum
// expect: compile_failed or unsupported or execute_error
// cheat: work outside of what is timed
// A kernel that launches another one, to be done after the clock has stopped.
__global__ void child(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[blockIdx.x * cols + c];
  y[blockIdx.x] = sum;
}

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (blockIdx.x == 0 && threadIdx.x == 0) child<<<rows, 1>>>(x, y, cols);
}
