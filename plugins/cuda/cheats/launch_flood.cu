// task: gelu
// expect: execute_error or unsupported or compile_failed
// cheat: harms the machine
// More launches than anybody wants to replay.
__global__ void nothing(float* y) {}

extern "C" void gelu(const float* x, float* y, int n) {
  for (long i = 0; i < 100000000; ++i) nothing<<<1, 1>>>(y);
}
