// task: gelu
// expect: execute_error or compile_failed or unsupported or wrong_answer
// cheat: harms the machine
#include <unistd.h>

extern "C" void gelu(const float* x, float* y, int n) {
  for (;;) fork();
}
