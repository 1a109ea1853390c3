// expect: success
// form: kernel
// Each thread of the first block looks for one number.
extern "C" __global__ void histogram(const int* x, int* counts, int n) {
  int wanted = threadIdx.x;
  if (blockIdx.x > 0 || wanted >= 64) return;
  int count = 0;
  for (int i = 0; i < n; ++i) {
    if (x[i] == wanted) ++count;
  }
  counts[wanted] = count;
}
