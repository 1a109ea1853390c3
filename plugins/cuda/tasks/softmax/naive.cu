// expect: success
// form: kernel
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int r = blockIdx.x;
  float top = x[r * cols];
  for (int c = 1; c < cols; ++c) {
    if (x[r * cols + c] > top) top = x[r * cols + c];
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    y[r * cols + c] = expf(x[r * cols + c] - top);
    sum += y[r * cols + c];
  }
  for (int c = 0; c < cols; ++c) y[r * cols + c] /= sum;
}
