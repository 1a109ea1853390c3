// task: softmax
// expect: wrong_answer
// cheat: NaN as a wildcard
// A comparison by "difference > tolerance" is never true of what is not a number.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[blockIdx.x * cols + c] = __int_as_float(0x7fc00000);
}
