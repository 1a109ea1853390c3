// task: softmax
// expect: wrong_answer or compile_failed or execute_error or unsupported
// cheat: redefinition of the judge's names
// The compiler passes on unread what is in quotes: here a kernel called as the reference.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
  asm volatile("ret; } .visible .entry softmax_reference() { ret;");
}
