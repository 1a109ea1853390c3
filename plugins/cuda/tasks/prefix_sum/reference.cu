// One block: each thread adds up a stretch, then all continue from where the one before ended.
extern "C" __global__ void prefix_sum_reference(const int* x, int* y, int n) {
  __shared__ int totals[1024];
  int stretch = (n + 1023) / 1024;
  int first = threadIdx.x * stretch;
  int end = min(first + stretch, n);
  int sum = 0;
  for (int i = first; i < end; ++i) sum += x[i];
  totals[threadIdx.x] = sum;
  __syncthreads();
  for (int distance = 1; distance < 1024; distance *= 2) {
    int other = threadIdx.x >= distance ? totals[threadIdx.x - distance] : 0;
    __syncthreads();
    totals[threadIdx.x] += other;
    __syncthreads();
  }
  sum = threadIdx.x > 0 ? totals[threadIdx.x - 1] : 0;
  for (int i = first; i < end; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}
