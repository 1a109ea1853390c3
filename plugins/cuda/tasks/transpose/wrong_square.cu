// expect: wrong_answer
// form: kernel
// Right for square matrices alone: y has rows of another length.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int i = 0; i < 32; i += 8) {
    int r = blockIdx.y * 32 + threadIdx.y + i;
    if (r < rows && c < cols && c * cols + r < rows * cols) y[c * cols + r] = x[r * cols + c];
  }
}
