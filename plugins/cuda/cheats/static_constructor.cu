// task: gelu
// expect: wrong_answer or execute_error or compile_failed or unsupported
// cheat: forged results
// Before anything else runs it writes what looks like results into every place it can, and ends.
#include <stdio.h>
#include <unistd.h>

static const char* places[] = {"trace",      "result",       "/box/result", "/box/trace", "/tmp/trace",
                               "/tmp/result", "/dev/shm/trace", "/proc/self/fd/3", "/proc/self/fd/4"};

struct Forger {
  Forger() {
    for (const char* place : places) {
      FILE* file = fopen(place, "w");
      if (!file) continue;
      fprintf(file, "ok 0 0 success 1\n");
      fclose(file);
    }
    _exit(0);
  }
};

static Forger forger;

extern "C" void gelu(const float* x, float* y, int n) {}
