// expect: wrong_answer
// form: host
// Every block begins from zero.
__global__ void scan_block(const int* x, int* y, int n) {
  __shared__ int values[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  values[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < 256; distance *= 2) {
    int other = threadIdx.x >= distance ? values[threadIdx.x - distance] : 0;
    __syncthreads();
    values[threadIdx.x] += other;
    __syncthreads();
  }
  if (i < n) y[i] = values[threadIdx.x];
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  scan_block<<<(n + 255) / 256, 256>>>(x, y, n);
}
