//! The CUDA driver behind calls that cannot go wrong in C's ways: the only unsafe code of the device.
//!
//! One context of one GPU, used by the thread that made it, with one stream, on which all work is in order.
//! Addresses of the GPU are plain numbers: the GPU checks them, this process never follows one.

mod functions;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUevent, CUfunction, CUipcMemHandle, CUjit_option, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchConfig, CUmodule, CUstream, CUuuid,
};
pub use cudarc::driver::sys::{CUdevice_attribute, CUfunction_attribute, CUlimit};

use uuid::Uuid;

use super::code::DriverCode;
use crate::device::{DeviceProblem, RawLaunch};
use crate::types::KernelParam;
pub use functions::is_installed;
use functions::{Functions, functions};

/// The most bytes of the log of the driver's compiler about an image that it refuses.
const LOG_BYTES_MAX: usize = 16 << 10;
const NAME_BYTES_MAX: usize = 256;
/// The bytes of an allocation's name for other processes.
pub const HANDLE_BYTES: usize = 64;
/// More than any architecture takes.
const PARAMS_MAX: usize = 4096;

type Coded<T> = Result<T, DriverCode>;

fn checked(code: u32) -> Coded<()> {
    if code == 0 { Ok(()) } else { Err(DriverCode(code)) }
}

/// The driver, initialised.
#[derive(Clone, Copy)]
pub struct Driver {
    functions: &'static Functions,
}

/// A GPU of the machine; nothing runs on it.
#[derive(Clone, Copy)]
pub struct DriverGpu {
    driver: Driver,
    device: CUdevice,
}

#[expect(unsafe_code, reason = "calls of the driver")]
impl Driver {
    /// `None` where the driver finds no GPU.
    pub fn start() -> Result<Option<Driver>, DeviceProblem> {
        let driver = Driver { functions: functions()? };
        // SAFETY: 0 is the only flag that there is.
        match checked(unsafe { (driver.functions.cuInit)(0) }) {
            Ok(()) => Ok(Some(driver)),
            Err(code) if code.is_no_device() => Ok(None),
            Err(code) => Err(driver.failed("cuInit", code)),
        }
    }

    /// The name of a code, such as `CUDA_ERROR_ILLEGAL_ADDRESS (700)`.
    pub fn name_of(&self, code: DriverCode) -> String {
        let mut name: *const c_char = null_mut();
        // SAFETY: `name` is written to, with the address of a constant of the driver or with null.
        let found = unsafe { (self.functions.cuGetErrorName)(code.0, &mut name) } == 0;
        if !found || name.is_null() {
            return format!("error {}", code.0);
        }
        // SAFETY: a C string that lives as long as the driver.
        let name = unsafe { CStr::from_ptr(name) };
        format!("{} ({})", name.to_string_lossy(), code.0)
    }

    pub fn failed(&self, what: &str, code: DriverCode) -> DeviceProblem {
        DeviceProblem::Failed(format!("{what}: {}", self.name_of(code)))
    }

    /// The version of CUDA that it supports: 13000 for 13.0.
    pub fn version(&self) -> Result<i32, DeviceProblem> {
        let mut version = 0;
        // SAFETY: `version` is written to.
        let code = unsafe { (self.functions.cuDriverGetVersion)(&mut version) };
        checked(code).map_err(|code| self.failed("cuDriverGetVersion", code))?;
        Ok(version)
    }

    pub fn gpus(&self) -> Result<u32, DeviceProblem> {
        let mut count = 0;
        // SAFETY: `count` is written to.
        let code = unsafe { (self.functions.cuDeviceGetCount)(&mut count) };
        checked(code).map_err(|code| self.failed("cuDeviceGetCount", code))?;
        Ok(u32::try_from(count).unwrap_or(0))
    }

