// expect: wrong_answer
// form: kernel
// Four numbers a thread, whether they are there or not.
extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  for (int i = first; i < first + 4; ++i) atomicAdd(&counts[x[i] & 63], 1);
}
