//! The driver's functions that move memory and run kernels. Each pointer is the caller's, as the driver's
//! header says.

use std::ffi::{c_char, c_uint, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};
use std::slice::{from_raw_parts, from_raw_parts_mut};

use assay_ptx::{GridLaunch, LaunchArg, MemoryError};
use cudarc::driver::sys::{
    CUdeviceptr, CUfunction, CUfunction_attribute, CUipcMemHandle, CUlaunchAttributeID,
    CUlaunchConfig, CUmodule, CUresult, CUstream,
};

use nix::libc;

use crate::gpu::{Answer, MULTIPROCESSORS, SHARED_BYTES_MAX, call};

fn no_buffer(_: MemoryError) -> CUresult {
    CUresult::CUDA_ERROR_INVALID_VALUE
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize) -> u32 {
    call("cuMemAlloc_v2", |gpu| {
        if bytes == 0 {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let found = gpu.memory.alloc(bytes as u64);
        let found = found.map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        gpu.allocated.insert(found, bytes);
        // SAFETY: the caller's, to be written to, here and in all that follow.
        unsafe { *address = found };
        Ok(())
    })
}

/// The bytes stay where they are until the process ends: the interpreter's memory gives none back.
#[unsafe(no_mangle)]
extern "C" fn cuMemFree_v2(address: CUdeviceptr) -> u32 {
    call("cuMemFree_v2", |gpu| gpu.memory.read(address, 1).map(|_| ()).map_err(no_buffer))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyHtoDAsync_v2(
    to: CUdeviceptr,
    from: *const c_void,
    bytes: usize,
    _: CUstream,
) -> u32 {
    call("cuMemcpyHtoDAsync_v2", |gpu| {
        // SAFETY: so many bytes are there.
        let from = unsafe { from_raw_parts(from.cast(), bytes) };
        gpu.memory.write(to, from).map_err(no_buffer)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuMemcpyDtoHAsync_v2(
    to: *mut c_void,
    from: CUdeviceptr,
    bytes: usize,
    _: CUstream,
) -> u32 {
    call("cuMemcpyDtoHAsync_v2", |gpu| {
        let found = gpu.memory.read(from, bytes as u64).map_err(no_buffer)?;
        // SAFETY: so many bytes may be written.
        unsafe { from_raw_parts_mut(to.cast(), bytes) }.copy_from_slice(found);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemcpyDtoDAsync_v2(
    to: CUdeviceptr,
    from: CUdeviceptr,
    bytes: usize,
    _: CUstream,
) -> u32 {
    call("cuMemcpyDtoDAsync_v2", |gpu| {
        let found = gpu.memory.read(from, bytes as u64).map_err(no_buffer)?.to_vec();
        gpu.memory.write(to, &found).map_err(no_buffer)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuMemsetD8Async(at: CUdeviceptr, value: u8, bytes: usize, _: CUstream) -> u32 {
    call("cuMemsetD8Async", |gpu| gpu.memory.write(at, &vec![value; bytes]).map_err(no_buffer))
}

/// The handle names a segment of System V's shared memory with the bytes as they are now: it is there as long as this
/// process, and needs no file, which an executor could not make.
#[unsafe(no_mangle)]
unsafe extern "C" fn cuIpcGetMemHandle(handle: *mut CUipcMemHandle, address: CUdeviceptr) -> u32 {
    call("cuIpcGetMemHandle", |gpu| {
        let bytes = *gpu.allocated.get(&address).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let found = gpu.memory.read(address, bytes as u64).map_err(no_buffer)?;
        // SAFETY: a new segment of so many bytes, which goes with the last process that has it.
        let segment = unsafe {
            let segment = libc::shmget(libc::IPC_PRIVATE, bytes, 0o600);
            from_raw_parts_mut(attached(segment)?, bytes).copy_from_slice(found);
            libc::shmctl(segment, libc::IPC_RMID, null_mut());
            segment
        };
        let mut reserved = [0; 64];
        let numbers = [segment as u64, bytes as u64].map(u64::to_le_bytes);
        for (to, byte) in reserved.iter_mut().zip(numbers.as_flattened()) {
            *to = c_char::from_ne_bytes([*byte]);
        }
        unsafe { *handle = CUipcMemHandle { reserved } };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuIpcOpenMemHandle_v2(
    address: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    _flags: c_uint,
) -> u32 {
    call("cuIpcOpenMemHandle_v2", |gpu| {
        let bytes = handle.reserved.map(|byte| byte.to_ne_bytes()[0]);
        let number = |at: usize| {
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes")) as usize
        };
        let (segment, bytes) = (number(0) as i32, number(8));
        let at = gpu.memory.alloc(bytes as u64).map_err(|_| CUresult::CUDA_ERROR_OUT_OF_MEMORY)?;
        // SAFETY: so many bytes are there until they are detached.
        unsafe {
            let theirs = attached(segment)?;
            let written = gpu.memory.write(at, from_raw_parts(theirs, bytes)).map_err(no_buffer);
            libc::shmdt(theirs.cast());
            written?;
            *address = at;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuIpcCloseMemHandle(address: CUdeviceptr) -> u32 {
    call("cuIpcCloseMemHandle", |gpu| gpu.memory.read(address, 1).map(|_| ()).map_err(no_buffer))
}

/// # Safety
/// The kernel checks the number; the segment's bytes are nobody else's.
unsafe fn attached(segment: i32) -> Answer<*mut u8> {
    let at = unsafe { libc::shmat(segment, null(), 0) };
    if at.addr() == usize::MAX { Err(CUresult::CUDA_ERROR_INVALID_VALUE) } else { Ok(at.cast()) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleGetFunctionCount(count: *mut c_uint, module: CUmodule) -> u32 {
    call("cuModuleGetFunctionCount", |gpu| {
        let found = gpu.functions.values().filter(|it| it.module == module.addr()).count();
        unsafe { *count = found as c_uint };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuModuleEnumerateFunctions(
    functions: *mut CUfunction,
    count: c_uint,
    module: CUmodule,
) -> u32 {
    call("cuModuleEnumerateFunctions", |gpu| {
        let found = gpu.functions.iter().filter(|(_, it)| it.module == module.addr());
        for (index, (handle, _)) in found.take(count as usize).enumerate() {
            unsafe { *functions.add(index) = without_provenance_mut(*handle) };
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncLoad(function: CUfunction) -> u32 {
    call("cuFuncLoad", |gpu| gpu.function(function.addr()).map(|_| ()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetName(name: *mut *const c_char, function: CUfunction) -> u32 {
    call("cuFuncGetName", |gpu| {
        unsafe { *name = gpu.function(function.addr())?.name.as_ptr() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut i32,
    attribute: CUfunction_attribute,
    function: CUfunction,
) -> u32 {
    call("cuFuncGetAttribute", |gpu| {
        use CUfunction_attribute as A;
        let info = &gpu.function(function.addr())?.info;
        let found = match attribute {
            A::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => u64::from(info.max_threads),
            A::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => info.static_shared_bytes,
            A::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => info.local_bytes,
            A::CU_FUNC_ATTRIBUTE_NUM_REGS => u64::from(info.registers),
            _ => return Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        };
        unsafe { *value = found as i32 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cuFuncSetAttribute(
    function: CUfunction,
    attribute: CUfunction_attribute,
    value: i32,
) -> u32 {
    call("cuFuncSetAttribute", |gpu| {
        let function = gpu.function(function.addr())?;
        let is_shared =
            attribute == CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = u32::try_from(value).map_err(|_| CUresult::CUDA_ERROR_INVALID_VALUE)?;
        let bytes = u64::from(value) + function.info.static_shared_bytes;
        if !is_shared || bytes > u64::from(SHARED_BYTES_MAX) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        function.shared_bytes_max = value;
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    bytes: *mut usize,
) -> u32 {
    call("cuFuncGetParamInfo", |gpu| {
        let params = &gpu.function(function.addr())?.info.params;
        let param = params.get(index).ok_or(CUresult::CUDA_ERROR_INVALID_VALUE)?;
        unsafe {
            *offset = param.offset as usize;
            *bytes = param.bytes as usize;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    function: CUfunction,
    params: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> u32 {
    call("cuLaunchKernelEx", |gpu| {
        // SAFETY: the caller's, to be read.
        let config = unsafe { &*config };
        let grid = [config.gridDimX, config.gridDimY, config.gridDimZ];
        let blocks = grid.iter().fold(1u32, |blocks, size| blocks.saturating_mul(*size));
        // SAFETY: the attributes are as many as the configuration says.
        if unsafe { is_cooperative(config)? } && blocks > MULTIPROCESSORS {
            return Err(CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        let infos = gpu.function(function.addr())?.info.params.clone();
        let args = infos.iter().enumerate().map(|(index, param)| {
            // SAFETY: a pointer for each parameter, to as many bytes as it has.
            let bytes =
                unsafe { from_raw_parts((*params.add(index)).cast::<u8>(), param.bytes as usize) };
            LaunchArg::from(bytes.to_vec())
        });
        let launch = GridLaunch {
            grid,
            block: [config.blockDimX, config.blockDimY, config.blockDimZ],
            dynamic_shared_bytes: u64::from(config.sharedMemBytes),
            args: args.collect(),
        };
        gpu.launch(function.addr(), &launch)
    })
}

/// # Safety
/// The attributes are as many as the configuration says.
unsafe fn is_cooperative(config: &CUlaunchConfig) -> Answer<bool> {
    match config.numAttrs {
        0 => Ok(false),
        1 => {
            // SAFETY: by this function's condition; the value is that of its id.
            let attribute = unsafe { &*config.attrs };
            if attribute.id != CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE {
                return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
            }
            Ok(unsafe { attribute.value.cooperative } == 1)
        }
        _ => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
    }
}
