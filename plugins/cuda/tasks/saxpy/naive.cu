// expect: success
// form: kernel
// One thread of a block does the work of all.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y) {
  if (threadIdx.x != 0) return;
  int first = blockIdx.x * blockDim.x;
  for (int i = first; i < first + (int)blockDim.x && i < n; ++i) {
    float scaled = alpha * x[i];
    y[i] = scaled + y[i];
  }
}
