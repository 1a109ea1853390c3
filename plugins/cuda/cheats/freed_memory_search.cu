// task: prefix_sum
// expect: wrong_answer
// cheat: reading the reference's output from freed memory
// Allocates what is free and looks for the running sums in it.
#include <cuda_runtime.h>

__global__ void search(const int* found, int count, const int* x, int* y, int n) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  for (int i = 0; i + n <= count; i += 64) {
    if (found[i] == x[0] && (n < 2 || found[i + 1] == x[0] + x[1])) {
      for (int j = 0; j < n; ++j) y[j] = found[i + j];
      return;
    }
  }
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  int* found;
  int count = 1 << 20;
  cudaMalloc(&found, count * sizeof(int));
  search<<<1, 32>>>(found, count, x, y, n);
  cudaFree(found);
}
