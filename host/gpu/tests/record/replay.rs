//! A recorded plan, replayed by hand on the interpreter of PTX.

use super::plans::PLANS;
use super::*;
use assay_ptx::{Memory, PtxModule, StepBudget, launch};

/// With each buffer's address.
fn argument(arg: &KernelArg, places: &[u64]) -> assay_ptx::LaunchArg {
    let place = |address: &BufferAddress| places[address.buffer as usize] + address.offset;
    match arg {
        KernelArg::Address(address) => place(address).into(),
        KernelArg::ByValue { bytes, patches } => {
            let mut bytes = bytes.clone();
            for patch in patches {
                let at = patch.at as usize;
                bytes[at..at + 8].copy_from_slice(&place(&patch.address).to_le_bytes());
            }
            bytes.into()
        }
        other => panic!("the recorder knows bytes alone: {other:?}"),
    }
}

#[test]
fn a_replayed_plan_computes_what_the_function_would() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let count = 300_u16;
    let counts = [u64::from(count); 2];
    let trace =
        fixture.record(&artifact, "two", &counts, &[EntryArgument::I32(i32::from(count))]).unwrap();

    let module = Arc::new(PtxModule::parse(&artifact.ptx).unwrap());
    let mut memory = Memory::new(1 << 20);
    let sizes = counts.iter().map(|count| count * 4).chain(trace.scratch_bytes.iter().copied());
    let places: Vec<u64> = sizes.map(|bytes| memory.alloc(bytes).unwrap()).collect();
    let inputs: Vec<f32> = (0..count).map(|at| f32::from(at) / 7.0).collect();
    let input_bytes: Vec<u8> = inputs.iter().flat_map(|number| number.to_le_bytes()).collect();
    memory.write(places[0], &input_bytes).unwrap();
    let loaded = memory.load(&module).unwrap();
    for step in launches(&trace) {
        let order = assay_ptx::GridLaunch {
            grid: [step.grid.x, step.grid.y, step.grid.z],
            block: [step.block.x, step.block.y, step.block.z],
            dynamic_shared_bytes: u64::from(step.dynamic_shared_bytes),
            args: step.args.iter().map(|arg| argument(arg, &places)).collect(),
        };
        let mut budget = StepBudget { steps: 1 << 24 };
        launch(&loaded, &step.kernel, &order, &mut memory, &mut budget).unwrap();
    }
    let output = memory.read(places[1], u64::from(count) * 4).unwrap();
    let (numbers, _) = output.as_chunks::<4>();
    assert_eq!(numbers.len(), inputs.len());
    for (got, input) in numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).zip(inputs) {
        let want = input.mul_add(3.0, 2.0) + input.mul_add(2.0, 1.0);
        assert!((got - want).abs() <= 1e-5 * want.abs(), "{got} for {input}, not {want}");
    }
}
