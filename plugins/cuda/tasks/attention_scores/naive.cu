// expect: success
// form: kernel
extern "C" __global__ void attention_scores(const float* q, const float* k, float* p, int heads, int length, int dim) {
  if (threadIdx.x != 0) return;
  int i = blockIdx.x;
  int h = blockIdx.y;
  float* out = p + (h * length + i) * length;
  float top = -1e30f;
  for (int j = 0; j <= i; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += q[(h * length + i) * dim + d] * k[(h * length + j) * dim + d];
    out[j] = dot / sqrtf((float)dim);
    top = fmaxf(top, out[j]);
  }
  float sum = 0.0f;
  for (int j = 0; j <= i; ++j) sum += expf(out[j] - top);
  for (int j = 0; j <= i; ++j) out[j] = expf(out[j] - top) / sum;
  for (int j = i + 1; j < length; ++j) out[j] = 0.0f;
}
