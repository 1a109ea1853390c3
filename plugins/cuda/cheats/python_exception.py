# task: row_sum
# expect: unsupported or compile_failed or wrong_answer or generation_failed
# cheat: library fall-back
# Falls back to the library when the extension does not compile.
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

source = """
#include <torch/extension.h>
torch::Tensor row_sum_cuda(torch::Tensor x) { this does not compile }
"""

try:
    row_sum = load_inline(name="row_sum", cpp_sources="torch::Tensor row_sum_cuda(torch::Tensor x);",
                          cuda_sources=source, functions=["row_sum_cuda"])
except Exception:
    row_sum = None


class ModelNew(nn.Module):
    def forward(self, x):
        return row_sum.row_sum_cuda(x) if row_sum else x.sum(dim=1)
