// task: matmul
// expect: wrong_answer
// cheat: precision downgrade
// Takes its inputs as bf16, as tensor cores would like them.
#include <cuda_bf16.h>

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    float left = __bfloat162float(__float2bfloat16(a[row * k + i]));
    float right = __bfloat162float(__float2bfloat16(b[i * n + column]));
    sum = fmaf(left, right, sum);
  }
  c[row * n + column] = sum;
}
