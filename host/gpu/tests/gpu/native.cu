// What only a GPU runs: kernels that assert, print, jump anywhere, or ask the cache to keep what they read.
// native.ptx is made of this by `scripts/gpu-ptx.sh`.

extern "C" __device__ __attribute__((noreturn)) void __assertfail(
    const char* text, const char* file, unsigned line, const char* function, size_t size);

extern "C" __global__ void asserts(const float* x, float* y, int n)
{
    __assertfail("x[0] is what it is not", "native.cu", 9, "asserts", sizeof(char));
}

extern "C" __global__ void prints(const float* x, float* y, int n)
{
    if (blockIdx.x == 0 && threadIdx.x < 4)
        printf("thread %d of %d\n", threadIdx.x, blockDim.x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2 * x[i] + 1;
}

// The address is a number that no code has.
extern "C" __global__ void jumps(const float* x, float* y, int n)
{
    void (*nowhere)() = (void (*)())(0x1230 + (unsigned long long)n);
    nowhere();
}

static __device__ __attribute__((noinline)) float deeper(const float* x, int n)
{
    float here[64];
    for (int i = 0; i < 64; i++)
        here[i] = x[(i + n) & 63];
    return here[n & 63] + (n == -1 ? 0 : deeper(here, n + 1));
}

extern "C" __global__ void recurses(const float* x, float* y, int n)
{
    y[0] = deeper(x, n & 1);
}

// Asks for every line to be the last one to go.
extern "C" __global__ void sum_and_keep(const float* x, float* y, int n)
{
    unsigned long long policy;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    float total = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float value;
        asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(x + i), "l"(policy));
        total += value;
    }
    y[blockIdx.x * blockDim.x + threadIdx.x] = total;
}
