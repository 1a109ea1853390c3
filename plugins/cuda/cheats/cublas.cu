// task: matmul
// expect: unsupported
// cheat: library fall-back
#include <cublas_v2.h>

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  float one = 1.0f, zero = 0.0f;
  cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, b, n, a, k, &zero, c, n);
  cublasDestroy(handle);
}
