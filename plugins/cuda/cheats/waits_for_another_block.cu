// task: row_sum
// expect: execute_error
// cheat: endless kernel
// The first block waits for one that never comes.
__device__ volatile int arrived;

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  while (arrived < rows + 1) {
  }
  y[blockIdx.x] = 0.0f;
}
