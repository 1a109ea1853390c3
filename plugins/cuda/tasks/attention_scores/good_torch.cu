// expect: success
// form: torch
// Three launches over one tensor: scores, then the sums of each row, then the quotients.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void powers(const float* q, const float* k, float* p, int length, int dim) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y;
  int h = blockIdx.z;
  if (j >= length) return;
  float power = 0.0f;
  if (j <= i) {
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) {
      dot += q[((size_t)h * length + i) * dim + d] * k[((size_t)h * length + j) * dim + d];
    }
    power = expf(dot * rsqrtf((float)dim));
  }
  p[((size_t)h * length + i) * length + j] = power;
}

__global__ void totals(const float* p, float* sums, int rows, int length) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int j = 0; j < length; ++j) sum += p[(size_t)row * length + j];
  sums[row] = sum;
}

__global__ void quotients(float* p, const float* sums, int rows, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * length) p[i] /= sums[i / length];
}

torch::Tensor attention_scores_forward(torch::Tensor q, torch::Tensor k) {
  const int heads = q.size(0);
  const int length = q.size(1);
  const int dim = q.size(2);
  auto p = torch::empty({heads, length, length}, q.options());
  auto sums = torch::empty({heads, length}, q.options());
  const int rows = heads * length;
  powers<<<dim3((length + 63) / 64, length, heads), 64>>>(q.data_ptr<float>(), k.data_ptr<float>(), p.data_ptr<float>(),
                                                          length, dim);
  totals<<<(rows + 63) / 64, 64>>>(p.data_ptr<float>(), sums.data_ptr<float>(), rows, length);
  quotients<<<(rows * length + 255) / 256, 256>>>(p.data_ptr<float>(), sums.data_ptr<float>(), rows, length);
  return p;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &attention_scores_forward);
}
