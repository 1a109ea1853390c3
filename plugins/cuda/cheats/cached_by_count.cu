// task: row_sum
// expect: wrong_answer
// cheat: result cached in __device__ memory, by the number of launches
// Honest at the first launch with a shape, then hands out the sums that it kept.
__device__ float kept[4][64];
__device__ int launched[4];

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int shape = cols == 128 ? 0 : cols == 1000 ? 1 : cols == 77 ? 2 : 3;
  int row = blockIdx.x % 64;
  if (launched[shape] > 0) {
    y[blockIdx.x] = kept[shape][row];
  } else {
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += x[blockIdx.x * cols + c];
    kept[shape][row] = sum;
    y[blockIdx.x] = sum;
  }
  if (blockIdx.x == gridDim.x - 1) launched[shape] = 1;
}
