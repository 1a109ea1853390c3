// expect: wrong_answer
// form: kernel
// The left neighbour of a row's first value is taken from the end of the row above.
extern "C" __global__ void five_point(const float* x, float* y, int height, int width) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= height || c >= width) return;
  int i = r * width + c;
  int n = height * width;
  float sum = -4.0f * x[i];
  if (i >= width) sum += x[i - width];
  if (i + width < n) sum += x[i + width];
  if (i >= 1) sum += x[i - 1];
  if (i + 1 < n) sum += x[i + 1];
  y[i] = sum;
}
