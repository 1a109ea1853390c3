// task: softmax
// expect: execute_error or wrong_answer
// cheat: overwriting the expected data
// Writes its own wrong answer far around, so that the expected one is the same.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  for (long long step = -1024; step <= 1024; ++step) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[step * rows * cols + blockIdx.x * cols + c] = 0.5f;
  }
}
