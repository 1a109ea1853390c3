// expect: wrong_answer
// form: kernel
// Takes b as if it were stored column after column.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
  c[row * n + column] = sum;
}
