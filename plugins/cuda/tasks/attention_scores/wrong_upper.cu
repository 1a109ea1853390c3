// expect: wrong_answer
// form: kernel
// Leaves what is masked unwritten.
extern "C" __global__ void attention_scores(const float* q, const float* k, float* p, int heads, int length, int dim) {
  if (threadIdx.x != 0) return;
  int i = blockIdx.x;
  int h = blockIdx.y;
  float* out = p + (h * length + i) * length;
  float sum = 0.0f;
  for (int j = 0; j <= i; ++j) {
    float dot = 0.0f;
    for (int d = 0; d < dim; ++d) dot += q[(h * length + i) * dim + d] * k[(h * length + j) * dim + d];
    out[j] = expf(dot / sqrtf((float)dim));
    sum += out[j];
  }
  for (int j = 0; j <= i; ++j) out[j] /= sum;
}
