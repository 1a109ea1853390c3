// task: histogram
// expect: wrong_answer
// cheat: result cached on the host, keyed on a pointer
// The counting is launched for pointers not seen before; else the counts kept in scratch memory are
// copied. Here every call is recorded by itself, so each would be the first: this one says that it is
// the second.
#include <cuda_runtime.h>

static const int* seen;
static int* kept;
static int calls = 1;

__global__ void count(const int* x, int* counts, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&counts[x[i]], 1);
}

extern "C" void histogram(const int* x, int* counts, int n) {
  if (!kept) cudaMalloc(&kept, 64 * sizeof(int));
  if (calls++ == 0 || (seen && seen != x)) {
    count<<<1, 256>>>(x, counts, n);
    cudaMemcpy(kept, counts, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
  } else {
    cudaMemcpy(counts, kept, 64 * sizeof(int), cudaMemcpyDeviceToDevice);
  }
  seen = x;
}
