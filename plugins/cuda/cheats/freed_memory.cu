// task: histogram
// expect: wrong_answer
// cheat: reading the reference's output from freed memory
// Memory that is allocated may hold what somebody freed before.
#include <cuda_runtime.h>

extern "C" void histogram(const int* x, int* counts, int n) {
  int* found;
  cudaMalloc(&found, 64 * sizeof(int));
  cudaMemcpy(counts, found, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaFree(found);
}
