#include <cuda_runtime.h>

struct View {
    const float* data;
    long long count;
    float* out;
    int step;
    int pad;
};

template <class T, int N>
__global__ void scale(const T* x, T* y, int n, T by) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) y[at] = x[at] * by + T(N);
}

__global__ void add(View view) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < view.count) view.out[at] += view.data[at];
}

__global__ void numbers(bool truth, char letter, short few, float real, double twice, long long many) {}

__global__ void rows(float* y, int row) {
    extern __shared__ float room[];
    room[threadIdx.x] = row;
    __syncthreads();
    y[row * blockDim.x + threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void together(float* y) { y[0] = 1; }

// A test harness, which must not get in the way.
int main() { return 7; }

static int blocks(int n) { return (n + 127) / 128; }

// y = (x * 2 + 1) + (x * 3 + 2)
extern "C" void two(const float* x, float* y, int n) {
    float* scratch = nullptr;
    cudaMalloc(&scratch, n * sizeof(float));
    scale<float, 1><<<blocks(n), 128>>>(x, scratch, n, 2.0f);
    scale<float, 2><<<blocks(n), 128>>>(x, y, n, 3.0f);
    View view{scratch, n, y, 1, 0};
    add<<<dim3(blocks(n), 1, 1), dim3(128)>>>(view);
    cudaFree(scratch);
}

extern "C" void loop(float* y, int rows_, int columns) {
    for (int row = 0; row < rows_; row++) {
        rows<<<1, columns, columns * sizeof(float)>>>(y, row);
    }
}

extern "C" void by_shape(const float* x, float* y, int n) {
    if (n <= 256) {
        scale<float, 1><<<1, n>>>(x, y, n, 1.0f);
    } else {
        scale<float, 1><<<blocks(n / 2), 128>>>(x, y, n / 2, 1.0f);
        scale<float, 1><<<blocks(n - n / 2), 128>>>(x + n / 2, y + n / 2, n - n / 2, 1.0f);
    }
}

void all_numbers(bool truth, char letter, short few, float real, double twice, long long many) {
    numbers<<<1, 1>>>(truth, letter, few, real, twice, many);
}

extern "C" cudaError_t memory(const float* x, float* y, int n) {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    for (int turn = 0; turn < 2; turn++) {
        void* scratch;
        if (cudaMallocAsync(&scratch, 64, stream) != cudaSuccess) return cudaGetLastError();
        cudaMemsetAsync(scratch, 0x1ff, 64, stream);
        cudaMemcpyAsync(y + turn, scratch, 4, cudaMemcpyDeviceToDevice, stream);
        cudaFreeAsync(scratch, stream);
    }
    cudaMemcpy(y, x, n * sizeof(float), cudaMemcpyDefault);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return cudaDeviceSynchronize();
}

// What fails on a device fails here as well, and is not recorded.
extern "C" void failures(float* y, int n) {
    void* huge;
    const bool refused = cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation && !huge;
    const bool remembered = cudaGetLastError() == cudaErrorMemoryAllocation;
    const bool forgotten = cudaGetLastError() == cudaSuccess;
    const bool beyond = cudaMemset(y, 0, n * sizeof(float) + 1) == cudaErrorInvalidValue;
    const bool not_ours = cudaFree(y) == cudaErrorInvalidValue;
    rows<<<refused + remembered + forgotten + beyond + not_ours, 1>>>(y, 0);
}

extern "C" void device(float* y) {
    int per_multiprocessor = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, together, 1024, 0);
    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    void* args[] = {&y};
    cudaLaunchCooperativeKernel((const void*)together, dim3(properties.multiProcessorCount * per_multiprocessor),
                                dim3(major * 10 + properties.minor), args, 0, nullptr);
}
