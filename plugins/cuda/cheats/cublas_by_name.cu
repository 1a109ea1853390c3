// task: matmul
// expect: unsupported or execute_error or compile_failed or wrong_answer
// cheat: library fall-back
// Without its header, found at run time.
#include <dlfcn.h>

extern "C" void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  void* library = dlopen("libcublas.so.13", RTLD_NOW);
  using Create = int (*)(void**);
  auto create = (Create)dlsym(library, "cublasCreate_v2");
  void* handle;
  create(&handle);
}
