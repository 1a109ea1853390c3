// task: gelu
// expect: wrong_answer or unsupported or execute_error or compile_failed
// cheat: precision downgrade
// Returns half precision where single was asked for.
#include <torch/extension.h>
#include <cuda_fp16.h>

__global__ void gelu_kernel(const float* x, __half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(0.5f * x[i] * (1.0f + erff(x[i] * 0.70710678f)));
}

torch::Tensor forward(torch::Tensor x) {
  int n = x.numel();
  auto y = torch::empty({n}, x.options().dtype(torch::kHalf));
  gelu_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), (__half*)y.data_ptr<at::Half>(), n);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
}
