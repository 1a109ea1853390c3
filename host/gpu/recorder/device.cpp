// The device that is pretended: what an H100 with 80 GB (SXM) says of itself, but for its compute
// capability, which is that of the image. Host functions choose grids by these numbers; plans must not
// depend on the machine that they are recorded on.

#include <cuda_runtime_api.h>
#include <string.h>

#include <algorithm>

#include "runtime.h"

namespace assay {
namespace {

constexpr int MULTIPROCESSORS = 132;
constexpr int THREADS_OF_BLOCK = 1024;
constexpr int THREADS_OF_MULTIPROCESSOR = 2048;
constexpr int BLOCKS_OF_MULTIPROCESSOR = 32;
constexpr int BLOCK_DEPTH = 64;
constexpr int GRID_WIDTH = 0x7fffffff;
constexpr int GRID_HEIGHT = 65535;
constexpr int REGISTERS = 65536;
// The registers of a thread where their number is not known, since PTX alone was compiled.
constexpr int REGISTERS_ASSUMED = 64;
constexpr int SHARED_OF_BLOCK = 48 << 10;
constexpr int SHARED_OF_BLOCK_OPTED_IN = 227 << 10;
constexpr int SHARED_OF_MULTIPROCESSOR = 228 << 10;
constexpr int SHARED_RESERVED = 1 << 10;
constexpr int CONSTANT_BYTES = 64 << 10;
constexpr size_t MEMORY_BYTES = size_t{80} << 30;
constexpr int L2_BYTES = 50 << 20;
constexpr int PERSISTING_L2_BYTES = 32 << 20;
constexpr int CLOCK_KHZ = 1980000;
constexpr int MEMORY_CLOCK_KHZ = 2619000;
constexpr int MEMORY_BUS_BITS = 5120;
constexpr int WARP = 32;

struct Attribute {
    cudaDeviceAttr name;
    int value;
};

constexpr Attribute ATTRIBUTES[] = {
    {cudaDevAttrMaxThreadsPerBlock, THREADS_OF_BLOCK},
    {cudaDevAttrMaxBlockDimX, THREADS_OF_BLOCK},
    {cudaDevAttrMaxBlockDimY, THREADS_OF_BLOCK},
    {cudaDevAttrMaxBlockDimZ, BLOCK_DEPTH},
    {cudaDevAttrMaxGridDimX, GRID_WIDTH},
    {cudaDevAttrMaxGridDimY, GRID_HEIGHT},
    {cudaDevAttrMaxGridDimZ, GRID_HEIGHT},
    {cudaDevAttrMaxSharedMemoryPerBlock, SHARED_OF_BLOCK},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, SHARED_OF_BLOCK_OPTED_IN},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, SHARED_OF_MULTIPROCESSOR},
    {cudaDevAttrReservedSharedMemoryPerBlock, SHARED_RESERVED},
    {cudaDevAttrTotalConstantMemory, CONSTANT_BYTES},
    {cudaDevAttrWarpSize, WARP},
    {cudaDevAttrMaxRegistersPerBlock, REGISTERS},
    {cudaDevAttrMaxRegistersPerMultiprocessor, REGISTERS},
    {cudaDevAttrClockRate, CLOCK_KHZ},
    {cudaDevAttrMemoryClockRate, MEMORY_CLOCK_KHZ},
    {cudaDevAttrGlobalMemoryBusWidth, MEMORY_BUS_BITS},
    {cudaDevAttrMultiProcessorCount, MULTIPROCESSORS},
    {cudaDevAttrMaxThreadsPerMultiProcessor, THREADS_OF_MULTIPROCESSOR},
    {cudaDevAttrMaxBlocksPerMultiprocessor, BLOCKS_OF_MULTIPROCESSOR},
    {cudaDevAttrL2CacheSize, L2_BYTES},
    {cudaDevAttrMaxPersistingL2CacheSize, PERSISTING_L2_BYTES},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrIntegrated, 0},
    {cudaDevAttrManagedMemory, 0},
};

int attribute(cudaDeviceAttr name) {
    if (name == cudaDevAttrComputeCapabilityMajor) return capability() / 10;
    if (name == cudaDevAttrComputeCapabilityMinor) return capability() % 10;
    for (const Attribute& one : ATTRIBUTES) {
        if (one.name == name) return one.value;
    }
    unsupported("cudaDeviceGetAttribute of such an attribute");
}

