// expect: success
// form: kernel
// The sum is kept in the result's place.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * 16 + threadIdx.x;
  int row = blockIdx.y * 16 + threadIdx.y;
  if (row < m && column < n) {
    c[row * n + column] = 0.0f;
    for (int i = k - 1; i >= 0; --i) c[row * n + column] += a[row * k + i] * b[i * n + column];
  }
}
