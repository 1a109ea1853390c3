// expect: success
// form: kernel
#define WIDE 32
#define HIGH 8

extern "C" __global__ void five_point(const float* __restrict__ x, float* __restrict__ y, int height, int width) {
  __shared__ float tile[HIGH + 2][WIDE + 2];
  const int first_row = blockIdx.y * HIGH - 1;
  const int first_column = blockIdx.x * WIDE - 1;
  const int thread = threadIdx.y * WIDE + threadIdx.x;
  for (int i = thread; i < (HIGH + 2) * (WIDE + 2); i += HIGH * WIDE) {
    int r = first_row + i / (WIDE + 2);
    int c = first_column + i % (WIDE + 2);
    bool inside = r >= 0 && r < height && c >= 0 && c < width;
    tile[i / (WIDE + 2)][i % (WIDE + 2)] = inside ? x[(size_t)r * width + c] : 0.0f;
  }
  __syncthreads();
  int row = blockIdx.y * HIGH + threadIdx.y;
  int column = blockIdx.x * WIDE + threadIdx.x;
  if (row >= height || column >= width) return;
  int r = threadIdx.y + 1;
  int c = threadIdx.x + 1;
  float around = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
  y[(size_t)row * width + column] = fmaf(-4.0f, tile[r][c], around);
}