    pub fn gpu(&self, number: u32) -> Result<DriverGpu, DeviceProblem> {
        let mut device = 0;
        let number = i32::try_from(number)
            .map_err(|_| DeviceProblem::Failed(format!("there is no GPU {number}")))?;
        // SAFETY: `device` is written to; a number that is no GPU's gives an error.
        let code = unsafe { (self.functions.cuDeviceGet)(&mut device, number) };
        checked(code).map_err(|code| self.failed(&format!("GPU {number}"), code))?;
        Ok(DriverGpu { driver: *self, device })
    }
}

#[expect(unsafe_code, reason = "calls of the driver")]
impl DriverGpu {
    pub fn name(&self) -> Result<String, DeviceProblem> {
        let mut name = vec![0u8; NAME_BYTES_MAX];
        // SAFETY: so many bytes, less than 2^31, may be written to `name`.
        let code = unsafe {
            (self.driver.functions.cuDeviceGetName)(
                name.as_mut_ptr().cast(),
                NAME_BYTES_MAX as i32,
                self.device,
            )
        };
        checked(code).map_err(|code| self.driver.failed("cuDeviceGetName", code))?;
        Ok(text(&name))
    }

    pub fn uuid(&self) -> Result<String, DeviceProblem> {
        let mut uuid = CUuuid { bytes: [0; 16] };
        // SAFETY: `uuid` is written to.
        let code = unsafe { (self.driver.functions.cuDeviceGetUuid_v2)(&mut uuid, self.device) };
        checked(code).map_err(|code| self.driver.failed("cuDeviceGetUuid", code))?;
        Ok(Uuid::from_bytes(uuid.bytes.map(|byte| byte as u8)).to_string())
    }

    pub fn memory_bytes(&self) -> Result<u64, DeviceProblem> {
        let mut bytes = 0;
        // SAFETY: `bytes` is written to.
        let code = unsafe { (self.driver.functions.cuDeviceTotalMem_v2)(&mut bytes, self.device) };
        checked(code).map_err(|code| self.driver.failed("cuDeviceTotalMem", code))?;
        Ok(bytes as u64)
    }

    /// 0 where the driver does not know it.
    pub fn attribute(&self, attribute: CUdevice_attribute) -> u32 {
        let mut value = 0;
        let get = self.driver.functions.cuDeviceGetAttribute;
        // SAFETY: `value` is written to.
        let code = unsafe { get(&mut value, attribute, self.device) };
        if code == 0 { u32::try_from(value).unwrap_or(0) } else { 0 }
    }
}

/// A module on the GPU and its kernels, which end with it.
pub struct DriverModule {
    module: CUmodule,
    pub kernels: Vec<Kernel>,
}

pub struct Kernel {
    function: CUfunction,
    pub name: String,
    pub params: Vec<KernelParam>,
    /// Dynamic shared memory that it may have; more is asked for when a launch wants it.
    shared_bytes: Cell<u32>,
}

/// The GPU's context: memory, modules and a stream. Raw pointers keep it on its thread.
pub struct DriverContext {
    pub driver: Driver,
    device: CUdevice,
    stream: CUstream,
    begin: CUevent,
    end: CUevent,
}

#[expect(unsafe_code, reason = "calls of the driver")]
impl DriverContext {
    pub fn new(gpu: DriverGpu) -> Result<DriverContext, DeviceProblem> {
        let driver = gpu.driver;
        let calls = driver.functions;
        let failed = |what: &'static str| move |code| driver.failed(what, code);
        let mut context: CUcontext = null_mut();
        // SAFETY: `context` is written to.
        checked(unsafe { (calls.cuDevicePrimaryCtxRetain)(&mut context, gpu.device) })
            .map_err(failed("cuDevicePrimaryCtxRetain"))?;
        // From here on whatever fails releases it.
        let mut made = DriverContext {
            driver,
            device: gpu.device,
            stream: null_mut(),
            begin: null_mut(),
            end: null_mut(),
        };
        // SAFETY: a context that is retained.
        checked(unsafe { (calls.cuCtxSetCurrent)(context) }).map_err(failed("cuCtxSetCurrent"))?;
        // SAFETY: the three handles are written to; 1 is a stream that waits for no other, 0 is an event
        // that measures.
        checked(unsafe { (calls.cuStreamCreate)(&mut made.stream, 1) })
            .map_err(failed("cuStreamCreate"))?;
        checked(unsafe { (calls.cuEventCreate)(&mut made.begin, 0) })
            .map_err(failed("cuEventCreate"))?;
        checked(unsafe { (calls.cuEventCreate)(&mut made.end, 0) })
            .map_err(failed("cuEventCreate"))?;
        Ok(made)
    }

