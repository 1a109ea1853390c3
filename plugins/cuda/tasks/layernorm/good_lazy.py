# expect: success
# form: torch
import os

import torch
from torch import nn
from torch.utils import cpp_extension

os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0"

_module = None
_options = {"BLOCK": 128, "EPS": 1e-5}

_TEMPLATE = """
#include <torch/extension.h>

__global__ void layernorm(const float* x, const float* w, const float* b, float* y, int cols) {
  __shared__ float sums[$BLOCK], squares[$BLOCK];
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < cols; i += $BLOCK) sum += row[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int step = $BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  const float mean = sums[0] / cols;
  for (int i = threadIdx.x; i < cols; i += $BLOCK) square += (row[i] - mean) * (row[i] - mean);
  squares[threadIdx.x] = square;
  __syncthreads();
  for (int step = $BLOCK / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) squares[threadIdx.x] += squares[threadIdx.x + step];
    __syncthreads();
  }
  const float scale = rsqrtf(squares[0] / cols + $EPS);
  for (int i = threadIdx.x; i < cols; i += $BLOCK)
    y[(size_t)blockIdx.x * cols + i] = (row[i] - mean) * scale * w[i] + b[i];
}

torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  auto y = torch::empty_like(x);
  layernorm<<<x.numel() / x.size(-1), $BLOCK>>>(x.data_ptr<float>(), w.data_ptr<float>(), b.data_ptr<float>(),
                                                y.data_ptr<float>(), x.size(-1));
  return y;
}
"""


def _source(**options):
    text = _TEMPLATE
    for key, value in options.items():
        text = text.replace("$" + key, str(value))
    return text


def get_module():
    """Compiles when it is first called."""
    global _module
    if _module is None:
        _module = cpp_extension.load_inline(
            name="layernorm_" + "_".join(key.lower() for key in _options),
            cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor b);",
            cuda_sources=[_source(**_options)],
            functions=["forward"],
        )
    return _module


class ModelNew(nn.Module):
    def forward(self, x, weight, bias, eps=None):
        eps = _options["EPS"] if eps is None else eps
        assert eps == 1e-5

        def launch(*tensors):
            contiguous = [tensor.contiguous() for tensor in tensors]
            return get_module().forward(*contiguous)

        shape = x.shape
        flat = x.reshape(-1, shape[-1])
        return launch(flat, weight, bias).view(*shape)
