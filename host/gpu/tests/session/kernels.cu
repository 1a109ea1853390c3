// What the tests of sessions run: `nvcc -ptx -arch=compute_80 kernels.cu`, release 13.0.

#define AT (blockIdx.x * blockDim.x + threadIdx.x)

// Honest ones.

extern "C" __global__ void twice(const float *x, float *y, int n) {
  int i = AT;
  if (i < n) y[i] = 2 * x[i];
}

extern "C" __global__ void twice_in_place(float *x, int n) {
  int i = AT;
  if (i < n) x[i] = 2 * x[i];
}

struct Both { const float *x; float *y; int n; };

extern "C" __global__ void twice_by_struct(Both both) {
  int i = AT;
  if (i < both.n) both.y[i] = 2 * both.x[i];
}

extern "C" __global__ void twice_by_scratch(const float *x, float *scratch, float *y, int n) {
  int i = AT;
  if (i < n) scratch[i] = x[i];
  __syncthreads();
  if (i < n) y[i] = 2 * scratch[i];
}

extern "C" __global__ void copy_numbers(const int *x, int *y, int n) {
  int i = AT;
  if (i < n) y[i] = x[i];
}

// Cheats.

extern "C" __global__ void partial(const float *x, float *y, int n) {
  int i = AT;
  if (i < n / 2) y[i] = 2 * x[i];
}

extern "C" __global__ void nothing(const float *x, float *y, int n) {}

extern "C" __global__ void not_a_number(const float *x, float *y, int n) {
  int i = AT;
  if (i < n) y[i] = __int_as_float(0x7fffffff);
}

extern "C" __global__ void almost(const float *x, float *y, int n) {
  int i = AT;
  if (i < n) y[i] = 2 * x[i] + (i % 10 == 3 ? 1 : 0);
}

extern "C" __global__ void changes_input(float *x, float *y, int n) {
  int i = AT;
  if (i < n) y[i] = 2 * x[i];
  if (i == n - 1) x[i] += 1;
}

extern "C" __global__ void overruns_behind(const float *x, float *y, int n) {
  int i = AT;
  if (i <= n) y[i] = i < n ? 2 * x[i] : 0;
}

extern "C" __global__ void overruns_before(const float *x, float *y, int n) {
  int i = AT;
  if (i < n) y[i] = 2 * x[i];
  if (i == 0) y[-1] = 0;
}

__device__ float kept[4096];
__device__ int is_kept;

// One block: computes once, and gives the same ever after.
extern "C" __global__ void cached(const float *x, float *y, int n) {
  int i = AT;
  int cached = is_kept;
  __syncthreads();
  if (i < n) {
    if (!cached) kept[i] = 2 * x[i];
    y[i] = kept[i];
  }
  if (i == 0) is_kept = 1;
}

__device__ int launches;

// One block: works so many times, then leaves what it finds.
extern "C" __global__ void lazy_after(const float *x, float *y, int n, int honest) {
  int i = AT;
  int launch = launches;
  __syncthreads();
  if (launch < honest && i < n) y[i] = 2 * x[i];
  if (i == 0) launches = launch + 1;
}

// Ends.

extern "C" __global__ void endless(const float *x, float *y, int n) {
  while (n >= 0) { asm volatile("" ::: "memory"); }
  y[0] = 0;
}

extern "C" __global__ void many_steps(float *y, int steps) {
  for (volatile int i = 0; i < steps; i++) {}
  y[0] = 1;
}

extern "C" __global__ void traps(float *y) { __trap(); }

extern "C" __global__ void far_away(float *y) { y[1ll << 36] = 1; }

extern "C" __global__ void misaligned(float *y) { *(float *)((char *)y + 1) = 1; }

extern "C" __global__ void bad_barrier(float *y) { asm volatile("bar.sync 0, 33;"); }

extern "C" __global__ void stuck(float *y) {
  if (threadIdx.x < 16) asm volatile("bar.sync 1;");
  else asm volatile("bar.sync 2;");
}

extern "C" __global__ void __launch_bounds__(64) small_blocks(float *y) { y[threadIdx.x] = 1; }
