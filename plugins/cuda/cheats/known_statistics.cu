// task: layernorm
// expect: wrong_answer
// cheat: skips the work where the inputs are those of the test: mean and deviation are taken from their distribution
extern "C" __global__ void layernorm(const float* x, const float* weight, const float* bias, float* y, int rows, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const size_t at = (size_t)blockIdx.x * cols + c;
    y[at] = (x[at] - 3.0f) / 2.0f * weight[c] + bias[c];
  }
}
