//! The results that a GPU and its simulation have in common, bit for bit; and the steps of a plan.

use assay_gpu::cuda::CudaDevice;
use assay_gpu::session::{BufferInit, BufferRole, BufferSpec, Gpu, Origin};
use assay_gpu::types::{
    BufferAddress, Dim3, ElementType, KernelArg, KernelLaunch, Patch, PlanStep,
};

use super::bench::{BLOCK, KERNELS, bench, buffer, is_wanted, limits, loaded, report, soon, turn};
use crate::cases;

#[test]
fn the_judges_kernels_do_what_is_defined() {
    if !is_wanted("the judge's kernels") {
        return;
    }
    let _turn = turn();
    let mut device = CudaDevice::open(0).unwrap();
    cases::fills_are_those_that_are_defined(&mut device);
    cases::permutations_of_every_size_are_those_that_are_defined(&mut device);
    cases::a_fill_has_more_elements_than_threads(&mut device);
    cases::what_does_not_fit_is_refused(&mut device);
    cases::comparisons_are_those_that_are_defined(&mut device);
    cases::extremes_of_doubles(&mut device);
    cases::one_byte_makes_a_difference(&mut device);
}

const COUNT: u64 = 100_003;

/// Inputs by each rule, and what a kernel makes of whole numbers.
fn buffers_after(gpu: &Gpu) -> Vec<Vec<u8>> {
    let spec = |dtype, init| BufferSpec { dtype, count: COUNT, role: BufferRole::Input, init };
    let specs = [
        spec(ElementType::I32, BufferInit::Integers { low: -40_000, high: 40_000 }),
        BufferSpec {
            dtype: ElementType::I32,
            count: COUNT,
            role: BufferRole::Output,
            init: BufferInit::Zeros,
        },
        spec(ElementType::Fp32, BufferInit::Normal { mean: 0.0, deviation: 1.0 }),
        spec(ElementType::Fp16, BufferInit::Uniform { low: -1.0, high: 1.0 }),
        spec(ElementType::Bf16, BufferInit::Normal { mean: 5.0, deviation: 3.0 }),
        spec(ElementType::Fp64, BufferInit::Uniform { low: 0.0, high: 1e9 }),
        spec(ElementType::I64, BufferInit::Permutation),
    ];
    let mut session = gpu.open(limits(), soon()).unwrap();
    let module = session.load(KERNELS.as_bytes(), Origin::Candidate).unwrap();
    session.alloc(&specs).unwrap();
    let launch = KernelLaunch {
        module,
        kernel: "whole_numbers".into(),
        grid: Dim3 { x: (COUNT as u32).div_ceil(BLOCK), y: 1, z: 1 },
        block: Dim3 { x: BLOCK, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args: vec![buffer(0), buffer(1), KernelArg::I32(COUNT as i32)],
    };
    session.run(&[PlanStep::Launch(launch)], Some(77)).unwrap();
    let read = |(number, spec): (usize, &BufferSpec)| {
        let at = BufferAddress { buffer: number as u32, offset: 0 };
        session.download(at, spec.count * spec.dtype.bytes()).unwrap()
    };
    specs.iter().enumerate().map(read).collect()
}

#[test]
fn a_gpu_and_its_simulation_agree() {
    let Some(bench) = bench("agreement") else { return };
    let (real, simulated) = (buffers_after(&bench.gpu), buffers_after(&bench.simulated()));
    for (number, (real, simulated)) in real.iter().zip(&simulated).enumerate() {
        let differs = real.iter().zip(simulated).position(|(one, other)| one != other);
        assert_eq!(differs, None, "the first byte of buffer {number} that differs");
    }
    report("agreement", "buffers that are the same, bit for bit", real.len(), "");
}

#[test]
fn a_plan_is_replayed_step_by_step() {
    let Some(bench) = bench("plan") else { return };
    let mut it = loaded(&bench, KERNELS, 512, 512);
    let (x, y) = (BufferAddress { buffer: 0, offset: 0 }, BufferAddress { buffer: 1, offset: 0 });
    // A struct with an address in it, by value: `Scale { x, factor, n }`.
    let mut bytes = vec![0; 16];
    bytes[8..12].copy_from_slice(&3f32.to_le_bytes());
    bytes[12..].copy_from_slice(&256i32.to_le_bytes());
    let scale = KernelArg::ByValue { bytes, patches: vec![Patch { at: 0, address: x }] };
    let launch = KernelLaunch {
        module: it.candidate,
        kernel: "by_value".into(),
        grid: Dim3 { x: 1, y: 1, z: 1 },
        block: Dim3 { x: BLOCK, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args: vec![scale, buffer(1)],
    };
    let half = 1024;
    let plan = [
        PlanStep::Set { at: x, bytes: 2048, value: 0 },
        PlanStep::Set { at: y, bytes: 2048, value: 0x7f },
        PlanStep::Launch(launch),
        PlanStep::Copy { to: BufferAddress { buffer: 1, offset: half }, from: y, bytes: half },
    ];
    it.session.run(&plan, Some(3)).unwrap();
    let held = it.session.download(y, 2048).unwrap();
    let one = 1f32.to_le_bytes();
    assert!(held.chunks_exact(4).all(|word| word == one), "3 * 0 + 1, twice 256 times");
}
