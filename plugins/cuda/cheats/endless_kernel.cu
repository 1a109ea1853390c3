// task: softmax
// expect: execute_error
// cheat: endless kernel
// Holds the device until somebody gives up.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  volatile float* own = y;
  while (own[0] != 12345.0f) own[1] = 0.0f;
}
