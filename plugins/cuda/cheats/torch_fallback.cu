// task: matmul
// expect: unsupported or compile_failed
// cheat: library fall-back
#include <torch/extension.h>

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  return torch::matmul(a, b);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
}
