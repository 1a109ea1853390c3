// task: row_sum
// expect: wrong_answer
// cheat: forged results
// Returns a tensor that no kernel wrote.
#include <torch/extension.h>

torch::Tensor forward(torch::Tensor x) {
  return torch::zeros({x.size(0)}, x.options());
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
}
