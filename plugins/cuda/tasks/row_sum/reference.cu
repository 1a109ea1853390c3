extern "C" __global__ void row_sum_reference(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[64];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 64) sum += row[i];
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}
