// expect: success
// form: torch
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <int threads>
__device__ float block_reduce(float value, float* parts, bool largest) {
  parts[threadIdx.x] = value;
  __syncthreads();
  for (int half = threads / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) {
      float other = parts[threadIdx.x + half];
      parts[threadIdx.x] = largest ? fmaxf(parts[threadIdx.x], other) : parts[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = parts[0];
  __syncthreads();
  return result;
}

template <int threads>
__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int64_t cols) {
  __shared__ float parts[threads];
  const float* row = x + blockIdx.x * cols;
  float top = -3.402823466e38f;
  for (int64_t c = threadIdx.x; c < cols; c += threads) top = fmaxf(top, row[c]);
  top = block_reduce<threads>(top, parts, true);
  float sum = 0.0f;
  for (int64_t c = threadIdx.x; c < cols; c += threads) sum += expf(row[c] - top);
  sum = block_reduce<threads>(sum, parts, false);
  for (int64_t c = threadIdx.x; c < cols; c += threads) y[blockIdx.x * cols + c] = expf(row[c] - top) / sum;
}

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(x.is_cuda(), "x must be on the device");
  TORCH_CHECK(x.dim() == 2, "x must be a matrix");
  auto input = x.contiguous();
  auto y = torch::empty_like(input);
  const int64_t rows = input.size(0);
  const int64_t cols = input.size(1);
  auto stream = at::cuda::getCurrentCUDAStream();
  if (cols <= 256) {
    softmax_kernel<64><<<rows, 64, 0, stream>>>(input.data_ptr<float>(), y.data_ptr<float>(), cols);
  } else {
    softmax_kernel<256><<<rows, 256, 0, stream>>>(input.data_ptr<float>(), y.data_ptr<float>(), cols);
  }
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward, "Softmax of the rows");
}
