//! The simulated device: it runs PTX in [`assay_ptx`]. It measures no time, and its results depend on its input alone.

use std::io::Write as _;
use std::sync::Arc;

use assay_core::limits::{GPU_SIMULATED_MEMORY_BYTES_MAX, GPU_SIMULATED_STEPS_PER_MS};
use assay_ptx::{
    FaultKind, GridLaunch, LaunchArg, LaunchError, LoadedModule, Memory, MemoryError, PtxModule,
    StepBudget,
};

use crate::compare;
use crate::device::{
    BufferComparison, Compared, Device, DeviceProblem, Fill, Properties, RawLaunch,
};
use crate::fill;
use crate::types::{KernelInfo, KernelParam};

/// Its name as an architecture of compilers.
pub const ARCH: &str = "compute_90";

/// The lane-instructions that a kernel may run if no limit was set.
const STEPS_AT_FIRST: u64 = 1_000 * GPU_SIMULATED_STEPS_PER_MS;

/// The interpreter of PTX as a device.
#[derive(Debug)]
pub struct SimulatedDevice {
    properties: Properties,
    memory: Memory,
    modules: Vec<LoadedModule>,
    budget: StepBudget,
}

impl Default for SimulatedDevice {
    fn default() -> Self {
        let properties = Properties {
            name: "simulated".into(),
            uuid: String::new(),
            arch: ARCH.into(),
            driver: String::new(),
            multiprocessors: 1,
            clock_khz: 0,
            memory_bytes: GPU_SIMULATED_MEMORY_BYTES_MAX,
            l2_bytes: 0,
            shared_bytes_max: assay_ptx::limits::SHARED_BYTES_MAX as u32,
            peak_bytes_per_s: 0,
            reaches_host_memory: false,
            simulated: true,
        };
        Self {
            properties,
            memory: Memory::new(GPU_SIMULATED_MEMORY_BYTES_MAX),
            modules: Vec::new(),
            budget: StepBudget { steps: STEPS_AT_FIRST },
        }
    }
}

impl SimulatedDevice {
    fn module(&self, module: u32) -> Result<&LoadedModule, DeviceProblem> {
        let found = self.modules.get(module as usize);
        found.ok_or_else(|| DeviceProblem::Failed(format!("there is no module {module}")))
    }
}

impl Device for SimulatedDevice {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn load(&mut self, image: &[u8]) -> Result<u32, DeviceProblem> {
        // NVRTC ends its text with a NUL.
        let text = image.strip_suffix(&[0]).unwrap_or(image);
        let text = match std::str::from_utf8(text) {
            Ok(text) if !text.contains('\0') => text,
            _ => {
                return Err(DeviceProblem::ImageRejected(format!(
                    "it is not a text: a simulated device takes PTX, so compile for {ARCH}"
                )));
            }
        };
        let module = PtxModule::parse(text).map_err(|error| match error.problem {
            assay_ptx::ParseProblem::Unsupported(_) => {
                DeviceProblem::Unsupported(error.to_string())
            }
            assay_ptx::ParseProblem::Limit(..) => DeviceProblem::Limit(error.to_string()),
            assay_ptx::ParseProblem::Syntax(_) | assay_ptx::ParseProblem::Unknown(_) => {
                DeviceProblem::ImageRejected(error.to_string())
            }
        })?;
        self.modules.push(self.memory.load(&Arc::new(module)).map_err(memory_problem)?);
        Ok(self.modules.len() as u32 - 1)
    }

    fn kernels(&mut self, module: u32) -> Result<Vec<KernelInfo>, DeviceProblem> {
        let described = |info: &assay_ptx::module::PtxKernelInfo| KernelInfo {
            name: info.name.clone(),
            params: info
                .params
                .iter()
                .map(|param| KernelParam { offset: param.offset as u32, bytes: param.bytes as u32 })
                .collect(),
            // PTX does not say how many real registers a kernel takes.
            registers: 0,
            static_shared_bytes: info.static_shared_bytes as u32,
            local_bytes: info.local_bytes as u32,
            threads_max: info.max_threads,
        };
        Ok(self.module(module)?.module().kernels().iter().map(described).collect())
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, DeviceProblem> {
        self.memory.alloc(bytes).map_err(memory_problem)
    }

    fn reset(&mut self) -> Result<(), DeviceProblem> {
        self.memory = Memory::new(GPU_SIMULATED_MEMORY_BYTES_MAX);
        self.modules.clear();
        self.budget = StepBudget { steps: STEPS_AT_FIRST };
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), DeviceProblem> {
        self.memory.write(at, bytes).map_err(memory_problem)
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), DeviceProblem> {
        let found = self.memory.read(at, bytes.len() as u64).map_err(memory_problem)?;
        bytes.copy_from_slice(found);
        Ok(())
    }

    fn set(&mut self, at: u64, bytes: u64, value: u8) -> Result<(), DeviceProblem> {
        self.memory.bytes_mut(at, bytes).map_err(memory_problem)?.fill(value);
        Ok(())
    }

    fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), DeviceProblem> {
        let copied = self.memory.read(from, bytes).map_err(memory_problem)?.to_vec();
        self.write(to, &copied)
    }

