// expect: success
// form: host
// Sums within blocks, then the sums of the blocks' totals by the same function, then both together.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__device__ int warp_scan(int value) {
  for (int offset = 1; offset < 32; offset *= 2) {
    int other = __shfl_up_sync(0xffffffffu, value, offset);
    if ((threadIdx.x & 31) >= offset) value += other;
  }
  return value;
}

__global__ void scan_blocks(const int* x, int* y, int* totals, int n) {
  __shared__ int warps[kThreads / 32];
  int i = blockIdx.x * kThreads + threadIdx.x;
  int value = warp_scan(i < n ? x[i] : 0);
  if ((threadIdx.x & 31) == 31) warps[threadIdx.x >> 5] = value;
  __syncthreads();
  for (int warp = 0; warp < (int)(threadIdx.x >> 5); ++warp) value += warps[warp];
  if (i < n) y[i] = value;
  if (threadIdx.x == kThreads - 1) totals[blockIdx.x] = value;
}

__global__ void add_totals(int* y, const int* totals, int n) {
  int i = (blockIdx.x + 1) * kThreads + threadIdx.x;
  if (i < n) y[i] += totals[blockIdx.x];
}

static void scan(const int* x, int* y, int n) {
  int blocks = (n + kThreads - 1) / kThreads;
  int* totals;
  cudaMalloc(&totals, blocks * sizeof(int));
  scan_blocks<<<blocks, kThreads>>>(x, y, totals, n);
  if (blocks > 1) {
    int* sums;
    cudaMalloc(&sums, blocks * sizeof(int));
    scan(totals, sums, blocks);
    add_totals<<<blocks - 1, kThreads>>>(y, sums, n);
    cudaFree(sums);
  }
  cudaFree(totals);
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  scan(x, y, n);
}
