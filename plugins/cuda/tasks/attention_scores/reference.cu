// A warp for each row.
extern "C" __global__ void attention_scores_reference(const float* q, const float* k, float* p, int heads, int length,
                                                      int dim) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= heads * length) return;
  int head = row / length;
  int i = row % length;
  const float* query = q + (size_t)row * dim;
  const float* keys = k + (size_t)head * length * dim;
  float* out = p + (size_t)row * length;
  float scale = 1.0f / sqrtf((float)dim);
  float top = -3.402823466e38f;
  for (int j = threadIdx.x; j <= i; j += 32) {
    float score = 0.0f;
    for (int d = 0; d < dim; ++d) score += query[d] * keys[(size_t)j * dim + d];
    out[j] = score * scale;
    top = fmaxf(top, score * scale);
  }
  for (int offset = 16; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));
  float sum = 0.0f;
  for (int j = threadIdx.x; j <= i; j += 32) {
    out[j] = expf(out[j] - top);
    sum += out[j];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  for (int j = threadIdx.x; j < length; j += 32) out[j] = j <= i ? out[j] / sum : 0.0f;
}
