// task: gelu
// expect: unsupported or compile_failed
// cheat: L2 persistence
// Keeps its buffers in the L2 cache from trial to trial.
#include <cuda_runtime.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = (void*)x;
  value.accessPolicyWindow.num_bytes = n * sizeof(float);
  value.accessPolicyWindow.hitRatio = 1.0f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
  gelu_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}
