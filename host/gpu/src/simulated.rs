//! A device that is none: runs PTX in [`assay_ptx`]. It knows no time, and what it does depends on what
//! it is told alone.

use std::sync::Arc;

use assay_model::limits::{GPU_SIMULATED_MEMORY_BYTES_MAX, GPU_SIMULATED_STEPS_PER_MS};
use assay_ptx::{Arg, Budget, FaultKind, Launch, LaunchError, Loaded, Memory, MemoryError, Module};

use crate::compare;
use crate::device::{Compared, Comparison, Device, Fill, Problem, Properties, RawLaunch};
use crate::fill;
use crate::types::{KernelInfo, Param};

/// What it calls itself, as a compiler's architecture.
pub const ARCH: &str = "compute_90";

/// Lane-instructions that a kernel may run where nobody has allowed it anything.
const STEPS_AT_FIRST: u64 = 1_000 * GPU_SIMULATED_STEPS_PER_MS;

#[derive(Debug)]
pub struct Simulated {
    properties: Properties,
    memory: Memory,
    modules: Vec<Loaded>,
    budget: Budget,
}

impl Default for Simulated {
    fn default() -> Self {
        let properties = Properties {
            name: "simulated".into(),
            arch: ARCH.into(),
            driver: String::new(),
            multiprocessors: 1,
            clock_khz: 0,
            memory_bytes: GPU_SIMULATED_MEMORY_BYTES_MAX,
            l2_bytes: 0,
            shared_bytes_max: assay_ptx::limits::SHARED_BYTES_MAX as u32,
            peak_bytes_per_s: 0,
            simulated: true,
        };
        Self {
            properties,
            memory: Memory::new(GPU_SIMULATED_MEMORY_BYTES_MAX),
            modules: Vec::new(),
            budget: Budget { steps: STEPS_AT_FIRST },
        }
    }
}

impl Simulated {
    fn module(&self, module: u32) -> Result<&Loaded, Problem> {
        let found = self.modules.get(module as usize);
        found.ok_or_else(|| Problem::Failed(format!("there is no module {module}")))
    }
}

impl Device for Simulated {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn load(&mut self, image: &[u8]) -> Result<u32, Problem> {
        // The run-time compiler ends its text as C does.
        let text = image.strip_suffix(&[0]).unwrap_or(image);
        let text = match std::str::from_utf8(text) {
            Ok(text) if !text.contains('\0') => text,
            _ => {
                return Err(Problem::ImageRejected(format!(
                    "it is no text: a simulated device takes PTX, so compile for {ARCH}"
                )));
            }
        };
        let module = Module::parse(text).map_err(|error| match error.problem {
            assay_ptx::Problem::Unsupported(_) => Problem::Unsupported(error.to_string()),
            assay_ptx::Problem::Limit(..) => Problem::Limit(error.to_string()),
            assay_ptx::Problem::Syntax(_) | assay_ptx::Problem::Unknown(_) => {
                Problem::ImageRejected(error.to_string())
            }
        })?;
        self.modules.push(self.memory.load(&Arc::new(module)).map_err(memory_problem)?);
        Ok(self.modules.len() as u32 - 1)
    }

    fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, Problem> {
        let described = |info: &assay_ptx::module::KernelInfo| KernelInfo {
            name: info.name.clone(),
            params: info
                .params
                .iter()
                .map(|param| Param { offset: param.offset as u32, bytes: param.bytes as u32 })
                .collect(),
            // PTX counts no real ones.
            registers: 0,
            static_shared_bytes: info.static_shared_bytes as u32,
            local_bytes: info.local_bytes as u32,
            threads_max: info.max_threads,
        };
        Ok(self.module(module)?.module().kernels().iter().map(described).collect())
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, Problem> {
        self.memory.alloc(bytes).map_err(memory_problem)
    }

    fn reset(&mut self) -> Result<(), Problem> {
        self.memory = Memory::new(GPU_SIMULATED_MEMORY_BYTES_MAX);
        self.modules.clear();
        self.budget = Budget { steps: STEPS_AT_FIRST };
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Problem> {
        self.memory.write(at, bytes).map_err(memory_problem)
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Problem> {
        let found = self.memory.read(at, bytes.len() as u64).map_err(memory_problem)?;
        bytes.copy_from_slice(found);
        Ok(())
    }

    fn set(&mut self, at: u64, bytes: u64, value: u8) -> Result<(), Problem> {
        self.memory.bytes_mut(at, bytes).map_err(memory_problem)?.fill(value);
        Ok(())
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Problem> {
        let copied = self.memory.read(from, bytes).map_err(memory_problem)?.to_vec();
        self.write(to, &copied)
    }

    fn fill(&mut self, at: u64, fill: &Fill) -> Result<(), Problem> {
        let bytes = fill.count * fill.dtype.bytes();
        fill::fill(fill, self.memory.bytes_mut(at, bytes).map_err(memory_problem)?);
        Ok(())
    }

    fn compare(&mut self, compared: &Compared) -> Result<Comparison, Problem> {
        let Compared { got, want, poison, tolerance } = compared;
        let bytes = poison.count * poison.dtype.bytes();
        let got = self.memory.read(*got, bytes).map_err(memory_problem)?;
        let want = self.memory.read(*want, bytes).map_err(memory_problem)?;
        Ok(compare::compare(got, want, poison, tolerance))
    }

    fn equal(&mut self, one: u64, other: u64, bytes: u64) -> Result<bool, Problem> {
        let one = self.memory.read(one, bytes).map_err(memory_problem)?;
        Ok(one == self.memory.read(other, bytes).map_err(memory_problem)?)
    }

    fn launch(&mut self, module: u32, launch: &RawLaunch) -> Result<(), Problem> {
        let [grid, block] = [launch.grid, launch.block].map(|size| [size.x, size.y, size.z]);
        if launch.cooperative && grid != [1, 1, 1] {
            return Err(Problem::Unsupported(
                "cooperative launches of more than one block: a simulated device runs them one after \
                 the other"
                    .into(),
            ));
        }
        let args = launch.args.iter().cloned().map(Arg::from).collect();
        let dynamic_shared_bytes = u64::from(launch.dynamic_shared_bytes);
        let asked = Launch { grid, block, dynamic_shared_bytes, args };
        let Self { memory, modules, budget, .. } = self;
        let loaded = modules.get(module as usize);
        let loaded =
            loaded.ok_or_else(|| Problem::Failed(format!("there is no module {module}")))?;
        let run = assay_ptx::launch(loaded, &launch.kernel, &asked, memory, budget);
        run.map(|_| ()).map_err(launch_problem)
    }

    fn finish(&mut self) -> Result<(), Problem> {
        Ok(())
    }

    fn allow(&mut self, steps: u64) {
        self.budget = Budget { steps };
    }

    fn allowed(&self) -> u64 {
        self.budget.steps
    }

    fn flush(&mut self) -> Result<(), Problem> {
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Problem> {
        Ok(())
    }

    fn end(&mut self) -> Result<Option<u64>, Problem> {
        Ok(None)
    }
}

fn memory_problem(error: MemoryError) -> Problem {
    match error {
        MemoryError::Full { .. } => Problem::Limit(format!("device memory: {error}")),
        MemoryError::NotABuffer { .. } => Problem::Failed(error.to_string()),
    }
}

fn launch_problem(error: LaunchError) -> Problem {
    let words = error.to_string();
    match error {
        LaunchError::NoSuchKernel(kernel) => Problem::NoSuchKernel(kernel),
        LaunchError::BadArguments(reason) => Problem::BadArguments(reason),
        LaunchError::InvalidLaunch(reason) => Problem::InvalidLaunch(reason),
        LaunchError::BudgetExhausted { .. } => Problem::TimedOut,
        LaunchError::Fault(fault) => match fault.kind {
            FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } | FaultKind::Null { .. } => {
                Problem::IllegalAddress(words)
            }
            FaultKind::Misaligned { .. } => Problem::MisalignedAddress(words),
            FaultKind::BadBarrier { .. } | FaultKind::BadMemberMask { .. } => {
                Problem::IllegalInstruction(words)
            }
            FaultKind::Trap => Problem::Trapped(words),
            // A device would wait for ever.
            FaultKind::BarrierStuck { .. } | FaultKind::LanesMissing { .. } => {
                Problem::LaunchFailed(words)
            }
        },
    }
}

#[cfg(test)]
mod tests;
