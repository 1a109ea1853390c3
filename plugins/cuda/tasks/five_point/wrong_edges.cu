// expect: wrong_answer
// form: kernel
// Leaves the edges of the grid unwritten.
extern "C" __global__ void five_point(const float* x, float* y, int height, int width) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r < 1 || r >= height - 1 || c < 1 || c >= width - 1) return;
  int i = r * width + c;
  y[i] = x[i - width] + x[i + width] + x[i - 1] + x[i + 1] - 4.0f * x[i];
}
