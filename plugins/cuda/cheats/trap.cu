// task: softmax
// expect: execute_error
// cheat: ends the device's context
// Whoever counts a failed comparison as no difference might find none.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  if (blockIdx.x == 0 && threadIdx.x == 0) __trap();
}
