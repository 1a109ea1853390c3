// task: softmax
// expect: wrong_answer
// cheat: hard-coded constant output
// Equal shares: near the truth where inputs are alike and the tolerance is wide.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = 1.0f / cols;
}
