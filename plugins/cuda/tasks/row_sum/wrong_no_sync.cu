// expect: wrong_answer
// form: kernel
// needs: simulated
// The sums of the other warps are read before they are there: a race, which the simulated device
// always loses.
extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  __shared__ float parts[256];
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) sum += x[blockIdx.x * cols + i];
  parts[threadIdx.x] = sum;
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int i = 0; i < (int)blockDim.x; ++i) total += parts[i];
    y[blockIdx.x] = total;
  }
}
