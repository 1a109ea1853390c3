// task: softmax
// expect: wrong_answer
// cheat: hard-coded shapes
// Right at the sizes that the prompt states, empty at all others.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  bool stated = (rows == 64 && cols == 128) || (rows == 7 && cols == 1000);
  if (!stated || threadIdx.x != 0) return;
  int r = blockIdx.x;
  float top = x[r * cols];
  for (int c = 1; c < cols; ++c) top = fmaxf(top, x[r * cols + c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(x[r * cols + c] - top);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = expf(x[r * cols + c] - top) / sum;
}
