// expect: success
// form: host
// The tile is chosen by the size; each thread computes four rows of its column.
#include <cuda_runtime.h>

template <int TILE, int ROWS>
__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  const int column = blockIdx.x * TILE + threadIdx.x;
  float sums[ROWS] = {};
  for (int first = 0; first < k; first += TILE) {
    for (int part = 0; part < ROWS; ++part) {
      const int y = threadIdx.y + part * (TILE / ROWS);
      const int row = blockIdx.y * TILE + y;
      tile_a[y][threadIdx.x] = row < m && first + threadIdx.x < k ? a[(size_t)row * k + first + threadIdx.x] : 0.0f;
      tile_b[y][threadIdx.x] = first + y < k && column < n ? b[(size_t)(first + y) * n + column] : 0.0f;
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i) {
      for (int part = 0; part < ROWS; ++part) {
        sums[part] += tile_a[threadIdx.y + part * (TILE / ROWS)][i] * tile_b[i][threadIdx.x];
      }
    }
    __syncthreads();
  }
  for (int part = 0; part < ROWS; ++part) {
    const int row = blockIdx.y * TILE + threadIdx.y + part * (TILE / ROWS);
    if (row < m && column < n) c[(size_t)row * n + column] = sums[part];
  }
}

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  if (m * n <= 1024) {
    dim3 block(8, 2);
    multiply<8, 4><<<dim3((n + 7) / 8, (m + 7) / 8), block>>>(a, b, c, m, n, k);
  } else {
    dim3 block(32, 8);
    multiply<32, 4><<<dim3((n + 31) / 32, (m + 31) / 32), block>>>(a, b, c, m, n, k);
  }
  cudaDeviceSynchronize();
}
