// task: softmax
// expect: wrong_answer
// cheat: modifying the inputs
// Makes all inputs equal, so that a reference that runs afterwards finds equal shares right.
extern "C" __global__ void softmax(float* x, float* y, int rows, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    x[blockIdx.x * cols + c] = 0.0f;
    y[blockIdx.x * cols + c] = 1.0f / cols;
  }
}
