// task: gelu
// expect: execute_error or compile_failed
// cheat: harms the machine
extern "C" void gelu(const float* x, float* y, int n) {
  volatile int forever = 1;
  while (forever) {
  }
}
