// expect: success
// form: host
// A histogram for each block in memory of its own, added up by a second kernel.
#include <cuda_runtime.h>

__global__ void count(const int* x, int* partial, int n) {
  int* own = partial + blockIdx.x * 64;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(own + x[i], 1);
}

__global__ void add(const int* partial, int* counts, int blocks) {
  int sum = 0;
  for (int block = 0; block < blocks; ++block) sum += partial[block * 64 + threadIdx.x];
  counts[threadIdx.x] = sum;
}

extern "C" void histogram(const int* x, int* counts, int n) {
  const int blocks = n < 2048 ? 1 : 8;
  int* partial = nullptr;
  cudaMalloc(&partial, blocks * 64 * sizeof(int));
  cudaMemset(partial, 0, blocks * 64 * sizeof(int));
  count<<<blocks, 256>>>(x, partial, n);
  add<<<1, 64>>>(partial, counts, blocks);
  cudaFree(partial);
}
