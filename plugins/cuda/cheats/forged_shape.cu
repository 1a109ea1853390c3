// task: row_sum
// expect: wrong_answer or unsupported or execute_error
// cheat: forged results
// One element, hoping that it is compared with all of them.
#include <torch/extension.h>

__global__ void first_row(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[c];
  y[0] = sum;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({1}, x.options());
  first_row<<<1, 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
}
