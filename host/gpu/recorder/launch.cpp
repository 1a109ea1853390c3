// Kernels and their launches, as the code that nvcc makes of `<<<...>>>` asks for them.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "runtime.h"

namespace assay {
namespace {

// The kernel for which nvcc made a host function. The function's address is the kernel's handle.
struct Registered {
    const void* function;
    const Kernel* kernel;
};

constexpr uint32_t REGISTERED_MAX = 4096;
Registered registered[REGISTERED_MAX];
uint32_t registered_count;

struct Configuration {
    dim3 grid;
    dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
};

// A launch in an argument of a launch is one more; nobody writes many.
constexpr uint32_t CONFIGURATIONS_MAX = 64;
Configuration configurations[CONFIGURATIONS_MAX];
uint32_t configuration_count;

const Registered* find_registered(const void* function) {
    for (uint32_t at = 0; at < registered_count; at++) {
        if (registered[at].function == function || &registered[at] == function) return &registered[at];
    }
    return nullptr;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** args, size_t shared_bytes,
                   bool cooperative) {
    const Kernel* kernel = kernel_of(function);
    if (!kernel) unsupported("a launch of what is no kernel of the image");
    // More than any device has is refused later, whatever it was.
    const size_t shared = std::min<size_t>(shared_bytes, UINT32_MAX);
    add_launch({kernel,
                {grid.x, grid.y, grid.z},
                {block.x, block.y, block.z},
                cooperative,
                static_cast<uint32_t>(shared),
                args});
    return cudaSuccess;
}

}  // namespace

const Kernel* kernel_of(const void* function) {
    const Registered* found = find_registered(function);
    return found ? found->kernel : nullptr;
}

}  // namespace assay

extern "C" {

void** __cudaRegisterFatBinary(void*) {
    static void* handle;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

char __cudaInitModule(void**) { return 1; }

// Variables that kernels alone use need nothing of the host.
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {
    assay::unsupported("__managed__ variables");
}

void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
    using namespace assay;
    if (registered_count == REGISTERED_MAX) unsupported("more kernels than can be registered");
    registered[registered_count++] = {function, find_kernel(name)};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
    using namespace assay;
    if (configuration_count == CONFIGURATIONS_MAX) unsupported("launches within launches");
    configurations[configuration_count++] = {grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
    using namespace assay;
    if (configuration_count == 0) return cudaErrorMissingConfiguration;
    const Configuration& last = configurations[--configuration_count];
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *static_cast<cudaStream_t*>(stream) = last.stream;
    return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    const assay::Registered* found = assay::find_registered(function);
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<assay::Registered*>(found));
    return found ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    return __cudaGetKernel(kernel, function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                               size_t shared_bytes, cudaStream_t) {
    return assay::launch(kernel, grid, block, args, shared_bytes, false);
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** args,
                                    size_t shared_bytes, cudaStream_t) {
    return assay::launch(kernel, grid, block, args, shared_bytes, false);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** args,
                             size_t shared_bytes, cudaStream_t) {
    return assay::launch(function, grid, block, args, shared_bytes, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** args,
                                        size_t shared_bytes, cudaStream_t) {
    return assay::launch(function, grid, block, args, shared_bytes, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** args) {
    bool cooperative = false;
    for (unsigned at = 0; at < config->numAttrs; at++) {
        const cudaLaunchAttribute& attribute = config->attrs[at];
        switch (attribute.id) {
            case cudaLaunchAttributeIgnore:
            case cudaLaunchAttributePriority:
            // A kernel may begin before the one before it has ended; it may also not.
            case cudaLaunchAttributeProgrammaticStreamSerialization:
                break;
            case cudaLaunchAttributeCooperative:
                cooperative = attribute.val.cooperative != 0;
                break;
            case cudaLaunchAttributeClusterDimension: {
                const auto& cluster = attribute.val.clusterDim;
                if (cluster.x * cluster.y * cluster.z != 1) assay::unsupported("launches of clusters");
                break;
            }
            default:
                assay::unsupported("cudaLaunchKernelEx with such an attribute");
        }
    }
    return assay::launch(function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                         cooperative);
}

}  // extern "C"
