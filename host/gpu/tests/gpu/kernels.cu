// What the tests for a GPU run: an honest kernel, everything that a kernel can do wrong, and every cheat
// that a kernel can try alone. kernels.ptx is made of this by `scripts/gpu-ptx.sh`; a simulated device
// runs it as well.

typedef unsigned long long u64;

static __device__ int index()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void honest(const float* x, float* y, int n)
{
    int i = index();
    if (i < n)
        y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void whole_numbers(const int* x, int* y, int n)
{
    int i = index();
    if (i < n)
        y[i] = x[i] * x[i] + (x[i] >> 3) - i;
}

struct Scale {
    const float* x;
    float factor;
    int n;
};

extern "C" __global__ void by_value(Scale scale, float* y)
{
    int i = index();
    if (i < scale.n)
        y[i] = scale.factor * scale.x[i] + 1;
}

// Errors.

extern "C" __global__ void wild(const float* x, float* y, int n)
{
    *(volatile float*)0x10 = 1;
}

extern "C" __global__ void misaligned(const float* x, float* y, int n)
{
    *(volatile int*)((char*)y + 1) = 1;
}

extern "C" __global__ void trap(const float* x, float* y, int n)
{
    asm volatile("trap;");
}

extern "C" __global__ void endless(const float* x, float* y, int n)
{
    while (((volatile const float*)x)[0] == ((volatile const float*)x)[0])
        ;
}

// Cheats.

extern "C" __global__ void empty(const float* x, float* y, int n) { }

extern "C" __global__ void partial(const float* x, float* y, int n)
{
    int i = index();
    if (i < n - 1)
        y[i] = 2 * x[i] + 1;
}

extern "C" __global__ void no_numbers(const float* x, float* y, int n)
{
    int i = index();
    if (i < n)
        y[i] = __int_as_float(0x7fffffff);
}

extern "C" __global__ void changes_inputs(float* x, float* y, int n)
{
    int i = index();
    if (i < n) {
        x[i] = 0;
        y[i] = 1;
    }
}

extern "C" __global__ void writes_behind(const float* x, float* y, int n)
{
    int i = index();
    if (i < n)
        y[i] = 2 * x[i] + 1;
    if (i == 0)
        y[n] = 0;
}

extern "C" __global__ void writes_before(const float* x, float* y, int n)
{
    int i = index();
    if (i < n)
        y[i] = 2 * x[i] + 1;
    if (i == 0)
        y[-1] = 0;
}

__device__ float kept[4096];
__device__ int kept_is_there;

// Computes once, then gives what it gave before.
extern "C" __global__ void cached(const float* x, float* y, int n)
{
    int i = index();
    if (i >= n || i >= 4096)
        return;
    if (!kept_is_there)
        kept[i] = 2 * x[i] + 1;
    y[i] = kept[i];
}

extern "C" __global__ void cached_is_there(const float* x, float* y, int n)
{
    kept_is_there = 1;
}

// What lies in shared memory that nobody wrote.
extern "C" __global__ void found_in_shared(int* y, int n)
{
    extern __shared__ int left[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = left[i];
}

extern "C" __global__ void left_in_shared(int* y, int n)
{
    extern __shared__ int left[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        ((volatile int*)left)[i] = 0x5ec2e700 + (i & 0xff);
    __syncthreads();
    if (threadIdx.x == 0)
        y[blockIdx.x * n] = left[n - 1];
}

// Reads all of it, so that a cache holds it.
extern "C" __global__ void sum(const float* x, float* y, int n)
{
    float total = 0;
    for (int i = index(); i < n; i += gridDim.x * blockDim.x)
        total += x[i];
    y[index()] = total;
}