    /// Whether the GPU has such a limit.
    pub fn limit(&self, limit: CUlimit, value: usize) -> Coded<bool> {
        // SAFETY: numbers alone.
        match checked(unsafe { (self.driver.functions.cuCtxSetLimit)(limit, value) }) {
            Ok(()) => Ok(true),
            Err(code) if code.is_unsupported_limit() => Ok(false),
            Err(code) => Err(code),
        }
    }

    /// Lines that were to stay in the cache may go again.
    pub fn forget_persisting(&self) -> Coded<()> {
        // SAFETY: no arguments.
        checked(unsafe { (self.driver.functions.cuCtxResetPersistingL2Cache)() })
    }

    pub fn wait(&self) -> Coded<()> {
        // SAFETY: the stream lives as long as `self`.
        checked(unsafe { (self.driver.functions.cuStreamSynchronize)(self.stream) })
    }

    pub fn alloc(&self, bytes: usize) -> Coded<u64> {
        let mut address = 0;
        // SAFETY: `address` is written to.
        checked(unsafe { (self.driver.functions.cuMemAlloc_v2)(&mut address, bytes) })?;
        Ok(address)
    }

    pub fn free(&self, address: u64) -> Coded<()> {
        // SAFETY: the driver knows what it allocated, and refuses the rest.
        checked(unsafe { (self.driver.functions.cuMemFree_v2)(address) })
    }

