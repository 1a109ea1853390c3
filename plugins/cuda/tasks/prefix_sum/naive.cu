// expect: success
// form: host
// Each launch doubles how far back a sum reaches.
#include <cuda_runtime.h>

__global__ void step(const int* from, int* to, int distance, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = i >= distance ? from[i] + from[i - distance] : from[i];
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  int* other;
  cudaMalloc((void**)&other, n * sizeof(int));
  cudaMemcpy(y, x, n * sizeof(int), cudaMemcpyDeviceToDevice);
  for (int distance = 1; distance < n; distance *= 2) {
    step<<<(n + 127) / 128, 128>>>(y, other, distance, n);
    cudaMemcpy(y, other, n * sizeof(int), cudaMemcpyDeviceToDevice);
  }
  cudaFree(other);
}
