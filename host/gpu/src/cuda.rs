//! A GPU, used through its driver.
//!
//! All work goes to one stream of one context, in order. A later call, [`Device::finish`] at the latest, reports a
//! kernel's error; the context is useless after that, and the process must end. The driver is loaded when a device is
//! made, so a machine without one can do everything else.
//!
//! Only kernels of a candidate run here. Unsafe code is in `driver` alone.

mod code;
mod driver;
mod image;
mod judge;
mod properties;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use assay_core::limits::GPU_PRINTED_BYTES_MAX;

use crate::device::{
    BufferComparison, Compared, Device, DeviceProblem, Fill, Properties, RawLaunch, SharedHandle,
};
use crate::types::{Dim3, KernelInfo};
use code::DriverCode;
use driver::{
    CUfunction_attribute as Attribute, CUlimit, Driver, DriverContext, DriverModule, Kernel,
};
use judge::TrustedKernels;

const ADDRESS_MULTIPLE: u64 = 256;
/// The most kernels that a message names when one of them failed.
const NAMED_MAX: usize = 8;

/// A GPU that this process uses alone.
pub struct CudaDevice {
    properties: Properties,
    judge: TrustedKernels,
    modules: Vec<DriverModule>,
    /// The address and the bytes of each.
    buffers: Vec<(u64, usize)>,
    /// Whether its cache can be told to keep lines.
    persists: bool,
    /// Twice the cache, once it is wanted.
    flushed: Option<u64>,
    /// The kernels since the last time that all was well.
    running: Vec<String>,
    context: DriverContext,
}

/// The GPUs of this machine by their numbers: none where no driver is installed.
pub fn devices() -> Result<Vec<Properties>, DeviceProblem> {
    if !driver::is_installed() {
        return Ok(Vec::new());
    }
    let Some(driver) = Driver::start()? else { return Ok(Vec::new()) };
    (0..driver.gpus()?).map(|number| properties::properties(driver, driver.gpu(number)?)).collect()
}

/// The names in [`environment`].
pub const VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"];

/// All that a process which uses the driver needs of the environment: where its library is, where the
/// system does not know that, and which GPUs there are to be.
pub fn environment() -> impl Iterator<Item = (&'static str, OsString)> {
    VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)))
}

/// The folders of the driver's library beside the system's: where this process looks for it, and where a link there leads.
pub fn library_folders() -> Vec<PathBuf> {
    let folders = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let folders = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
    let with_linked = |folder: PathBuf| {
        let linked = ["libcuda.so", "libcuda.so.1"].map(|name| folder.join(name).canonicalize());
        let linked = linked.into_iter().filter_map(|file| Some(file.ok()?.parent()?.to_owned()));
        let linked: Vec<PathBuf> = linked.collect();
        std::iter::once(folder).chain(linked)
    };
    folders.flat_map(with_linked).collect()
}

/// `assay-gpu devices`: the GPUs as one line of JSON.
pub fn main() -> ExitCode {
    match devices() {
        Ok(devices) => {
            println!("{}", serde_json::json!(devices));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("assay-gpu: {problem}");
            ExitCode::FAILURE
        }
    }
}

impl CudaDevice {
    /// Opens a GPU by its number.
    pub fn open(number: u32) -> Result<CudaDevice, DeviceProblem> {
        let driver = Driver::start()?
            .ok_or_else(|| DeviceProblem::Failed("the CUDA driver finds no GPU".to_owned()))?;
        let gpu = driver.gpu(number)?;
        let properties = properties::properties(driver, gpu)?;
        let context = DriverContext::new(gpu)?;
        let failed = |what: &str, code| driver.failed(what, code);
        context
            .limit(CUlimit::CU_LIMIT_PRINTF_FIFO_SIZE, GPU_PRINTED_BYTES_MAX as usize)
            .map_err(|code| failed("the limit of printf", code))?;
        // No kernel may keep lines in the cache from one trial to the next.
        let persists = context
            .limit(CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0)
            .map_err(|code| failed("the limit of the cache that persists", code))?;
        let judge = TrustedKernels::load(&context, &properties.arch)?;
        Ok(CudaDevice {
            properties,
            judge,
            modules: Vec::new(),
            buffers: Vec::new(),
            persists,
            flushed: None,
            running: Vec::new(),
            context,
        })
    }

