// task: softmax
// expect: generation_failed or compile_failed or execute_error or wrong_answer
// cheat: redefinition of the judge's names
// The reference's name in place of one's own, in the hope that both are compiled together.
#define softmax softmax_reference
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols);
