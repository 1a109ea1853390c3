// expect: wrong_answer
// form: host
// Leaves out the element itself.
__global__ void sums(const int* x, int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    y[i] = sum;
    sum += x[i];
  }
}

extern "C" void prefix_sum(const int* x, int* y, int n) {
  sums<<<1, 1>>>(x, y, n);
}
