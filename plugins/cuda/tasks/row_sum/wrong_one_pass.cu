// expect: wrong_answer
// form: kernel
// Rows that are longer than the block lose their ends.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[256];
  int i = threadIdx.x;
  parts[i] = i < cols ? x[blockIdx.x * cols + i] : 0.0f;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (i < half) parts[i] += parts[i + half];
    __syncthreads();
  }
  if (i == 0) y[blockIdx.x] = parts[0];
}
