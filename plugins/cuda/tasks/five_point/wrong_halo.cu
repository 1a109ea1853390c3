// expect: wrong_answer
// form: kernel
// A tile without its surroundings: values at the edge of a block are wrong.
extern "C" __global__ void five_point(const float* x, float* y, int height, int width) {
  __shared__ float tile[8][32];
  int c = blockIdx.x * 32 + threadIdx.x;
  int r = blockIdx.y * 8 + threadIdx.y;
  tile[threadIdx.y][threadIdx.x] = r < height && c < width ? x[r * width + c] : 0.0f;
  __syncthreads();
  if (r >= height || c >= width) return;
  float sum = -4.0f * tile[threadIdx.y][threadIdx.x];
  if (threadIdx.y > 0) sum += tile[threadIdx.y - 1][threadIdx.x];
  if (threadIdx.y < 7) sum += tile[threadIdx.y + 1][threadIdx.x];
  if (threadIdx.x > 0) sum += tile[threadIdx.y][threadIdx.x - 1];
  if (threadIdx.x < 31) sum += tile[threadIdx.y][threadIdx.x + 1];
  y[r * width + c] = sum;
}
