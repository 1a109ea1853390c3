# expect: success
# form: torch
from typing import List, Optional

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp_source = """
#include <torch/extension.h>
#include <vector>

torch::Tensor layer_norm(torch::Tensor x, std::vector<int64_t> normalized_shape, c10::optional<torch::Tensor> weight,
                         const c10::optional<torch::Tensor>& bias, c10::optional<torch::Tensor> residual, double eps);
"""

cuda_source = """
__global__ void layer_norm_kernel(const float* x, const float* weight, const float* bias, const float* residual,
                                  float* y, int cols, float eps) {
  // One warp a row.
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < cols; i += 32) sum += row[i];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);
  const float mean = sum / cols;
  for (int i = threadIdx.x; i < cols; i += 32) square += (row[i] - mean) * (row[i] - mean);
  for (int step = 16; step > 0; step /= 2) square += __shfl_xor_sync(0xffffffff, square, step);
  const float scale = rsqrtf(square / cols + eps);
  for (int i = threadIdx.x; i < cols; i += 32) {
    float value = (row[i] - mean) * scale;
    if (weight) value *= weight[i];
    if (bias) value += bias[i];
    if (residual) value += residual[(size_t)blockIdx.x * cols + i];
    y[(size_t)blockIdx.x * cols + i] = value;
  }
}

torch::Tensor layer_norm(torch::Tensor x, std::vector<int64_t> normalized_shape, c10::optional<torch::Tensor> weight,
                         const c10::optional<torch::Tensor>& bias, c10::optional<torch::Tensor> residual, double eps) {
  TORCH_CHECK(normalized_shape.size() == 1 && normalized_shape[0] == x.size(-1), "one dimension is normalised");
  const float* w = weight.has_value() ? weight->data_ptr<float>() : nullptr;
  const float* b = bias.has_value() ? bias->data_ptr<float>() : nullptr;
  const float* r = residual.has_value() ? residual->data_ptr<float>() : nullptr;
  auto y = torch::empty_like(x);
  const int cols = x.size(-1);
  layer_norm_kernel<<<x.numel() / cols, 32>>>(x.data_ptr<float>(), w, b, r, y.data_ptr<float>(), cols, eps);
  return y;
}
"""

extension = load_inline("layer_norm", [cpp_source], [cuda_source], ["layer_norm"])


def layer_norm(x: torch.Tensor, shape: List[int], weight: Optional[torch.Tensor] = None,
               bias: Optional[torch.Tensor] = None, residual: Optional[torch.Tensor] = None, *, eps: float = 1e-5):
    return extension.layer_norm(x, shape, weight, bias, residual, eps)


class ModelNew(nn.Module):
    def forward(self, x, weight, bias):
        return layer_norm(x, [x.size(dim=-1)], weight, bias=bias)