    fn fill(&mut self, at: u64, fill: &Fill) -> Result<(), DeviceProblem> {
        let bytes = fill.count * fill.dtype.bytes();
        fill::fill(fill, self.memory.bytes_mut(at, bytes).map_err(memory_problem)?);
        Ok(())
    }

    fn compare(&mut self, compared: &Compared) -> Result<BufferComparison, DeviceProblem> {
        let Compared { got, want, poison, tolerance } = compared;
        let bytes = poison.count * poison.dtype.bytes();
        let got = self.memory.read(*got, bytes).map_err(memory_problem)?;
        let want = self.memory.read(*want, bytes).map_err(memory_problem)?;
        Ok(compare::compare(got, want, poison, tolerance))
    }

    fn equal(&mut self, one: u64, other: u64, bytes: u64) -> Result<bool, DeviceProblem> {
        let one = self.memory.read(one, bytes).map_err(memory_problem)?;
        Ok(one == self.memory.read(other, bytes).map_err(memory_problem)?)
    }

    fn launch(&mut self, module: u32, launch: &RawLaunch) -> Result<(), DeviceProblem> {
        let [grid, block] = [launch.grid, launch.block].map(|size| [size.x, size.y, size.z]);
        if launch.cooperative && grid != [1, 1, 1] {
            return Err(DeviceProblem::Unsupported(
                "cooperative launches of more than one block: a simulated device runs them one after \
                 the other"
                    .into(),
            ));
        }
        let args = launch.args.iter().cloned().map(LaunchArg::from).collect();
        let dynamic_shared_bytes = u64::from(launch.dynamic_shared_bytes);
        let asked = GridLaunch { grid, block, dynamic_shared_bytes, args };
        let Self { memory, modules, budget, .. } = self;
        let loaded = modules.get(module as usize);
        let loaded =
            loaded.ok_or_else(|| DeviceProblem::Failed(format!("there is no module {module}")))?;
        let run = assay_ptx::launch(loaded, &launch.kernel, &asked, memory, budget);
        print(&memory.take_printed())?;
        run.map(|_| ()).map_err(launch_problem)
    }

    fn finish(&mut self) -> Result<(), DeviceProblem> {
        Ok(())
    }

    fn allow(&mut self, steps: u64) {
        self.budget = StepBudget { steps };
    }

    fn allowed(&self) -> u64 {
        self.budget.steps
    }

    fn flush(&mut self) -> Result<(), DeviceProblem> {
        Ok(())
    }

    fn begin(&mut self) -> Result<(), DeviceProblem> {
        Ok(())
    }

    fn end(&mut self) -> Result<Option<u64>, DeviceProblem> {
        Ok(None)
    }
}

/// To the process's standard output, where a driver writes what kernels print.
fn print(text: &[u8]) -> Result<(), DeviceProblem> {
    if text.is_empty() {
        return Ok(());
    }
    let mut output = std::io::stdout().lock();
    let written = output.write_all(text).and_then(|()| output.flush());
    written.map_err(|error| DeviceProblem::Failed(format!("standard output: {error}")))
}

fn memory_problem(error: MemoryError) -> DeviceProblem {
    match error {
        MemoryError::Full { .. } => DeviceProblem::Limit(format!("device memory: {error}")),
        MemoryError::NotABuffer { .. } => DeviceProblem::Failed(error.to_string()),
    }
}

fn launch_problem(error: LaunchError) -> DeviceProblem {
    let words = error.to_string();
    match error {
        LaunchError::NoSuchKernel(kernel) => DeviceProblem::NoSuchKernel(kernel),
        LaunchError::BadArguments(reason) => DeviceProblem::BadArguments(reason),
        LaunchError::InvalidLaunch(reason) => DeviceProblem::InvalidLaunch(reason),
        LaunchError::BudgetExhausted { .. } => DeviceProblem::TimedOut,
        LaunchError::Fault(fault) => match fault.kind {
            FaultKind::OutOfBounds { .. } | FaultKind::ReadOnly { .. } | FaultKind::Null { .. } => {
                DeviceProblem::IllegalAddress(words)
            }
            FaultKind::Misaligned { .. } => DeviceProblem::MisalignedAddress(words),
            FaultKind::BadBarrier { .. }
            | FaultKind::BadMemberMask { .. }
            | FaultKind::WarpIncomplete { .. }
            | FaultKind::BadOperand(_) => DeviceProblem::IllegalInstruction(words),
            FaultKind::Trap => DeviceProblem::Trapped(words),
            // A device would wait for ever.
            FaultKind::BarrierStuck { .. } | FaultKind::LanesMissing { .. } => {
                DeviceProblem::LaunchFailed(words)
            }
        },
    }
}

#[cfg(test)]
mod tests;
