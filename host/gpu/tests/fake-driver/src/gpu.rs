//! The GPU that is none, and how every call comes to it.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use assay_ptx::{
    FaultKind, LaunchError, LoadedModule, Memory, PtxKernelInfo, PtxModule, StepBudget,
};
use cudarc::driver::sys::CUresult;

pub const MEMORY_BYTES: u64 = 1 << 30;
pub const MULTIPROCESSORS: u32 = 4;
pub const SHARED_BYTES_PLAIN: u32 = 48 << 10;
pub const SHARED_BYTES_MAX: u32 = 227 << 10;

pub type Answer<T> = Result<T, CUresult>;

pub struct Function {
    pub module: usize,
    pub info: PtxKernelInfo,
    pub name: CString,
    pub shared_bytes_max: u32,
}

pub struct Gpu {
    pub memory: Memory,
    /// The bytes of each allocation, by its address.
    pub allocated: BTreeMap<u64, usize>,
    /// By their numbers; those that were unloaded are gone.
    modules: BTreeMap<usize, LoadedModule>,
    pub functions: BTreeMap<usize, Function>,
    pub events: Vec<Option<Instant>>,
    /// The error of a kernel that broke the context; no later call of it succeeds.
    broken: Option<CUresult>,
    initialised: bool,
    last_number: usize,
    errors: Vec<Injected>,
}

struct Injected {
    function: String,
    code: u32,
    calls_before: u32,
}

static GPU: LazyLock<Mutex<Gpu>> = LazyLock::new(|| {
    Mutex::new(Gpu {
        memory: Memory::new(MEMORY_BYTES),
        allocated: BTreeMap::new(),
        modules: BTreeMap::new(),
        functions: BTreeMap::new(),
        events: Vec::new(),
        broken: None,
        initialised: false,
        last_number: 0,
        errors: injected(&errors()),
    })
});

/// An executor does not have its test's variable, but the folder in which it finds the library.
fn errors() -> String {
    let folder = || std::env::var_os("LD_LIBRARY_PATH").map(PathBuf::from);
    let in_folder = || std::fs::read_to_string(folder()?.join("errors")).ok();
    std::env::var("FAKE_CUDA_ERROR").ok().or_else(in_folder).unwrap_or_default()
}

fn injected(text: &str) -> Vec<Injected> {
    let number = |text: Option<&str>| text.and_then(|text| text.parse().ok());
    let mut found = Vec::new();
    for error in text.split(',').filter(|error| !error.is_empty()) {
        let mut parts = error.split(':');
        let function = parts.next().unwrap_or_default().to_owned();
        let code = number(parts.next()).expect("FAKE_CUDA_ERROR has function:code");
        found.push(Injected { function, code, calls_before: number(parts.next()).unwrap_or(0) });
    }
    found
}

/// The checks that begin every call of the driver: errors that a test injects, and the state of the
/// context.
fn enter(function: &str) -> Result<MutexGuard<'static, Gpu>, u32> {
    let mut gpu = GPU.lock().unwrap_or_else(PoisonError::into_inner);
    for error in gpu.errors.iter_mut().filter(|error| error.function == function) {
        if error.calls_before == 0 {
            return Err(error.code);
        }
        error.calls_before -= 1;
    }
    match function {
        "cuInit" => gpu.initialised = true,
        "cuGetErrorName" | "cuDriverGetVersion" => {}
        _ if !gpu.initialised => return Err(CUresult::CUDA_ERROR_NOT_INITIALIZED as u32),
        _ => {
            if let Some(code) = gpu.broken {
                return Err(code as u32);
            }
        }
    }
    Ok(gpu)
}

/// A call by its name; the code that it gives.
pub fn call(function: &str, work: impl FnOnce(&mut Gpu) -> Answer<()>) -> u32 {
    match enter(function) {
        Err(code) => code,
        Ok(mut gpu) => work(&mut gpu).err().unwrap_or(CUresult::CUDA_SUCCESS) as u32,
    }
}

impl Gpu {
    fn number(&mut self) -> usize {
        self.last_number += 1;
        self.last_number
    }

    /// With the code comes what the compiler says.
    pub fn load(&mut self, text: &str) -> Result<usize, (CUresult, String)> {
        let module = PtxModule::parse(text)
            .map_err(|error| (CUresult::CUDA_ERROR_INVALID_PTX, error.to_string()))?;
        let module = Arc::new(module);
        let loaded = self
            .memory
            .load(&module)
            .map_err(|error| (CUresult::CUDA_ERROR_OUT_OF_MEMORY, error.to_string()))?;
        let number = self.number();
        for info in module.kernels() {
            let function = Function {
                module: number,
                info: info.clone(),
                name: CString::new(info.name.as_str()).expect("PTX has no zeroes"),
                shared_bytes_max: SHARED_BYTES_PLAIN,
            };
            let handle = self.number();
            self.functions.insert(handle, function);
        }
        self.modules.insert(number, loaded);
        Ok(number)
    }

    pub fn unload(&mut self, module: usize) -> Answer<()> {
        self.modules.remove(&module).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        self.functions.retain(|_, function| function.module != module);
        Ok(())
    }

    pub fn function(&mut self, handle: usize) -> Answer<&mut Function> {
        self.functions.get_mut(&handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)
    }

    /// An endless kernel is endless here as well.
    pub fn launch(&mut self, handle: usize, launch: &assay_ptx::GridLaunch) -> Answer<()> {
        let function = self.functions.get(&handle).ok_or(CUresult::CUDA_ERROR_INVALID_HANDLE)?;
        if launch.dynamic_shared_bytes > u64::from(function.shared_bytes_max) {
            return Err(CUresult::CUDA_ERROR_INVALID_VALUE);
        }
        let module = &self.modules[&function.module];
        let mut budget = StepBudget { steps: u64::MAX };
        let done =
            assay_ptx::launch(module, &function.info.name, launch, &mut self.memory, &mut budget);
        match done {
            Ok(_) => Ok(()),
            Err(LaunchError::Fault(fault)) => {
                // The launch itself went well: what follows it does not.
                self.broken = Some(meaning(&fault.kind));
                Ok(())
            }
            Err(_) => Err(CUresult::CUDA_ERROR_INVALID_VALUE),
        }
    }
}

fn meaning(fault: &FaultKind) -> CUresult {
    match fault {
        FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } | FaultKind::Null { .. } => {
            CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        }
        FaultKind::Misaligned { .. } => CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
        _ => CUresult::CUDA_ERROR_LAUNCH_FAILED,
    }
}
