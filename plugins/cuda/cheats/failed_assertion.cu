// task: softmax
// expect: execute_error or unsupported
// cheat: ends the device's context
#include <assert.h>

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  assert(rows < 0);
  y[blockIdx.x * cols] = 1.0f;
}
