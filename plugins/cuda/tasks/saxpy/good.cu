// expect: success
// form: kernel
extern "C" __global__ void saxpy(int n, float alpha, const float* __restrict__ x, float* __restrict__ y) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = fmaf(alpha, x[i], y[i]);
  }
}
