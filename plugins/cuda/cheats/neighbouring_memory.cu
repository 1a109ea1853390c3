// task: softmax
// expect: execute_error or wrong_answer
// cheat: scanning for the expected data
// Looks through the memory around its own buffers for rows that sum to one.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  const float* own = y + blockIdx.x * cols;
  for (long long step = 1; step < 4096; ++step) {
    const float* other = own + step * rows * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) sum += other[c];
    if (fabsf(sum - 1.0f) < 1e-4f) {
      for (int c = 0; c < cols; ++c) y[blockIdx.x * cols + c] = other[c];
      return;
    }
  }
}
