// task: softmax
// expect: execute_error
// cheat: ends the device's context
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  *reinterpret_cast<float*>(reinterpret_cast<char*>(y) + 1 + threadIdx.x) = 0.0f;
}
