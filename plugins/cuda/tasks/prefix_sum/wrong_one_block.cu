// expect: execute_error
// form: host
// As many threads in one block as there are values.
__global__ void scan_block(const int* x, int* y, int n) {
  extern __shared__ int values[];
  values[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int distance = 1; distance < n; distance *= 2) {
    int other = threadIdx.x >= distance ? values[threadIdx.x - distance] : 0;
    __syncthreads();
    values[threadIdx.x] += other;
    __syncthreads();
  }
  y[threadIdx.x] = values[threadIdx.x];
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  scan_block<<<1, n, n * sizeof(int)>>>(x, y, n);
}
