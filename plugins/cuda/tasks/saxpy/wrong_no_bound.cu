// expect: wrong_answer
// form: kernel
// The last block writes behind the end of y.
extern "C" __global__ void saxpy(int n, float alpha, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = alpha * x[i] + y[i];
}
