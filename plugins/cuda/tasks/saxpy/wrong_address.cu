// expect: execute_error
// form: kernel
// Strides by bytes where the pointer counts values, far beyond the end.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i * 65536] = alpha * x[i * 65536] + y[i * 65536];
}
