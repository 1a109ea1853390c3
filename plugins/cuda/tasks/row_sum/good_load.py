# expect: success
# form: torch
import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

CUDA = """
#include <torch/extension.h>

__global__ void row_sum_kernel(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 32) sum += x[(size_t)blockIdx.x * cols + i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

torch::Tensor row_sum(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  row_sum_kernel<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("row_sum", &row_sum, "sums of rows");
}
"""

folder = tempfile.mkdtemp()
path = os.path.join(folder, "row_sum.cu")
with open(path, "w") as file:
    file.write(CUDA)

row_sum = load(name="row_sum", sources=[path], verbose=True)


class ModelNew(nn.Module):
    def forward(self, x):
        return row_sum.row_sum(x)
