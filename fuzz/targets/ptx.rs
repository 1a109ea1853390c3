//! PTX: text of a tenant's compiler, parsed and run in the worker.
//!
//! A module that parses has the kernels that `entries` reads from its declarations alone. A launch takes no more steps
//! than its budget has, does the same when it is repeated, and keeps no more printed text than the limit.

#![no_main]

use std::sync::Arc;

use assay_ptx::limits::PRINTED_BYTES_MAX;
use assay_ptx::{
    GridLaunch, LaunchArg, LaunchError, Memory, PtxKernelInfo, PtxModule, Stats, StepBudget,
    entries, launch,
};
use libfuzzer_sys::fuzz_target;

const STEPS_MAX: u64 = 20_000;
const MEMORY_BYTES: u64 = 1 << 20;
const BUFFER_BYTES: u64 = 1 << 12;
const KERNELS_MAX: usize = 4;

fuzz_target!(|text: &str| {
    let declared = entries(text);
    let Ok(module) = PtxModule::parse(text) else { return };
    let declared = declared.expect("a module that parses has readable declarations");
    assert_eq!(declared.len(), module.kernels().len());
    for (entry, kernel) in declared.iter().zip(module.kernels()) {
        assert_eq!((&entry.name, &entry.params), (&kernel.name, &kernel.params));
    }
    let module = Arc::new(module);
    for kernel in module.kernels().iter().take(KERNELS_MAX) {
        let first = run(&module, kernel);
        assert_eq!(first, run(&module, kernel), "a repeated launch differs");
    }
});

/// The end of a launch, its buffer and its printed text.
type Left = (Result<Stats, LaunchError>, Vec<u8>, Vec<u8>);

fn run(module: &Arc<PtxModule>, kernel: &PtxKernelInfo) -> Option<Left> {
    let mut memory = Memory::new(MEMORY_BYTES);
    let loaded = memory.load(module).ok()?;
    let buffer = memory.alloc(BUFFER_BYTES).ok()?;
    // Pointers to the buffer, and numbers that fit its size.
    let args = kernel.params.iter().map(|param| match param.bytes {
        8 => LaunchArg::from(buffer),
        4 => LaunchArg::from(40_u32),
        bytes => LaunchArg::from(vec![1; usize::try_from(bytes).expect("within the limit")]),
    });
    let asked = GridLaunch {
        grid: [2, 1, 1],
        block: [40.min(kernel.max_threads.max(1)), 1, 1],
        dynamic_shared_bytes: 1 << 10,
        args: args.collect(),
    };
    let mut budget = StepBudget { steps: STEPS_MAX };
    let ended = launch(&loaded, &kernel.name, &asked, &mut memory, &mut budget);
    assert!(budget.steps <= STEPS_MAX);
    if let Ok(stats) = &ended {
        assert_eq!(stats.steps, STEPS_MAX - budget.steps);
    }
    let printed = memory.take_printed();
    assert!(printed.len() <= PRINTED_BYTES_MAX);
    let left = memory.read(buffer, BUFFER_BYTES).expect("the buffer is still there").to_vec();
    Some((ended, left, printed))
}
