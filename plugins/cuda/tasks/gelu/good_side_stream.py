# expect: success
# form: torch
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void gelu_kernel(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678118f));
}

void gelu(torch::Tensor x, torch::Tensor y) {
  const int n = x.numel();
  gelu_kernel<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
}
"""
extension = load_inline("gelu", "void gelu(torch::Tensor x, torch::Tensor y);", source, ["gelu"])


class ModelNew(nn.Module):
    def __init__(self):
        super().__init__()
        self.stream = torch.cuda.Stream()

    def forward(self, x):
        # Nobody waits for the stream; here its work is done and timed as any other.
        y = torch.empty_like(x)
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            extension.gelu(x, y)
            y.record_stream(self.stream)
        return y
