// expect: success
// form: kernel
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int r = blockIdx.y * 32 + threadIdx.y; r < min(rows, (int)(blockIdx.y + 1) * 32); r += 8) {
    if (c < cols) y[c * rows + r] = x[r * cols + c];
  }
}
