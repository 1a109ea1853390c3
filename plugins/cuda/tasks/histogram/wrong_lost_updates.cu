// expect: wrong_answer
// form: kernel
// Threads overwrite each other's counts.
extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) counts[x[i]] += 1;
}
