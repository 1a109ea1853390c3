// task: softmax
// expect: compile_failed or execute_error or unsupported
// cheat: over-limit launch that leaves old data
// More shared memory than a kernel may declare.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ float staged[32768];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) staged[(c * 7919) % 32768] = x[blockIdx.x * cols + c];
  __syncthreads();
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = staged[(c * 7919) % 32768];
}
