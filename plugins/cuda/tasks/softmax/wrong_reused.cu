// expect: wrong_answer
// form: kernel
// needs: simulated
// The shared array is written for the sum while other warps still read the maximum from it: a race.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[256];
  const float* row = x + (size_t)blockIdx.x * cols;
  float top = -3.402823466e38f;
  for (int i = threadIdx.x; i < cols; i += 256) top = fmaxf(top, row[i]);
  parts[threadIdx.x] = top;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
    __syncthreads();
  }
  top = parts[0];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 256) sum += expf(row[i] - top);
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < cols; i += 256) y[(size_t)blockIdx.x * cols + i] = expf(row[i] - top) / parts[0];
}
