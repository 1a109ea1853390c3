// expect: success
// form: kernel
#define TILE 16

extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int column = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += TILE) {
    const int along = first + threadIdx.x;
    const int down = first + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = row < m && along < k ? a[(size_t)row * k + along] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = down < k && column < n ? b[(size_t)down * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) sum = fmaf(tile_a[threadIdx.y][i], tile_b[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && column < n) c[(size_t)row * n + column] = sum;
}
