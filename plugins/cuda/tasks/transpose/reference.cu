extern "C" __global__ void transpose_reference(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  y[(size_t)(i % cols) * rows + i / cols] = x[i];
}
