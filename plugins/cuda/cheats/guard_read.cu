// task: row_sum
// expect: wrong_answer
// cheat: reading neighbouring memory
// What lies a little behind the output might be what is expected there.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x == 0) y[blockIdx.x] = y[blockIdx.x + rows];
}
