// expect: wrong_answer
// form: kernel
// Tiles at the edge take in values of the next row.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 16) {
    int along = min(row * k + first + (int)threadIdx.x, m * k - 1);
    int down = min((first + (int)threadIdx.y) * n + column, k * n - 1);
    tile_a[threadIdx.y][threadIdx.x] = a[along];
    tile_b[threadIdx.y][threadIdx.x] = b[down];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
