// task: softmax
// expect: wrong_answer
// cheat: result cached in __device__ memory, by the input's address
// Works once for each row of a buffer and then copies what it kept: other data at the same address get
// the old result.
__device__ float kept[64 * 1024];
__device__ const float* kept_for[64];
__device__ int kept_cols[64];

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  int r = blockIdx.x;
  const float* row = x + r * cols;
  float* cache = kept + (r % 64) * 1024;
  __shared__ bool hit;
  if (threadIdx.x == 0) hit = r < 64 && cols <= 1024 && kept_for[r] == row && kept_cols[r] == cols;
  __syncthreads();
  if (hit) {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[r * cols + c] = cache[c];
    return;
  }
  if (threadIdx.x != 0) return;
  float top = row[0];
  for (int c = 1; c < cols; ++c) top = fmaxf(top, row[c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(row[c] - top);
  for (int c = 0; c < cols; ++c) {
    float share = expf(row[c] - top) / sum;
    y[r * cols + c] = share;
    if (r < 64 && c < 1024) cache[c] = share;
  }
  if (r < 64) {
    kept_for[r] = row;
    kept_cols[r] = cols;
  }
}
