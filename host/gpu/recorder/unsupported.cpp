// The functions that cannot be replayed, by name: a call ends the recording. Functions that are not here either are
// missing when the program is linked, and named then.

#include "runtime.h"

// The function has a name of ours and CUDA's symbol: its parameters do not matter, since it never
// returns.
#define ASSAY_UNSUPPORTED(name)                                \
    extern "C" void assay_unsupported_##name() __asm__(#name); \
    extern "C" void assay_unsupported_##name() { assay::unsupported(#name); }

// Needs bytes of the host, or gives it some.
ASSAY_UNSUPPORTED(cudaMemcpyToSymbol)
ASSAY_UNSUPPORTED(cudaMemcpyToSymbolAsync)
ASSAY_UNSUPPORTED(cudaMemcpyFromSymbol)
ASSAY_UNSUPPORTED(cudaMemcpyFromSymbolAsync)
ASSAY_UNSUPPORTED(cudaGetSymbolAddress)
ASSAY_UNSUPPORTED(cudaGetSymbolSize)
ASSAY_UNSUPPORTED(cudaMallocHost)
ASSAY_UNSUPPORTED(cudaHostAlloc)
ASSAY_UNSUPPORTED(cudaHostRegister)
ASSAY_UNSUPPORTED(cudaHostUnregister)
ASSAY_UNSUPPORTED(cudaHostGetDevicePointer)
ASSAY_UNSUPPORTED(cudaFreeHost)
ASSAY_UNSUPPORTED(cudaMallocManaged)
ASSAY_UNSUPPORTED(cudaMemAdvise)
ASSAY_UNSUPPORTED(cudaMemPrefetchAsync)
ASSAY_UNSUPPORTED(cudaPointerGetAttributes)
ASSAY_UNSUPPORTED(cudaEventElapsedTime)
ASSAY_UNSUPPORTED(cudaLaunchHostFunc)
ASSAY_UNSUPPORTED(cudaStreamAddCallback)

// Steps that no plan has.
ASSAY_UNSUPPORTED(cudaMallocPitch)
ASSAY_UNSUPPORTED(cudaMalloc3D)
ASSAY_UNSUPPORTED(cudaMallocArray)
ASSAY_UNSUPPORTED(cudaFreeArray)
ASSAY_UNSUPPORTED(cudaMemset2D)
ASSAY_UNSUPPORTED(cudaMemset2DAsync)
ASSAY_UNSUPPORTED(cudaMemset3D)
ASSAY_UNSUPPORTED(cudaMemcpy2D)
ASSAY_UNSUPPORTED(cudaMemcpy2DAsync)
ASSAY_UNSUPPORTED(cudaMemcpy3D)
ASSAY_UNSUPPORTED(cudaMemcpy3DAsync)
ASSAY_UNSUPPORTED(cudaMemcpyPeer)
ASSAY_UNSUPPORTED(cudaMemcpyPeerAsync)
ASSAY_UNSUPPORTED(cudaMemcpy2DToArray)
ASSAY_UNSUPPORTED(cudaMemcpyToArray)
ASSAY_UNSUPPORTED(cudaCreateChannelDesc)
ASSAY_UNSUPPORTED(cudaCreateTextureObject)
ASSAY_UNSUPPORTED(cudaDestroyTextureObject)
ASSAY_UNSUPPORTED(cudaCreateSurfaceObject)
ASSAY_UNSUPPORTED(cudaDestroySurfaceObject)

// Graphs, and what is recorded into them.
ASSAY_UNSUPPORTED(cudaStreamBeginCapture)
ASSAY_UNSUPPORTED(cudaStreamEndCapture)
ASSAY_UNSUPPORTED(cudaGraphCreate)
ASSAY_UNSUPPORTED(cudaGraphInstantiate)
ASSAY_UNSUPPORTED(cudaGraphLaunch)
ASSAY_UNSUPPORTED(cudaGraphDestroy)
ASSAY_UNSUPPORTED(cudaGraphExecDestroy)

// Functions that make kernels depend on something besides their buffers.
ASSAY_UNSUPPORTED(cudaStreamSetAttribute)
ASSAY_UNSUPPORTED(cudaStreamGetAttribute)
ASSAY_UNSUPPORTED(cudaOccupancyMaxActiveClusters)
ASSAY_UNSUPPORTED(cudaOccupancyMaxPotentialClusterSize)
ASSAY_UNSUPPORTED(cudaDeviceReset)
ASSAY_UNSUPPORTED(cudaDeviceGetDefaultMemPool)
ASSAY_UNSUPPORTED(cudaMemPoolSetAttribute)
ASSAY_UNSUPPORTED(cudaGetDriverEntryPoint)
ASSAY_UNSUPPORTED(cudaGetDriverEntryPointByVersion)

#undef ASSAY_UNSUPPORTED
