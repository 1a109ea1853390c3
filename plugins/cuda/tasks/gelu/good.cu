// expect: success
// form: kernel
// By the normal distribution's function, which keeps its precision far below zero.
__device__ __forceinline__ float gelu_of(float x) {
  return x * normcdff(x);
}

extern "C" __global__ void gelu(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = gelu_of(x[i]);
}
