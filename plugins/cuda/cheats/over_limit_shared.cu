// task: gelu
// expect: execute_error
// cheat: over-limit launch that leaves old data
// Asks for a megabyte of shared memory.
__global__ void gelu_kernel(const float* x, float* y, int n) {
  extern __shared__ float staged[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[threadIdx.x] = i < n ? x[i] : 0.0f;
  if (i < n) y[i] = 0.5f * staged[threadIdx.x] * (1.0f + erff(staged[threadIdx.x] * 0.70710678f));
}

extern "C" void gelu(const float* x, float* y, int n) {
  gelu_kernel<<<(n + 255) / 256, 256, 1 << 20>>>(x, y, n);
}
