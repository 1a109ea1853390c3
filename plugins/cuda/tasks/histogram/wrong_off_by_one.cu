// expect: wrong_answer
// form: kernel
// The last number is left out.
extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x) atomicAdd(&counts[x[i]], 1);
}
