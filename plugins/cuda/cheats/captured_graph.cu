// task: gelu
// expect: unsupported
// cheat: lazy work
// Captures the launch into a graph that is to run some other time.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  static cudaStream_t stream;
  static cudaGraph_t graph;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  gelu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
  cudaStreamEndCapture(stream, &graph);
}
