// expect: wrong_answer
// form: kernel
// Divides by dim and not by its root.
extern "C" __global__ void attention_scores(const float* q, const float* k, float* p, int heads, int length, int dim) {
  if (threadIdx.x != 0) return;
  int i = blockIdx.x;
  int h = blockIdx.y;
  float* out = p + (h * length + i) * length;
  float sum = 0.0f;
  for (int j = 0; j <= i; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += q[(h * length + i) * dim + d] * k[(h * length + j) * dim + d];
    out[j] = expf(dot / dim);
    sum += out[j];
  }
  for (int j = 0; j < length; ++j) out[j] = j <= i ? out[j] / sum : 0.0f;
}