    /// Waits: `bytes` are the caller's again afterwards.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Coded<()> {
        let write = self.driver.functions.cuMemcpyHtoDAsync_v2;
        // SAFETY: so many bytes are there to be read, until `wait` has returned.
        let code = unsafe { write(at, bytes.as_ptr().cast(), bytes.len(), self.stream) };
        let waited = self.wait();
        checked(code).and(waited)
    }

    /// Waits.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> Coded<()> {
        let read = self.driver.functions.cuMemcpyDtoHAsync_v2;
        // SAFETY: so many bytes may be written to, until `wait` has returned.
        let code = unsafe { read(bytes.as_mut_ptr().cast(), at, bytes.len(), self.stream) };
        let waited = self.wait();
        checked(code).and(waited)
    }

    pub fn copy(&self, to: u64, from: u64, bytes: usize) -> Coded<()> {
        // SAFETY: both are the GPU's addresses.
        checked(unsafe {
            (self.driver.functions.cuMemcpyDtoDAsync_v2)(to, from, bytes, self.stream)
        })
    }

    /// The name of an allocation for other processes.
    pub fn share(&self, allocation: u64) -> Coded<[u8; HANDLE_BYTES]> {
        let mut handle = CUipcMemHandle { reserved: [0; HANDLE_BYTES] };
        // SAFETY: `handle` is written to; the driver knows what it allocated, and refuses the rest.
        checked(unsafe { (self.driver.functions.cuIpcGetMemHandle)(&mut handle, allocation) })?;
        Ok(handle.reserved.map(|byte| byte.to_ne_bytes()[0]))
    }

    /// Copies from another process's allocation, and waits: it is mapped here for no longer.
    pub fn copy_shared(
        &self,
        to: u64,
        from: [u8; HANDLE_BYTES],
        offset: u64,
        bytes: usize,
    ) -> Coded<()> {
        let calls = self.driver.functions;
        let handle = CUipcMemHandle { reserved: from.map(|byte| c_char::from_ne_bytes([byte])) };
        let mut mapped = 0;
        // SAFETY: `mapped` is written to; the driver refuses what is no handle. 1, the only flag, is for a GPU beside this.
        checked(unsafe { (calls.cuIpcOpenMemHandle_v2)(&mut mapped, handle, 1) })?;
        let copied = self.copy(to, mapped + offset, bytes).and_then(|()| self.wait());
        // SAFETY: it was mapped above, and nothing uses it after this.
        let closed = checked(unsafe { (calls.cuIpcCloseMemHandle)(mapped) });
        copied.and(closed)
    }

    pub fn set(&self, at: u64, bytes: usize, value: u8) -> Coded<()> {
        // SAFETY: the GPU's address.
        checked(unsafe { (self.driver.functions.cuMemsetD8Async)(at, value, bytes, self.stream) })
    }

    pub fn begin(&self) -> Coded<()> {
        // SAFETY: event and stream live as long as `self`.
        checked(unsafe { (self.driver.functions.cuEventRecord)(self.begin, self.stream) })
    }

    /// Milliseconds since `begin`, once all is done.
    pub fn end(&self) -> Coded<f32> {
        let calls = self.driver.functions;
        // SAFETY: as in `begin`.
        checked(unsafe { (calls.cuEventRecord)(self.end, self.stream) })?;
        self.wait()?;
        let mut milliseconds = 0.0;
        // SAFETY: `milliseconds` is written to; both events are complete.
        checked(unsafe { (calls.cuEventElapsedTime)(&mut milliseconds, self.begin, self.end) })?;
        Ok(milliseconds)
    }

    /// With the code comes what the driver's compiler said.
    pub fn load(
        &self,
        image: &super::image::CheckedImage,
    ) -> Result<DriverModule, (DriverCode, String)> {
        let mut log = vec![0u8; LOG_BYTES_MAX];
        let mut options = [
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
            CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
        ];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), without_provenance_mut(LOG_BYTES_MAX)];
        let mut module: CUmodule = null_mut();
        // SAFETY: the image ends within its bytes; two options with two values, the second a number in
        // the place of a pointer, as the driver wants it; the log has so many bytes.
        let code = unsafe {
            (self.driver.functions.cuModuleLoadDataEx)(
                &mut module,
                image.bytes().as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        checked(code).map_err(|code| (code, text(&log)))?;
        self.kernels(module).map(|kernels| DriverModule { module, kernels }).map_err(|code| {
            // SAFETY: nobody else knows the module.
            unsafe { (self.driver.functions.cuModuleUnload)(module) };
            (code, String::new())
        })
    }

    /// Its kernels go with it.
    pub fn unload(&self, module: DriverModule) -> Coded<()> {
        // SAFETY: it was loaded, and is not used after this.
        checked(unsafe { (self.driver.functions.cuModuleUnload)(module.module) })
    }

    fn kernels(&self, module: CUmodule) -> Coded<Vec<Kernel>> {
        let calls = self.driver.functions;
        let mut count: c_uint = 0;
        // SAFETY: `count` is written to.
        checked(unsafe { (calls.cuModuleGetFunctionCount)(&mut count, module) })?;
        let mut handles: Vec<CUfunction> = vec![null_mut(); count as usize];
        // SAFETY: so many handles may be written to.
        checked(unsafe {
            (calls.cuModuleEnumerateFunctions)(handles.as_mut_ptr(), count, module)
        })?;
        handles.into_iter().map(|handle| self.kernel(handle)).collect()
    }

    /// `function` is a module's that is loaded.
    fn kernel(&self, function: CUfunction) -> Coded<Kernel> {
        let calls = self.driver.functions;
        // SAFETY: by this function's condition. Loaded now, it is not loaded while something is timed.
        checked(unsafe { (calls.cuFuncLoad)(function) })?;
        let mut name: *const c_char = null_mut();
        // SAFETY: `name` is written to, with the address of a C string that lives as long as the module.
        checked(unsafe { (calls.cuFuncGetName)(&mut name, function) })?;
        // SAFETY: that address.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned();
        let mut params = Vec::new();
        for index in 0..PARAMS_MAX {
            let (mut offset, mut bytes) = (0, 0);
            // SAFETY: both numbers are written to; an index behind the last one gives an error.
            let code =
                unsafe { (calls.cuFuncGetParamInfo)(function, index, &mut offset, &mut bytes) };
            match checked(code) {
                Ok(()) => params.push(KernelParam { offset: offset as u32, bytes: bytes as u32 }),
                Err(code) if code.is_invalid_value() => break,
                Err(code) => return Err(code),
            }
        }
        Ok(Kernel { function, name, params, shared_bytes: Cell::new(0) })
    }

    pub fn attribute(&self, kernel: &Kernel, attribute: CUfunction_attribute) -> Coded<u32> {
        let mut value = 0;
        // SAFETY: `value` is written to; the kernel's module is loaded, or there would be no reference.
        checked(unsafe {
            (self.driver.functions.cuFuncGetAttribute)(&mut value, attribute, kernel.function)
        })?;
        Ok(u32::try_from(value).unwrap_or(0))
    }

    fn allow_shared(&self, kernel: &Kernel, bytes: u32) -> Coded<()> {
        if bytes <= kernel.shared_bytes.get() {
            return Ok(());
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let value = i32::try_from(bytes).unwrap_or(i32::MAX);
        // SAFETY: as in `attribute`.
        checked(unsafe {
            (self.driver.functions.cuFuncSetAttribute)(kernel.function, attribute, value)
        })?;
        kernel.shared_bytes.set(bytes);
        Ok(())
    }

    /// The arguments must be as many and as long as the kernel's parameters.
    pub fn launch(&self, kernel: &Kernel, launch: &RawLaunch) -> Coded<()> {
        let fits = |(arg, param): (&Vec<u8>, &KernelParam)| arg.len() == param.bytes as usize;
        assert!(
            launch.args.len() == kernel.params.len()
                && launch.args.iter().zip(&kernel.params).all(fits),
            "arguments are checked before"
        );
        self.allow_shared(kernel, launch.dynamic_shared_bytes)?;
        let mut cooperative = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            // SAFETY: a union of plain numbers, of which all zeroes are valid.
            value: unsafe { std::mem::zeroed() },
        };
        cooperative.value.cooperative = 1;
        let config = CUlaunchConfig {
            gridDimX: launch.grid.x,
            gridDimY: launch.grid.y,
            gridDimZ: launch.grid.z,
            blockDimX: launch.block.x,
            blockDimY: launch.block.y,
            blockDimZ: launch.block.z,
            sharedMemBytes: launch.dynamic_shared_bytes,
            hStream: self.stream,
            attrs: &mut cooperative,
            numAttrs: c_uint::from(launch.cooperative),
        };
        let mut args: Vec<*mut c_void> =
            launch.args.iter().map(|arg| arg.as_ptr().cast_mut().cast()).collect();
        // SAFETY: the driver reads the bytes of each argument before it returns, as many as the
        // parameters have, which is as many as there are.
        checked(unsafe {
            (self.driver.functions.cuLaunchKernelEx)(
                &config,
                kernel.function,
                args.as_mut_ptr(),
                null_mut(),
            )
        })
    }
}

#[expect(unsafe_code, reason = "calls of the driver")]
impl Drop for DriverContext {
    /// Ignores errors: a failure here has a cause that was reported before, and the process is about to end.
    fn drop(&mut self) {
        let calls = self.driver.functions;
        // SAFETY: all of them were made by `new`, or are null, and are not used after this.
        unsafe {
            for event in [self.begin, self.end] {
                if !event.is_null() {
                    (calls.cuEventDestroy_v2)(event);
                }
            }
            if !self.stream.is_null() {
                (calls.cuStreamDestroy_v2)(self.stream);
            }
            (calls.cuDevicePrimaryCtxRelease_v2)(self.device);
        }
    }
}

/// Up to the first zero.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_owned()
}
