// expect: wrong_answer
// form: kernel
// needs: simulated
// Reads the tile before other warps have written it: a race.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
  __shared__ float tile[32][33];
  int column = blockIdx.x * 32 + threadIdx.x;
  int row = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < rows && column < cols) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * cols + column];
  }
  column = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += 8) {
    if (row + i < cols && column < rows) y[(row + i) * rows + column] = tile[threadIdx.x][threadIdx.y + i];
  }
}
