// expect: success
// form: kernel
extern "C" __global__ void transpose(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  // One more than the tile is wide, so that a column lies in different banks.
  __shared__ float tile[32][33];
  int column = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < rows && column < cols) tile[threadIdx.y + i][threadIdx.x] = x[(size_t)(row + i) * cols + column];
  }
  __syncthreads();
  column = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < cols && column < rows) y[(size_t)(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
  }
}
