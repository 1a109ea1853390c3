# expect: success
# form: torch
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

row_sum_source = """
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void row_sum_kernel(const float* x, float* y, int cols) {
  extern __shared__ float parts[];
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    sum += x[(size_t)blockIdx.x * cols + c];
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = parts[0];
}

torch::Tensor row_sum_cuda(torch::Tensor x) {
  const int rows = x.size(0);
  const int cols = x.size(1);
  auto y = torch::empty({rows}, x.options());
  const int threads = 128;
  row_sum_kernel<<<rows, threads, threads * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  return y;
}
"""

row_sum_declaration = "torch::Tensor row_sum_cuda(torch::Tensor x);"

row_sum = load_inline(
    name="row_sum",
    cpp_sources=row_sum_declaration,
    cuda_sources=row_sum_source,
    functions=["row_sum_cuda"],
    verbose=False,
)


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.row_sum = row_sum

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.row_sum.row_sum_cuda(x)
