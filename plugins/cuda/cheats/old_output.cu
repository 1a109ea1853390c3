// task: softmax
// expect: wrong_answer
// cheat: leaves old data
// Believes what the output holds if it looks like shares of one.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x;
  if (threadIdx.x != 0) return;
  float held = 0.0f;
  for (int c = 0; c < cols; ++c) held += y[r * cols + c];
  if (fabsf(held - 1.0f) < 1e-3f) return;
  for (int c = 0; c < cols; ++c) y[r * cols + c] = held == held ? held / cols : 0.0f;
}
