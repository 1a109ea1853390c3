// expect: success
// form: kernel
extern "C" __global__ void histogram(const int* __restrict__ x, int* __restrict__ counts, int n) {
  __shared__ int own[64];
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1);
  __syncthreads();
  if (threadIdx.x < 64 && own[threadIdx.x] > 0) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
