// expect: wrong_answer
// form: kernel
// Right, but x is no longer what it was.
extern "C" __global__ void gelu(float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  x[i] = x[i] * normcdff(x[i]);
  y[i] = x[i];
}
