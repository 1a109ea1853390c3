// task: softmax
// expect: unsupported
// cheat: instructions that are not simulated
// needs: simulated
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  __shared__ float staged[4];
  unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(staged));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n" ::"r"(to), "l"(x));
  asm volatile("cp.async.wait_all;\n");
  y[blockIdx.x * cols + threadIdx.x] = staged[threadIdx.x % 4];
}