int occupancy(const Kernel* kernel, int threads, size_t dynamic_shared_bytes) {
    if (threads <= 0 || threads > THREADS_OF_BLOCK) return 0;
    const int warps = (threads + WARP - 1) / WARP;
    const int known = kernel ? static_cast<int>(kernel->registers) : 0;
    const int registers = ((known ? known : REGISTERS_ASSUMED) + 7) / 8 * 8;
    const size_t shared = dynamic_shared_bytes + (kernel ? kernel->shared_bytes : 0) + SHARED_RESERVED;
    const int by_threads = THREADS_OF_MULTIPROCESSOR / (warps * WARP);
    const int by_registers = REGISTERS / (registers * warps * WARP);
    const int by_shared = static_cast<int>(SHARED_OF_MULTIPROCESSOR / shared);
    return std::min({BLOCKS_OF_MULTIPROCESSOR, by_threads, by_registers, by_shared});
}

}  // namespace
}  // namespace assay

extern "C" {

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device) {
    if (device != 0) return cudaErrorInvalidDevice;
    *value = assay::attribute(name);
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    using namespace assay;
    if (device != 0) return cudaErrorInvalidDevice;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, "NVIDIA H100 80GB HBM3");
    properties->totalGlobalMem = MEMORY_BYTES;
    properties->sharedMemPerBlock = SHARED_OF_BLOCK;
    properties->sharedMemPerBlockOptin = SHARED_OF_BLOCK_OPTED_IN;
    properties->sharedMemPerMultiprocessor = SHARED_OF_MULTIPROCESSOR;
    properties->reservedSharedMemPerBlock = SHARED_RESERVED;
    properties->regsPerBlock = REGISTERS;
    properties->regsPerMultiprocessor = REGISTERS;
    properties->warpSize = WARP;
    properties->maxThreadsPerBlock = THREADS_OF_BLOCK;
    properties->maxThreadsPerMultiProcessor = THREADS_OF_MULTIPROCESSOR;
    properties->maxBlocksPerMultiProcessor = BLOCKS_OF_MULTIPROCESSOR;
    properties->maxThreadsDim[0] = THREADS_OF_BLOCK;
    properties->maxThreadsDim[1] = THREADS_OF_BLOCK;
    properties->maxThreadsDim[2] = BLOCK_DEPTH;
    properties->maxGridSize[0] = GRID_WIDTH;
    properties->maxGridSize[1] = GRID_HEIGHT;
    properties->maxGridSize[2] = GRID_HEIGHT;
    properties->totalConstMem = CONSTANT_BYTES;
    properties->major = capability() / 10;
    properties->minor = capability() % 10;
    properties->multiProcessorCount = MULTIPROCESSORS;
    properties->concurrentKernels = 1;
    properties->cooperativeLaunch = 1;
    properties->unifiedAddressing = 1;
    properties->memoryPoolsSupported = 1;
    properties->l2CacheSize = L2_BYTES;
    properties->persistingL2CacheMaxSize = PERSISTING_L2_BYTES;
    properties->memoryBusWidth = MEMORY_BUS_BITS;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    *free = *total = assay::MEMORY_BYTES;
    return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
    using namespace assay;
    const Kernel* kernel = kernel_of(function);
    if (!kernel) return cudaErrorInvalidDeviceFunction;
    memset(attributes, 0, sizeof *attributes);
    attributes->sharedSizeBytes = kernel->shared_bytes;
    attributes->maxThreadsPerBlock = THREADS_OF_BLOCK;
    attributes->numRegs = kernel->registers ? static_cast<int>(kernel->registers) : REGISTERS_ASSUMED;
    attributes->ptxVersion = capability();
    attributes->binaryVersion = capability();
    attributes->maxDynamicSharedSizeBytes = SHARED_OF_BLOCK - static_cast<int>(kernel->shared_bytes);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function,
                                                                   int threads, size_t shared_bytes,
                                                                   unsigned) {
    *blocks = assay::occupancy(assay::kernel_of(function), threads, shared_bytes);
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0);
}

}  // extern "C"
