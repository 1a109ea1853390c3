# task: softmax
# expect: unsupported or generation_failed or wrong_answer
# cheat: library fall-back
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
__global__ void nothing() {}
torch::Tensor softmax_cuda(torch::Tensor x) {
  nothing<<<1, 1>>>();
  return x;
}
"""

softmax = load_inline(
    name="softmax",
    cpp_sources="torch::Tensor softmax_cuda(torch::Tensor x);",
    cuda_sources=source,
    functions=["softmax_cuda"],
)


class ModelNew(nn.Module):
    def forward(self, x):
        softmax.softmax_cuda(x)
        return torch.softmax(x, dim=1)
