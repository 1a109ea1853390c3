//! The driver's functions by name, looked up once.
//!
//! cudarc finds the library and declares the types. Its own functions are not called: they panic if a driver lacks a
//! function, and they return an `enum`, which has no variant for the result codes that a newer driver adds.

use std::ffi::{c_char, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    self, CUcontext, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction,
    CUfunction_attribute, CUipcMemHandle, CUjit_option, CUlaunchConfig, CUlimit, CUmodule,
    CUstream, CUuuid,
};

use crate::device::DeviceProblem;

macro_rules! functions {
    ($($name:ident($($argument:ty),*);)*) => {
        /// Each function returns a result code, which is 0 for success.
        #[expect(non_snake_case, reason = "the driver's own names")]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),*) -> u32,)*
        }

        #[expect(unsafe_code, reason = "symbols of the driver's library")]
        fn look_up() -> Result<Functions, DeviceProblem> {
            // SAFETY: it loads a library, whose initialisers run: the driver's, which this process is for.
            if !unsafe { sys::is_culib_present() } {
                return Err(DeviceProblem::Failed(NO_LIBRARY.to_owned()));
            }
            // SAFETY: the same library.
            let library = unsafe { sys::culib() };
            Ok(Functions {
                $($name: {
                    // SAFETY: the types are those of the driver's header for that name, with the result,
                    // an `enum` in C, as the integer that it is.
                    let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                    *symbol.map_err(|_| lacks(stringify!($name)))?
                },)*
            })
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDriverGetVersion(*mut i32);
    cuGetErrorName(u32, *mut *const c_char);
    cuDeviceGetCount(*mut i32);
    cuDeviceGet(*mut CUdevice, i32);
    cuDeviceGetName(*mut c_char, i32, CUdevice);
    cuDeviceGetUuid_v2(*mut CUuuid, CUdevice);
    cuDeviceTotalMem_v2(*mut usize, CUdevice);
    cuDeviceGetAttribute(*mut i32, CUdevice_attribute, CUdevice);
    cuDevicePrimaryCtxRetain(*mut CUcontext, CUdevice);
    cuDevicePrimaryCtxRelease_v2(CUdevice);
    cuCtxSetCurrent(CUcontext);
    cuCtxSetLimit(CUlimit, usize);
    cuCtxResetPersistingL2Cache();
    cuStreamCreate(*mut CUstream, c_uint);
    cuStreamDestroy_v2(CUstream);
    cuStreamSynchronize(CUstream);
    cuEventCreate(*mut CUevent, c_uint);
    cuEventDestroy_v2(CUevent);
    cuEventRecord(CUevent, CUstream);
    cuEventElapsedTime(*mut f32, CUevent, CUevent);
    cuMemAlloc_v2(*mut CUdeviceptr, usize);
    cuMemFree_v2(CUdeviceptr);
    cuMemcpyHtoDAsync_v2(CUdeviceptr, *const c_void, usize, CUstream);
    cuMemcpyDtoHAsync_v2(*mut c_void, CUdeviceptr, usize, CUstream);
    cuMemcpyDtoDAsync_v2(CUdeviceptr, CUdeviceptr, usize, CUstream);
    cuMemsetD8Async(CUdeviceptr, u8, usize, CUstream);
    cuIpcGetMemHandle(*mut CUipcMemHandle, CUdeviceptr);
    cuIpcOpenMemHandle_v2(*mut CUdeviceptr, CUipcMemHandle, c_uint);
    cuIpcCloseMemHandle(CUdeviceptr);
    cuModuleLoadDataEx(*mut CUmodule, *const c_void, c_uint, *mut CUjit_option, *mut *mut c_void);
    cuModuleUnload(CUmodule);
    cuModuleGetFunctionCount(*mut c_uint, CUmodule);
    cuModuleEnumerateFunctions(*mut CUfunction, c_uint, CUmodule);
    cuFuncLoad(CUfunction);
    cuFuncGetName(*mut *const c_char, CUfunction);
    cuFuncGetAttribute(*mut i32, CUfunction_attribute, CUfunction);
    cuFuncSetAttribute(CUfunction, CUfunction_attribute, i32);
    cuFuncGetParamInfo(CUfunction, usize, *mut usize, *mut usize);
    cuLaunchKernelEx(*const CUlaunchConfig, CUfunction, *mut *mut c_void, *mut *mut c_void);
}

const NO_LIBRARY: &str = "no CUDA driver is installed: libcuda.so is not to be found";

fn lacks(name: &str) -> DeviceProblem {
    DeviceProblem::Failed(format!(
        "the CUDA driver is too old: it has no {name}; 550 or newer is needed"
    ))
}

/// The driver of this machine; a failure is as final as a success.
pub fn functions() -> Result<&'static Functions, DeviceProblem> {
    static FOUND: OnceLock<Result<Functions, DeviceProblem>> = OnceLock::new();
    FOUND.get_or_init(look_up).as_ref().map_err(Clone::clone)
}

/// Whether a driver's library is there at all.
#[expect(unsafe_code, reason = "loads the driver's library")]
pub fn is_installed() -> bool {
    // SAFETY: as in `look_up`.
    unsafe { sys::is_culib_present() }
}
