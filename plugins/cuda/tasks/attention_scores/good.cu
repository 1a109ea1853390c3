// expect: success
// form: kernel
// A block a row; the first 64 scores stay in registers, later ones are computed twice.
__device__ float block_reduce(float value, bool largest, float* parts) {
  for (int offset = 16; offset > 0; offset /= 2) {
    float other = __shfl_xor_sync(0xffffffffu, value, offset);
    value = largest ? fmaxf(value, other) : value + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  return largest ? fmaxf(parts[0], parts[1]) : parts[0] + parts[1];
}

__device__ float score(const float* query, const float* key, int dim) {
  float sum = 0.0f;
  for (int d = 0; d < dim; ++d) sum = fmaf(query[d], key[d], sum);
  return sum * rsqrtf((float)dim);
}

extern "C" __global__ void attention_scores(const float* __restrict__ q, const float* __restrict__ k,
                                            float* __restrict__ p, int heads, int length, int dim) {
  __shared__ float parts[2];
  const int i = blockIdx.x;
  const float* query = q + ((size_t)blockIdx.y * length + i) * dim;
  const float* keys = k + (size_t)blockIdx.y * length * dim;
  float* out = p + ((size_t)blockIdx.y * length + i) * length;
  float top = -3.402823466e38f;
  float first = 0.0f;
  for (int j = threadIdx.x; j <= i; j += 64) {
    float s = score(query, keys + (size_t)j * dim, dim);
    if (j == (int)threadIdx.x) first = s;
    top = fmaxf(top, s);
  }
  top = block_reduce(top, true, parts);
  float sum = 0.0f;
  for (int j = threadIdx.x; j <= i; j += 64) {
    float s = j == (int)threadIdx.x ? first : score(query, keys + (size_t)j * dim, dim);
    float power = expf(s - top);
    out[j] = power;
    sum += power;
  }
  sum = block_reduce(sum, false, parts);
  const float scale = 1.0f / sum;
  for (int j = threadIdx.x; j < length; j += 64) out[j] = j <= i ? out[j] * scale : 0.0f;
}
