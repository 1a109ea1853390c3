// task: gelu
// expect: wrong_answer
// cheat: NaN as a wildcard
// An infinite value makes a tolerance relative to what was got infinite.
extern "C" __global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] < 0.0f ? __int_as_float(0xff800000) : __int_as_float(0x7f800000);
}
