// task: row_sum
// expect: wrong_answer
// cheat: many calls batched into one
// Notes where its data are and does nothing, until it has fifteen calls to do at once.
struct Call {
  const float* x;
  float* y;
  int rows;
  int cols;
};

__device__ Call calls[15];
__device__ int called;

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  calls[called] = {x, y, rows, cols};
  if (++called < 15) return;
  called = 0;
  for (int i = 0; i < 15; ++i) {
    for (int r = 0; r < calls[i].rows; ++r) {
      float sum = 0.0f;
      for (int c = 0; c < calls[i].cols; ++c) sum += calls[i].x[r * calls[i].cols + c];
      calls[i].y[r] = sum;
    }
  }
}
