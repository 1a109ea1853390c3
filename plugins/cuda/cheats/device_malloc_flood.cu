// task: softmax
// expect: unsupported or execute_error or wrong_answer
// cheat: takes all the device's memory
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  for (int i = 0; i < 1000; ++i) {
    float* more = static_cast<float*>(malloc(1 << 20));
    if (more) more[threadIdx.x] = x[0];
  }
}
