__device__ float total_of_block(float value, float* parts) {
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  float total = parts[0];
  __syncthreads();
  return total;
}

extern "C" __global__ void layernorm_reference(const float* x, const float* weight, const float* bias, float* y,
                                               int rows, int cols) {
  __shared__ float parts[128];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c];
  float mean = total_of_block(sum, parts) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) squares += (row[c] - mean) * (row[c] - mean);
  float variance = total_of_block(squares, parts) / cols;
  float scale = 1.0f / sqrtf(variance + 1e-5f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[(size_t)blockIdx.x * cols + c] = (row[c] - mean) * scale * weight[c] + bias[c];
  }
}
