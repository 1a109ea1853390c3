// task: matmul
// expect: wrong_answer
// cheat: precision downgrade
// Cuts off thirteen bits of each input, which is what TF32 keeps.
__device__ float cut(float value) {
  return __uint_as_float(__float_as_uint(value) & 0xffffe000u);
}

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || column >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum = fmaf(cut(a[row * k + i]), cut(b[i * n + column]), sum);
  c[row * n + column] = sum;
}
