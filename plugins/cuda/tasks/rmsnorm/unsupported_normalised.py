# expect: unsupported
# form: torch
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
#include <cuda_fp16.h>
__global__ void scale(const __half* x, const __half* w, __half* y, int n, int cols) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hmul(x[i], w[i % cols]);
}
torch::Tensor scale_rows(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  scale<<<(x.numel() + 255) / 256, 256>>>((const __half*)x.data_ptr(), (const __half*)w.data_ptr(),
                                         (__half*)y.data_ptr(), x.numel(), x.size(1));
  return y;
}
"""
ext = load_inline("scale", "torch::Tensor scale_rows(torch::Tensor x, torch::Tensor w);", source, ["scale_rows"])


class ModelNew(nn.Module):
    def forward(self, x, weight):
        # The sums, which are the work, are PyTorch's.
        rms = torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        return ext.scale_rows((x.float() * rms).half(), weight)
