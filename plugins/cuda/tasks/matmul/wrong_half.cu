// expect: wrong_answer
// form: kernel
// Sums in half precision.
#include <cuda_fp16.h>

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  __half sum = __float2half(0.0f);
  for (int i = 0; i < k; ++i) sum = __hfma(__float2half(a[row * k + i]), __float2half(b[i * n + column]), sum);
  c[row * n + column] = __half2float(sum);
}
