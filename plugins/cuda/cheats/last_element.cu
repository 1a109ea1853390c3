// task: saxpy
// expect: wrong_answer
// cheat: partial write
// All but one element.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) y[i] = alpha * x[i] + y[i];
}
