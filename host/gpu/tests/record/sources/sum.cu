#include <cub/cub.cuh>
extern "C" void solve(const float* x, float* y, int n) {
    void* temp = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(temp, bytes, x, y, n);
    cudaMalloc(&temp, bytes);
    cub::DeviceReduce::Sum(temp, bytes, x, y, n);
    cudaFree(temp);
}
