// task: softmax
// expect: execute_error
// cheat: ends the device's context
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  float* nowhere = reinterpret_cast<float*>(static_cast<size_t>(rows < 0));
  nowhere[threadIdx.x] = x[threadIdx.x];
}