    /// An error of work that was ordered now or before.
    fn worked<T>(&self, what: &str, done: Result<T, DriverCode>) -> Result<T, DeviceProblem> {
        done.map_err(|code| code.of_work(self.text(what, code)))
    }

    fn text(&self, what: &str, code: DriverCode) -> String {
        let name = self.context.driver.name_of(code);
        match self.running.as_slice() {
            [] => format!("{what}: {name}"),
            kernels => format!("{name}, of {}", kernels.join(" or ")),
        }
    }

    fn module(&self, module: u32) -> Result<&DriverModule, DeviceProblem> {
        let found = self.modules.get(module as usize);
        found.ok_or_else(|| DeviceProblem::Failed(format!("there is no module {module}")))
    }

    fn info(&self, kernel: &Kernel) -> Result<KernelInfo, DriverCode> {
        let attribute = |attribute| self.context.attribute(kernel, attribute);
        Ok(KernelInfo {
            name: kernel.name.clone(),
            params: kernel.params.clone(),
            registers: attribute(Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS)?,
            static_shared_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            local_bytes: attribute(Attribute::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            threads_max: attribute(Attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        })
    }

    fn check(&self, kernel: &Kernel, launch: &RawLaunch) -> Result<(), DeviceProblem> {
        if launch.args.len() != kernel.params.len() {
            let (given, wanted) = (launch.args.len(), kernel.params.len());
            let reason = format!("{given} given, the kernel has {wanted}");
            return Err(DeviceProblem::BadArguments(reason));
        }
        for (number, (arg, param)) in launch.args.iter().zip(&kernel.params).enumerate() {
            let (given, wanted) = (arg.len(), param.bytes);
            if given != wanted as usize {
                let reason =
                    format!("argument {number} has {given} bytes, the kernel wants {wanted}");
                return Err(DeviceProblem::BadArguments(reason));
            }
        }
        let empty = |size: Dim3| size.x == 0 || size.y == 0 || size.z == 0;
        if empty(launch.grid) || empty(launch.block) {
            let reason = format!("grid {:?}, block {:?}: no size is 0", launch.grid, launch.block);
            return Err(DeviceProblem::InvalidLaunch(reason));
        }
        let (shared, shared_max) = (launch.dynamic_shared_bytes, self.properties.shared_bytes_max);
        if shared > shared_max {
            let reason = format!("{shared} bytes of shared memory, there are {shared_max}");
            return Err(DeviceProblem::InvalidLaunch(reason));
        }
        Ok(())
    }
}

impl Device for CudaDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn load(&mut self, image: &[u8]) -> Result<u32, DeviceProblem> {
        let image = image::checked(image)?;
        let module = self.context.load(&image).map_err(|(code, log)| {
            let name = self.context.driver.name_of(code);
            code.of_image(if log.is_empty() { name } else { format!("{name}: {log}") })
        })?;
        self.modules.push(module);
        Ok(self.modules.len() as u32 - 1)
    }

    fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, DeviceProblem> {
        let module = self.module(module)?;
        let infos = module.kernels.iter().map(|kernel| self.info(kernel));
        self.worked("the kernels of a module", infos.collect())
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceProblem> {
        let size = usize::try_from(bytes.max(1)).unwrap_or(usize::MAX);
        let address = self.worked(&format!("{bytes} bytes of memory"), self.context.alloc(size))?;
        self.buffers.push((address, size));
        if !address.is_multiple_of(ADDRESS_MULTIPLE) {
            return Err(DeviceProblem::Failed(format!(
                "a buffer at {address:#x}, which is not aligned"
            )));
        }
        Ok(address)
    }

    fn reset(&mut self) -> Result<(), DeviceProblem> {
        self.finish()?;
        // The driver gives the same memory out again as it is, and the next session may be another tenant's: its kernels
        // must not find there what this one had.
        for (address, bytes) in &self.buffers {
            self.worked("emptying memory", self.context.set(*address, *bytes, 0))?;
        }
        self.judge.forget(&self.context)?;
        self.finish()?;
        for (address, _) in std::mem::take(&mut self.buffers) {
            self.worked("giving memory back", self.context.free(address))?;
        }
        for module in std::mem::take(&mut self.modules) {
            self.worked("unloading a module", self.context.unload(module))?;
        }
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), DeviceProblem> {
        self.worked("a write", self.context.write(at, bytes))
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceProblem> {
        self.worked("a read", self.context.read(at, bytes))
    }

    fn set(&mut self, at: u64, bytes: u64, value: u8) -> Result<(), DeviceProblem> {
        self.worked("a set", self.context.set(at, bytes as usize, value))
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceProblem> {
        self.worked("a copy", self.context.copy(to, from, bytes as usize))
    }

    fn share(&mut self, allocation: u64) -> Option<SharedHandle> {
        // A driver that cannot says so in one of several ways; an earlier error comes out of the next call as well.
        let handle = self.context.share(allocation).ok()?;
        Some(SharedHandle(handle.to_vec().into()))
    }

    fn copy_shared(
        &mut self,
        to: u64,
        from: &SharedHandle,
        offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceProblem> {
        let handle = from.0.as_slice().try_into();
        let handle = handle.map_err(|_| DeviceProblem::Failed("no handle of memory".into()))?;
        let copied = self.context.copy_shared(to, handle, offset, bytes as usize);
        // No kernel of this process has to do with it.
        copied.map_err(|code| self.context.driver.failed("memory of another process", code))
    }

    fn fill(&mut self, at: u64, fill: &Fill) -> Result<(), DeviceProblem> {
        self.judge.fill(&self.context, at, fill)
    }

    fn compare(&mut self, compared: &Compared) -> Result<BufferComparison, DeviceProblem> {
        self.judge.compare(&self.context, compared)
    }

    fn equal(&mut self, one: u64, other: u64, bytes: u64) -> Result<bool, DeviceProblem> {
        self.judge.equal(&self.context, one, other, bytes)
    }

    fn launch(&mut self, module: u32, launch: &RawLaunch) -> Result<(), DeviceProblem> {
        let found = self.module(module)?.kernels.iter().find(|it| it.name == launch.kernel);
        let kernel = found.ok_or_else(|| DeviceProblem::NoSuchKernel(launch.kernel.clone()))?;
        self.check(kernel, launch)?;
        let done = self.context.launch(kernel, launch);
        if !self.running.contains(&launch.kernel) && self.running.len() < NAMED_MAX {
            self.running.push(launch.kernel.clone());
        }
        done.map_err(|code| code.of_launch(self.text("a launch", code)))
    }

    fn finish(&mut self) -> Result<(), DeviceProblem> {
        self.worked("what was to be done", self.context.wait())?;
        self.running.clear();
        Ok(())
    }

    /// A GPU knows time; its process is ended when that is up.
    fn allow(&mut self, _steps: u64) {}

    fn flush(&mut self) -> Result<(), DeviceProblem> {
        if self.persists {
            self.worked("resetting the cache", self.context.forget_persisting())?;
        }
        let bytes = self.properties.l2_bytes * 2;
        if bytes == 0 {
            return Ok(());
        }
        let at = match self.flushed {
            Some(at) => at,
            None => {
                // It is the judge's, so that a GPU without room for it is no limit of a kernel's.
                let made = self.context.alloc(bytes as usize).map_err(|code| {
                    let what = "memory that the cache is flushed with";
                    DeviceProblem::Failed(self.text(what, code))
                })?;
                *self.flushed.insert(made)
            }
        };
        self.judge.flush(&self.context, at, bytes)
    }

    fn begin(&mut self) -> Result<(), DeviceProblem> {
        self.worked("an event", self.context.begin())
    }

    fn end(&mut self) -> Result<Option<u64>, DeviceProblem> {
        let milliseconds = self.worked("an event", self.context.end())?;
        Ok(Some((f64::from(milliseconds) * 1e6).round() as u64))
    }
}
