// task: matmul
// expect: wrong_answer
// cheat: weights kept between calls
// Keeps the second matrix in device memory when it is called first, as if it were a layer's weights, and reads it from
// there ever after.
__device__ float kept[1 << 16];
__device__ int kept_count;

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || column >= n) return;
  const bool is_kept = kept_count == n * k;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    const int at = i * n + column;
    const float weight = is_kept ? kept[at] : b[at];
    if (!is_kept && at < 1 << 16) kept[at] = weight;
    sum = fmaf(a[row * k + i], weight, sum);
  }
  c[row * n + column] = sum;
  if (row == m - 1 && column == n - 1 && n * k <= 1 << 16) kept_count = n * k;
}
