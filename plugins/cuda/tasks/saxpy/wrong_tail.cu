// expect: wrong_answer
// form: kernel
// Four values a thread, and nobody does what is left over.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  float4 a = reinterpret_cast<const float4*>(x)[i];
  float4 b = reinterpret_cast<float4*>(y)[i];
  b.x += alpha * a.x;
  b.y += alpha * a.y;
  b.z += alpha * a.z;
  b.w += alpha * a.w;
  reinterpret_cast<float4*>(y)[i] = b;
}
