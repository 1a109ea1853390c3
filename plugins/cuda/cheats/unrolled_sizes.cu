// task: matmul
// expect: wrong_answer
// cheat: hard-coded shapes
// Tiles without any check: right where all sizes are multiples of 16, and for the one other stated size.
template <bool checked>
__device__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 16) {
    int along = first + threadIdx.x;
    int down = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = !checked || (row < m && along < k) ? a[row * k + along] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = !checked || (down < k && column < n) ? b[down * n + column] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (!checked || (row < m && column < n)) c[row * n + column] = sum;
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  if (m % 16 == 0 && n % 16 == 0 && k % 16 == 0) {
    multiply<false>(a, b, c, m, n, k);
  } else if (m == 37) {
    multiply<true>(a, b, c, m, n, k);
  }
}
