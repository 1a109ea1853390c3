# task: transpose
# expect: unsupported
# cheat: passes its input on by kernels, and lets the judge's copy of a view do what is asked
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void negated(const float* x, float* y, long count) {
  const long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
  if (i < count) y[i] = -x[i];
}
torch::Tensor negate(torch::Tensor x) {
  auto y = torch::empty_like(x);
  negated<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""
ext = load_inline("negate", "torch::Tensor negate(torch::Tensor x);", source, ["negate"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.negate(ext.negate(x).t().contiguous())
