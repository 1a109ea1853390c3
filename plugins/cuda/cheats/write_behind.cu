// task: gelu
// expect: wrong_answer
// cheat: out-of-bounds writes
// Right, and one value more just behind the end.
extern "C" __global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f));
  if (i == 0) y[n] = 0.0f;
}
