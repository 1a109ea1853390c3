#include <cuda_fp16.h>

extern "C" __global__ void rmsnorm_reference(const __half* x, const __half* weight, __half* y, int rows, int cols) {
  __shared__ float parts[256];
  const __half* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) {
    float value = __half2float(row[c]);
    sum += value * value;
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  float scale = 1.0f / sqrtf(parts[0] / cols + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += 256) {
    y[(size_t)blockIdx.x * cols + c] = __float2half(__half2float(row[c]) * scale * __half2float(weight[c]));
  }
}
