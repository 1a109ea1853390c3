// task: gelu
// expect: execute_error or compile_failed
// cheat: harms the machine
#include <stdlib.h>
#include <string.h>

extern "C" void gelu(const float* x, float* y, int n) {
  for (;;) memset(malloc(1 << 24), 1, 1 << 24);
}
