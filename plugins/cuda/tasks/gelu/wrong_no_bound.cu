// expect: wrong_answer
// form: kernel
// Writes behind the end of y.
extern "C" __global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
}
