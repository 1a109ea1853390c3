// A plain CUDA program that times the kernel `honest`: what a session's times are compared with. To be
// compiled by nvcc on the machine with the GPU: nvcc -O3 -fmad=false -arch=native -o plain plain.cu
// Usage: plain COUNT TIMES TRIALS: a launch makes COUNT elements TIMES over. Prints the median in nanoseconds.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels.cu"

#define CHECK(call)                                                                 \
    do {                                                                            \
        cudaError_t error = (call);                                                 \
        if (error != cudaSuccess) {                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error));  \
            exit(1);                                                                \
        }                                                                           \
    } while (0)

__global__ void flush(u64* at, u64 words, u64 value)
{
    for (u64 word = (u64)blockIdx.x * blockDim.x + threadIdx.x; word < words; word += (u64)gridDim.x * blockDim.x)
        at[word] = value + word;
}

// Numbers from -1 to 1 without a pattern: a GPU is faster over zeros.
__global__ void fill(float* x, int count)
{
    int i = index();
    if (i >= count)
        return;
    unsigned bits = i * 2654435761u;
    bits = (bits ^ (bits >> 15)) * 2246822519u;
    bits = (bits ^ (bits >> 13)) * 3266489917u;
    x[i] = (int)(bits ^ (bits >> 16)) * (1.0f / 2147483648.0f);
}

int main(int count_of_arguments, char** arguments)
{
    if (count_of_arguments != 4)
        return 2;
    int count = atoi(arguments[1]), times = atoi(arguments[2]), trials = atoi(arguments[3]);
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    float *x, *y;
    u64* flushed;
    u64 words = 2 * (u64)properties.l2CacheSize / 8;
    CHECK(cudaMalloc(&x, (size_t)count * 4));
    CHECK(cudaMalloc(&y, (size_t)count * 4));
    CHECK(cudaMalloc(&flushed, words * 8));
    fill<<<(count + 255) / 256, 256>>>(x, count);
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<float> samples;
    for (int trial = -10; trial < trials; trial++) {
        flush<<<2048, 256>>>(flushed, words, words);
        CHECK(cudaEventRecord(begin));
        honest<<<dim3((count + 255) / 256, times), 256>>>(x, y, count);
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (trial >= 0)
            samples.push_back(milliseconds);
    }
    std::sort(samples.begin(), samples.end());
    printf("%.0f\n", samples[samples.size() / 2] * 1e6);
}
