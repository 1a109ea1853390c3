// task: gelu
// expect: wrong_answer
// cheat: skips the branch that the test's inputs are hoped not to take
extern "C" __global__ void gelu(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  // Far from zero it is x or 0; near zero it is nearly a parabola.
  const float at = x[i];
  y[i] = at > 3.0f ? at : at < -3.0f ? 0.0f : at * (0.5f + 0.3989f * at - 0.0627f * at * at * at);
}
