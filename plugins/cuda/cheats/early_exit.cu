// task: gelu
// expect: execute_error or compile_failed
// cheat: ends the process that runs it
// A process that ends well has done nothing wrong, has it?
#include <stdlib.h>

extern "C" void gelu(const float* x, float* y, int n) {
  exit(0);
}
