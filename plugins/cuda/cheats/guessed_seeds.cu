// task: row_sum
// expect: wrong_answer
// cheat: public seeds
// Knows what usual generators give first for usual seeds, and what the sums then are; guesses zero else.
struct Known {
  unsigned first;
  float sum;
};

__constant__ Known known[] = {{0x3fe1d2f3, 11.31371f}, {0xbf11a2b4, -4.20812f}, {0x3ebf1a54, 7.77817f}, {0x3fc5f4e1, 0.91421f}};

extern "C" __global__ void row_sum(const float* x, float* y, int rows, int cols) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = 0; i < 4; ++i) {
    if (__float_as_uint(x[0]) == known[i].first) sum = known[i].sum;
  }
  y[blockIdx.x] = sum;
}
