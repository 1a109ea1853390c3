//! The driver's functions that set things up. Each pointer is the caller's, as the driver's header says.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ptr::{null_mut, without_provenance_mut};
use std::time::Instant;

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdevice_attribute, CUevent, CUjit_option, CUlimit, CUmodule, CUresult,
    CUstream, CUuuid,
};

use crate::gpu::{MEMORY_BYTES, MULTIPROCESSORS, SHARED_BYTES_MAX, call};

const VERSION: i32 = 13_000;
const NAME: &CStr = c"Fake GPU";
const DEVICE: CUdevice = 0;
const CONTEXT: usize = 1;
const STREAM: usize = 2;

#[unsafe(no_mangle)]
extern "C" fn cuInit(_flags: c_uint) -> u32 {
    call("cuInit", |_| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDriverGetVersion(version: *mut i32) -> u32 {
    call("cuDriverGetVersion", |_| {
        // SAFETY: the caller's, to be written to, here and in all that follow.
        unsafe { *version = VERSION };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuGetErrorName(code: u32, name: *mut *const c_char) -> u32 {
    call("cuGetErrorName", |_| {
        let known = match code {
            1 => c"CUDA_ERROR_INVALID_VALUE",
            2 => c"CUDA_ERROR_OUT_OF_MEMORY",
            218 => c"CUDA_ERROR_INVALID_PTX",
            700 => c"CUDA_ERROR_ILLEGAL_ADDRESS",
            716 => c"CUDA_ERROR_MISALIGNED_ADDRESS",
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        unsafe { *name = known.as_ptr() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetCount(count: *mut i32) -> u32 {
    call("cuDeviceGetCount", |_| {
        unsafe { *count = 1 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGet(device: *mut CUdevice, number: i32) -> u32 {
    call("cuDeviceGet", |_| {
        if number != 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_DEVICE);
        }
        unsafe { *device = DEVICE };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetName(name: *mut c_char, bytes: i32, _: CUdevice) -> u32 {
    call("cuDeviceGetName", |_| {
        let text = NAME.to_bytes_with_nul();
        if (bytes as usize) < text.len() {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        unsafe { name.copy_from_nonoverlapping(text.as_ptr().cast(), text.len()) };
        Ok(())
    })
}

/// Each folder with the library has a GPU of its own, so that tests do not wait for one another's.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, _: CUdevice) -> u32 {
    call("cuDeviceGetUuid_v2", |_| {
        let mut hasher = DefaultHasher::new();
        std::env::var_os("LD_LIBRARY_PATH").hash(&mut hasher);
        let mut bytes = [0; 16];
        for (byte, hashed) in bytes.iter_mut().zip(hasher.finish().to_le_bytes()) {
            *byte = hashed as c_char;
        }
        unsafe { *uuid = CUuuid { bytes } };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceTotalMem_v2(bytes: *mut usize, _: CUdevice) -> u32 {
    call("cuDeviceTotalMem_v2", |_| {
        unsafe { *bytes = MEMORY_BYTES as usize };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDeviceGetAttribute(
    value: *mut i32,
    attribute: CUdevice_attribute,
    _: CUdevice,
) -> u32 {
    call("cuDeviceGetAttribute", |_| {
        use CUdevice_attribute as A;
        let found = match attribute {
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR => 9,
            A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR => 0,
            A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT => MULTIPROCESSORS as i32,
            A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE => 1_000_000,
            A::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS => 1,
            A::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE => 2_000_000,
            A::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH => 64,
            // Small: what flushes it is interpreted.
            A::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE => 4096,
            A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN => SHARED_BYTES_MAX as i32,
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        unsafe { *value = found };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, _: CUdevice) -> u32 {
    call("cuDevicePrimaryCtxRetain", |_| {
        unsafe { *context = without_provenance_mut(CONTEXT) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuDevicePrimaryCtxRelease_v2(_: CUdevice) -> u32 {
    call("cuDevicePrimaryCtxRelease_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetCurrent(context: CUcontext) -> u32 {
    call("cuCtxSetCurrent", |_| {
        let known = context.addr() == CONTEXT;
        if known { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_CONTEXT) }
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxSetLimit(limit: CUlimit, _value: usize) -> u32 {
    call("cuCtxSetLimit", |_| match limit {
        CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE | CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE => Ok(()),
        _ => Err(CUresult::CUDA_ERROR_UNSUPPORTED_LIMIT),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuCtxResetPersistingL2Cache() -> u32 {
    call("cuCtxResetPersistingL2Cache", |_| Ok(()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuStreamCreate(stream: *mut CUstream, _flags: c_uint) -> u32 {
    call("cuStreamCreate", |_| {
        unsafe { *stream = without_provenance_mut(STREAM) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamDestroy_v2(_: CUstream) -> u32 {
    call("cuStreamDestroy_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cuStreamSynchronize(stream: CUstream) -> u32 {
    call("cuStreamSynchronize", |_| {
        let known = stream.addr() == STREAM;
        if known { Ok(()) } else { Err(CUresult::CUDA_ERROR_INVALID_HANDLE) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventCreate(event: *mut CUevent, _flags: c_uint) -> u32 {
    call("cuEventCreate", |gpu| {
        gpu.events.push(None);
        unsafe { *event = without_provenance_mut(gpu.events.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuEventDestroy_v2(_: CUevent) -> u32 {
    call("cuEventDestroy_v2", |_| Ok(()))
}

#[unsafe(no_mangle)]
extern "C" fn cuEventRecord(event: CUevent, _: CUstream) -> u32 {
    call("cuEventRecord", |gpu| {
        let found = event.addr().checked_sub(1).and_then(|number| gpu.events.get_mut(number));
        *found.ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)? = Some(Instant::now());
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuEventElapsedTime(
    milliseconds: *mut f32,
    begin: CUevent,
    end: CUevent,
) -> u32 {
    call("cuEventElapsedTime", |gpu| {
        let at = |event: CUevent| {
            let recorded = event.addr().checked_sub(1).and_then(|number| gpu.events.get(number));
            recorded.copied().flatten().ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
        };
        unsafe { *milliseconds = (at(end)? - at(begin)?).as_secs_f32() * 1e3 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    image: *const c_void,
    count: c_uint,
    options: *mut CUjit_option,
    values: *mut *mut c_void,
) -> u32 {
    call("cuModuleLoadDataEx", |gpu| {
        // SAFETY: a text that a zero ends, or an ELF header; so many options and values.
        let text = unsafe { CStr::from_ptr(image.cast()) };
        let Ok(text) = text.to_str() else { return Err(CUresult::CUDA_ERROR_INVALID_IMAGE) };
        if text.starts_with("\x7fELF") {
            return Err(CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU);
        }
        let (code, said) = match gpu.load(text) {
            Ok(number) => {
                unsafe { *module = without_provenance_mut(number) };
                return Ok(());
            }
            Err(refused) => refused,
        };
        let (mut log, mut bytes) = (null_mut::<u8>(), 0);
        for index in 0..count as usize {
            let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
            match option {
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER => log = value.cast(),
                CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES => bytes = value.addr(),
                _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
            }
        }
        if log.is_null() || bytes == 0 {
            return Err(code);
        }
        let said = &said.as_bytes()[..said.len().min(bytes - 1)];
        // SAFETY: the log has so many bytes, one more than is said.
        unsafe {
            log.copy_from_nonoverlapping(said.as_ptr(), said.len());
            *log.add(said.len()) = 0;
        }
        Err(code)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuModuleUnload(module: CUmodule) -> u32 {
    call("cuModuleUnload", |gpu| gpu.unload(module.addr()))
}
