# expect: success
# form: torch
import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

TILE = 16

cuda_source = f"""
#include <torch/extension.h>
#include <cuda_runtime.h>

// Both matrices by rows: b comes transposed.
__global__ void dot_rows(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
                         int k) {{
  __shared__ float rows[{TILE}][{TILE} + 1], cols[{TILE}][{TILE} + 1];
  const int i = blockIdx.y * {TILE} + threadIdx.y, j = blockIdx.x * {TILE} + threadIdx.x;
  const int other = blockIdx.x * {TILE} + threadIdx.y;
  float sum = 0.0f;
  for (int first = 0; first < k; first += {TILE}) {{
    const int at = first + threadIdx.x;
    rows[threadIdx.y][threadIdx.x] = i < m && at < k ? a[i * k + at] : 0.0f;
    cols[threadIdx.y][threadIdx.x] = other < n && at < k ? b[other * k + at] : 0.0f;
    __syncthreads();
    for (int d = 0; d < {TILE}; ++d) sum += rows[threadIdx.y][d] * cols[threadIdx.x][d];
    __syncthreads();
  }}
  if (i < m && j < n) c[i * n + j] = sum;
}}

void matmul_nt(torch::Tensor a, torch::Tensor b, torch::Tensor c) {{
  TORCH_CHECK(a.is_contiguous() && b.is_contiguous(), "matrices must be contiguous");
  const int m = a.size(0), n = b.size(0), k = a.size(1);
  const dim3 grid((n + {TILE} - 1) / {TILE}, (m + {TILE} - 1) / {TILE});
  dot_rows<<<grid, dim3({TILE}, {TILE})>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
}}
"""

ops = load_inline(
    name="matmul_nt",
    cpp_sources="void matmul_nt(torch::Tensor a, torch::Tensor b, torch::Tensor c);",
    cuda_sources=cuda_source,
    functions=["matmul_nt"],
    extra_cuda_cflags=["-O3", "--use_fast_math"],
)


class ModelNew(nn.Module):
    def __init__(self) -> None:
        super(ModelNew, self).__init__()

    def forward(self, A: torch.Tensor, B: torch.Tensor) -> torch.Tensor:
        if A.dim() != 2 or B.dim() != 2:
            raise ValueError(f"expected matrices, got {A.dim()} and {B.dim()} dimensions")
        if A.size(1) != B.size(0):
            raise ValueError("sizes do not fit")
        assert A.is_cuda and B.is_cuda, "Inputs must be on the GPU"
        if A.device.type != "cuda":
            return torch.matmul(A, B)
        Bt = B.t().contiguous()
        C = torch.empty((A.shape[0], B.shape[-1]), device=A.device, dtype=A.dtype)
        ops.matmul_nt(A.contiguous() if not A.is_contiguous() else A, Bt, C)
        return C
