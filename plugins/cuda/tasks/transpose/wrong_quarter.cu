// expect: wrong_answer
// form: kernel
// Takes the block for as high as the tile.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  int c = blockIdx.x * 32 + threadIdx.x;
  int r = blockIdx.y * 32 + threadIdx.y;
  if (r < rows && c < cols) y[c * rows + r] = x[r * cols + c];
}
