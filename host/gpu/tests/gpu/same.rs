//! What a GPU and its simulation have in common, bit for bit; and the steps of a plan.

use assay_gpu::cuda::Cuda;
use assay_gpu::session::{BufferSpec, Gpu, Init, Origin, Role};
use assay_gpu::types::{Address, Arg, Dim3, Dtype, Launch, Patch, Step};

use crate::bench::{BLOCK, KERNELS, bench, buffer, is_wanted, limits, loaded, report, soon, turn};
use crate::cases;

#[test]
fn the_judges_kernels_do_what_is_defined() {
    if !is_wanted("the judge's kernels") {
        return;
    }
    let _turn = turn();
    let mut device = Cuda::open(0).unwrap();
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
    let spec = |dtype, init| BufferSpec { dtype, count: COUNT, role: Role::Input, init };
    let specs = [
        spec(Dtype::I32, Init::Integers { low: -40_000, high: 40_000 }),
        BufferSpec { dtype: Dtype::I32, count: COUNT, role: Role::Output, init: Init::Zeros },
        spec(Dtype::Fp32, Init::Normal { mean: 0.0, deviation: 1.0 }),
        spec(Dtype::Fp16, Init::Uniform { low: -1.0, high: 1.0 }),
        spec(Dtype::Bf16, Init::Normal { mean: 5.0, deviation: 3.0 }),
        spec(Dtype::Fp64, Init::Uniform { low: 0.0, high: 1e9 }),
        spec(Dtype::I64, Init::Permutation),
    ];
    let mut session = gpu.open(limits(), soon()).unwrap();
    let module = session.load(KERNELS.as_bytes(), Origin::Candidate).unwrap();
    session.alloc(&specs).unwrap();
    let launch = Launch {
        module,
        kernel: "whole_numbers".into(),
        grid: Dim3 { x: (COUNT as u32).div_ceil(BLOCK), y: 1, z: 1 },
        block: Dim3 { x: BLOCK, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: 0,
        args: vec![buffer(0), buffer(1), Arg::I32(COUNT as i32)],
    };
    session.run(&[Step::Launch(launch)], Some(77)).unwrap();
    let read = |(number, spec): (usize, &BufferSpec)| {
        let at = Address { buffer: number as u32, offset: 0 };
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
    let (x, y) = (Address { buffer: 0, offset: 0 }, Address { buffer: 1, offset: 0 });
    // A struct with an address in it, by value: `Scale { x, factor, n }`.
    let mut bytes = vec![0; 16];
    bytes[8..12].copy_from_slice(&3f32.to_le_bytes());
    bytes[12..].copy_from_slice(&256i32.to_le_bytes());
    let scale = Arg::ByValue { bytes, patches: vec![Patch { at: 0, address: x }] };
    let launch = Launch {
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
        Step::Set { at: x, bytes: 2048, value: 0 },
        Step::Set { at: y, bytes: 2048, value: 0x7f },
        Step::Launch(launch),
        Step::Copy { to: Address { buffer: 1, offset: half }, from: y, bytes: half },
    ];
    it.session.run(&plan, Some(3)).unwrap();
    let held = it.session.download(y, 2048).unwrap();
    let one = 1f32.to_le_bytes();
    assert!(held.chunks_exact(4).all(|word| word == one), "3 * 0 + 1, twice 256 times");
}
