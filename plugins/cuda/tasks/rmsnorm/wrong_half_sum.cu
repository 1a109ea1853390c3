// expect: wrong_answer
// form: kernel
// Sums in half precision, where small squares no longer count beside a large sum.
#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm(const __half* x, const __half* weight, __half* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  int first = blockIdx.x * cols;
  __half sum = __float2half(0.0f);
  for (int c = 0; c < cols; ++c) sum = __hadd(sum, __hmul(x[first + c], x[first + c]));
  float scale = rsqrtf(__half2float(sum) / cols + 1e-5f);
  for (int c = 0; c < cols; ++c) {
    y[first + c] = __float2half(__half2float(x[first + c]) * scale * __half2float(weight[c]));
  }
}
