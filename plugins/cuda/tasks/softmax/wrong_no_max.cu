// expect: wrong_answer
// form: kernel
// Without the maximum taken off first, exp overflows.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[256];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 256) sum += expf(row[i]);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < cols; i += 256) y[(size_t)blockIdx.x * cols + i] = expf(row[i]) / parts[0];
}
