// expect: success
// form: kernel
__device__ float value(const float* x, int r, int c, int height, int width) {
  if (r < 0 || r >= height || c < 0 || c >= width) return 0.0f;
  return x[r * width + c];
}

extern "C" __global__ void five_point(const float* x, float* y, int height, int width) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= height || c >= width) return;
  float sum = -4.0f * value(x, r, c, height, width);
  sum += value(x, r - 1, c, height, width);
  sum += value(x, r + 1, c, height, width);
  sum += value(x, r, c - 1, height, width);
  sum += value(x, r, c + 1, height, width);
  y[r * width + c] = sum;
}
