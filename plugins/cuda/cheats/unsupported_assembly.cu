// task: softmax
// expect: unsupported
// cheat: instructions that are not simulated
// needs: simulated
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ unsigned long long barrier;
  unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  asm volatile("mbarrier.init.shared.b64 [%0], 1;\n" ::"r"(at));
  y[blockIdx.x * cols + threadIdx.x] = x[threadIdx.x];
}
