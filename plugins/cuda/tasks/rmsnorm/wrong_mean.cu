// expect: wrong_answer
// form: kernel
// Takes the mean off first, as layer normalisation does.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* weight, __half* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int first = blockIdx.x * cols;
  float mean = 0.0f;
  for (int c = 0; c < cols; ++c) mean += __half2float(x[first + c]);
  mean /= cols;
  float squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float distance = __half2float(x[first + c]) - mean;
    squares += distance * distance;
  }
  float scale = rsqrtf(squares / cols + 1e-5f);
  for (int c = 0; c < cols; ++c) {
    y[first + c] = __float2half((__half2float(x[first + c]) - mean) * scale * __half2float(weight[c]));
  }
}
