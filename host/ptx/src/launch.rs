//! A launch: checked against the kernel and the limits, then run block after block.

mod access;
mod arithmetic;
mod block;
mod collective;
mod copies;
mod matrix;
mod print;
mod warp;

use crate::error::{KernelFault, LaunchError};
use crate::launch::block::{BarrierArrivals, BlockContext, ThreadBlock};
use crate::launch::warp::EarlyEnd;
use crate::limits::{BLOCK_SIZE_MAX, GRID_SIZE_MAX, SHARED_BYTES_MAX};
use crate::memory::{LoadedModule, Memory};
use crate::module::PtxKernelInfo;

/// An argument as its bytes: those of a number, an address, or a struct by value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchArg(Vec<u8>);

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for LaunchArg {
            fn from(number: $number) -> LaunchArg {
                LaunchArg(number.to_le_bytes().to_vec())
            }
        })*
    };
}

numbers!(i32, u32, i64, u64, f32, f64);

impl From<Vec<u8>> for LaunchArg {
    fn from(bytes: Vec<u8>) -> LaunchArg {
        LaunchArg(bytes)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridLaunch {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u64,
    pub args: Vec<LaunchArg>,
}

/// Lane-instructions that launches may still run. Each KiB of registers, shared and local memory that a
/// block begins with counts as one more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepBudget {
    pub steps: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// The steps that were taken from the budget.
    pub steps: u64,
    pub blocks: u64,
}

/// Runs `kernel` of a module that was loaded into `memory`. After an error the memory holds what was
/// written until then.
pub fn launch(
    loaded: &LoadedModule,
    kernel: &str,
    launch: &GridLaunch,
    memory: &mut Memory,
    budget: &mut StepBudget,
) -> Result<Stats, LaunchError> {
    let found = loaded.module.find(kernel);
    let (info, program) = found.ok_or_else(|| LaunchError::NoSuchKernel(kernel.to_owned()))?;
    check_sizes(info, launch)?;
    let mut params = params(info, &launch.args)?;
    let before = budget.steps;
    let mut blocks = 0;
    let mut block = ThreadBlock::new(program, launch);
    let [across, down, deep] = launch.grid;
    for z in 0..deep {
        for y in 0..down {
            for x in 0..across {
                let mut context = BlockContext {
                    program,
                    launch,
                    params: &mut params,
                    symbols: &loaded.symbols,
                    memory: &mut *memory,
                    steps_left: &mut budget.steps,
                    index: [x, y, z],
                    arrivals: BarrierArrivals::default(),
                };
                block.run(&mut context).map_err(|stop| failure(info, [x, y, z], stop))?;
                blocks += 1;
            }
        }
    }
    Ok(Stats { steps: before - budget.steps, blocks })
}

fn failure(info: &PtxKernelInfo, block: [u32; 3], stop: EarlyEnd) -> LaunchError {
    let kernel = info.name.clone();
    match stop {
        EarlyEnd::Budget => LaunchError::BudgetExhausted { kernel },
        EarlyEnd::Fault { thread, line, kind } => {
            Box::new(KernelFault { kernel, block, thread, line, kind }).into()
        }
    }
}

fn check_sizes(info: &PtxKernelInfo, launch: &GridLaunch) -> Result<(), LaunchError> {
    let invalid = |reason: String| Err(LaunchError::InvalidLaunch(reason));
    let within = |sizes: [u32; 3], max: [u32; 3]| {
        sizes.iter().zip(max).all(|(size, max)| (1..=max).contains(size))
    };
    if !within(launch.grid, GRID_SIZE_MAX) {
        return invalid(format!("grid {:?}, sizes are 1 to {GRID_SIZE_MAX:?}", launch.grid));
    }
    if !within(launch.block, BLOCK_SIZE_MAX) {
        return invalid(format!("block {:?}, sizes are 1 to {BLOCK_SIZE_MAX:?}", launch.block));
    }
    let threads = launch.block.iter().product::<u32>();
    if threads > info.max_threads {
        return invalid(format!(
            "{threads} threads a block, the kernel has at most {}",
            info.max_threads
        ));
    }
    let shared =
        launch.dynamic_shared_bytes.saturating_add(info.static_shared_bytes.next_multiple_of(16));
    if shared > SHARED_BYTES_MAX {
        return invalid(format!("{shared} bytes of shared memory, there are {SHARED_BYTES_MAX}"));
    }
    Ok(())
}

fn params(info: &PtxKernelInfo, args: &[LaunchArg]) -> Result<Vec<u8>, LaunchError> {
    if args.len() != info.params.len() {
        let reason = format!("{} given, the kernel has {}", args.len(), info.params.len());
        return Err(LaunchError::BadArguments(reason));
    }
    let mut bytes = Vec::new();
    for (number, (LaunchArg(arg), param)) in args.iter().zip(&info.params).enumerate() {
        if arg.len() as u64 != param.bytes {
            let reason = format!(
                "argument {number} has {} bytes, the kernel wants {}",
                arg.len(),
                param.bytes
            );
            return Err(LaunchError::BadArguments(reason));
        }
        bytes.resize(param.offset as usize, 0);
        bytes.extend(arg);
    }
    Ok(bytes)
}
