// Memory, streams, events and errors. All work is recorded in the order of the calls, as on one stream:
// whatever waits for something finds it done.

#include <cuda_runtime_api.h>

#include "runtime.h"

namespace assay {
namespace {

cudaError_t last_error = cudaSuccess;

// As the runtime does: what fails is returned, and remembered until it is asked for.
cudaError_t remembered(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

cudaError_t give_memory(void** address, size_t bytes) {
    *address = nullptr;
    if (bytes == 0) return cudaSuccess;
    *address = allocate(bytes);
    return remembered(*address ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t take_memory(void* address) {
    return remembered(!address || release(address) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    const bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
    if (to_host || !is_device_address(to)) unsupported("cudaMemcpy to the host");
    const bool from_host = kind == cudaMemcpyHostToDevice;
    if (from_host || !is_device_address(from)) unsupported("cudaMemcpy from the host");
    return remembered(copy_bytes(to, from, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t set(void* to, int value, size_t bytes) {
    return remembered(set_bytes(to, value, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}

// Streams and events need a name each and nothing else.
template <class Handle>
cudaError_t name_handle(Handle* handle) {
    static uintptr_t last = 0x1000;
    last += 0x10;
    *handle = reinterpret_cast<Handle>(last);
    return cudaSuccess;
}

}  // namespace
}  // namespace assay

extern "C" {

cudaError_t cudaMalloc(void** address, size_t bytes) { return assay::give_memory(address, bytes); }

cudaError_t cudaMallocAsync(void** address, size_t bytes, cudaStream_t) {
    return assay::give_memory(address, bytes);
}

cudaError_t cudaFree(void* address) { return assay::take_memory(address); }

cudaError_t cudaFreeAsync(void* address, cudaStream_t) { return assay::take_memory(address); }

cudaError_t cudaMemset(void* to, int value, size_t bytes) { return assay::set(to, value, bytes); }

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
    return assay::set(to, value, bytes);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    return assay::copy(to, from, bytes, kind);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
    return assay::copy(to, from, bytes, kind);
}

cudaError_t cudaGetLastError() {
    const cudaError_t error = assay::last_error;
    assay::last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() { return assay::last_error; }

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess: return "cudaSuccess";
        case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
        case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
        case cudaErrorMissingConfiguration: return "cudaErrorMissingConfiguration";
        default: return "cudaErrorUnknown";
    }
}

const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaSuccess ? "no error" : cudaGetErrorName(error);
}

cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return assay::remembered(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceCount(int* count) {
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

// Hints, and limits that whoever replays the plan sets by what the launches need.
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaFuncSetCacheConfig(const void*, cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return assay::name_handle(stream); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return assay::name_handle(stream); }

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
    return assay::name_handle(stream);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    *least = 0;
    *greatest = -5;
    return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return assay::name_handle(event); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return assay::name_handle(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t, cudaStream_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }

}  // extern "C"
