// task: gelu
// expect: wrong_answer
// cheat: empty kernel
extern "C" void gelu(const float* x, float* y, int n) {}
