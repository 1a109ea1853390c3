// expect: wrong_answer
// form: kernel
// needs: simulated
// Computes with a tile that is not whole yet: a race.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float tile_a[16][16];
  __shared__ float tile_b[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int first = 0; first < k; first += 16) {
    tile_a[threadIdx.y][threadIdx.x] = row < m && first + threadIdx.x < k ? a[row * k + first + threadIdx.x] : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = first + threadIdx.y < k && column < n ? b[(first + threadIdx.y) * n + column] : 0.0f;
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
