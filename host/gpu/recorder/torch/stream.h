// Streams and guards: there is one device and one order of all work.
#pragma once

#include <cuda_runtime.h>

#include "options.h"

namespace c10 {
namespace cuda {

struct CUDAStream {
    cudaStream_t stream() const { return nullptr; }
    operator cudaStream_t() const { return nullptr; }
    void synchronize() const {}
    DeviceIndex device_index() const { return 0; }
};

inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline DeviceIndex current_device() { return 0; }
inline DeviceIndex device_count() { return 1; }
inline void device_synchronize() {}

struct CUDAGuard {
    explicit CUDAGuard(Device) {}
    explicit CUDAGuard(DeviceIndex) {}
};
struct OptionalCUDAGuard {
    OptionalCUDAGuard() = default;
    explicit OptionalCUDAGuard(optional<Device>) {}
};
struct CUDAStreamGuard {
    explicit CUDAStreamGuard(CUDAStream) {}
};

}  // namespace cuda
}  // namespace c10

namespace at {

struct DeviceGuard {
    explicit DeviceGuard(c10::Device) {}
};
using OptionalDeviceGuard = c10::cuda::OptionalCUDAGuard;

template <class T>
__host__ __device__ constexpr T ceil_div(T a, T b) {
    return (a + b - 1) / b;
}

namespace cuda {

using namespace c10::cuda;

inline cudaDeviceProp* getCurrentDeviceProperties() {
    static cudaDeviceProp properties = [] {
        cudaDeviceProp found;
        cudaGetDeviceProperties(&found, 0);
        return found;
    }();
    return &properties;
}
inline cudaDeviceProp* getDeviceProperties(c10::DeviceIndex) { return getCurrentDeviceProperties(); }
inline int warp_size() { return 32; }

template <class T>
__host__ __device__ constexpr T ATenCeilDiv(T a, T b) {
    return ceil_div(a, b);
}

}  // namespace cuda
}  // namespace at
