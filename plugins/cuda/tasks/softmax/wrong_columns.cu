// expect: wrong_answer
// form: kernel
// Normalised over the columns' direction.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float top = -3.402823466e38f;
    for (int i = 0; i < rows; ++i) top = fmaxf(top, x[i * cols + c]);
    float sum = 0.0f;
    for (int i = 0; i < rows; ++i) sum += expf(x[i * cols + c] - top);
    y[r * cols + c] = expf(x[r * cols + c] - top) / sum;
  }
}
