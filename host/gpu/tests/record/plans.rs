use super::*;
use assay_gpu::types::{Dim3, Patch};

pub static PLANS: Source = Source::new(
    include_str!("sources/plans.cu"),
    &["two", "loop", "by_shape", "all_numbers", "memory", "failures", "device"],
);

fn step(
    artifact: &CudaArtifact,
    kernel: &str,
    grid: u32,
    block: u32,
    shared: u32,
    args: Vec<KernelArg>,
) -> PlanStep {
    let found = artifact.kernels.iter().find(|info| info.name.contains(kernel));
    PlanStep::Launch(KernelLaunch {
        module: 0,
        kernel: found.expect("a kernel of that name").name.clone(),
        grid: Dim3 { x: grid, y: 1, z: 1 },
        block: Dim3 { x: block, y: 1, z: 1 },
        cooperative: false,
        dynamic_shared_bytes: shared,
        args,
    })
}

#[test]
fn templates_a_struct_and_scratch() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    assert!(artifact.ptx.contains(".entry"), "{}", artifact.ptx);
    assert_eq!(artifact.image, artifact.ptx.as_bytes());
    let trace = fixture.record(&artifact, "two", &[300, 300], &[EntryArgument::I32(300)]).unwrap();
    assert_eq!(trace.scratch_bytes, [1_200]);
    let mut view = vec![0; 32];
    view[8..16].copy_from_slice(&300_i64.to_le_bytes());
    view[24..28].copy_from_slice(&1_i32.to_le_bytes());
    let patch = |at, buffer| Patch { at, address: BufferAddress { buffer, offset: 0 } };
    let view = KernelArg::ByValue { bytes: view, patches: vec![patch(0, 2), patch(16, 1)] };
    let by = |number: f32| bytes(&number.to_le_bytes());
    let first = vec![address(0, 0), address(2, 0), int(300), by(2.0)];
    let second = vec![address(0, 0), address(1, 0), int(300), by(3.0)];
    assert_eq!(
        trace.steps,
        [
            step(&artifact, "scaleIfLi1E", 3, 128, 0, first),
            step(&artifact, "scaleIfLi2E", 3, 128, 0, second),
            step(&artifact, "add4View", 3, 128, 0, vec![view]),
        ]
    );
    assert!(trace.returned.is_empty() && trace.unsupported.is_empty());
}

#[test]
fn a_loop_of_launches() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let numbers = [EntryArgument::I64(3), EntryArgument::I32(32)];
    let trace = fixture.record(&artifact, "loop", &[96], &numbers).unwrap();
    let expected =
        [0, 1, 2].map(|row| step(&artifact, "rows", 1, 32, 128, vec![address(0, 0), int(row)]));
    assert_eq!(trace.steps, expected);
    let numbers = [EntryArgument::I32(100_000), EntryArgument::I32(1)];
    let trace = fixture.record(&artifact, "loop", &[100_000], &numbers).unwrap();
    assert_eq!(trace.unsupported, ["more steps than a plan can have"]);
}

#[test]
fn other_shapes_other_plans() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let mut record = |n: i32| {
        let counts = [n as u64, n as u64];
        fixture.record(&artifact, "by_shape", &counts, &[EntryArgument::I32(n)]).unwrap()
    };
    let (small, large) = (record(100), record(1_000));
    assert_eq!((launches(&small).len(), launches(&small)[0].block.x), (1, 100));
    let large = launches(&large);
    assert_eq!((large.len(), large[0].grid.x), (2, 4));
    assert_eq!(large[1].args[..3], [address(0, 2_000), address(1, 2_000), int(500)]);
}

#[test]
fn numbers_are_exact() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let numbers = [
        EntryArgument::Boolean(true),
        EntryArgument::I32(-3),
        EntryArgument::I64(-300),
        EntryArgument::Fp32(0.1),
        EntryArgument::Fp64(0.1),
        EntryArgument::I64(i64::MIN + 1),
    ];
    let trace = fixture.record(&artifact, "all_numbers", &[], &numbers).unwrap();
    let expected = [
        bytes(&[1]),
        bytes(&[0xfd]),
        bytes(&(-300_i16).to_le_bytes()),
        bytes(&0.1_f32.to_le_bytes()),
        bytes(&0.1_f64.to_le_bytes()),
        bytes(&(i64::MIN + 1).to_le_bytes()),
    ];
    assert_eq!(launches(&trace)[0].args, expected);
}

#[test]
fn sets_and_copies_on_one_scratch_buffer() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let trace = fixture.record(&artifact, "memory", &[16, 16], &[EntryArgument::I32(16)]).unwrap();
    assert_eq!(trace.scratch_bytes, [64], "what was freed is used again");
    let at = |buffer, offset| BufferAddress { buffer, offset };
    let set = PlanStep::Set { at: at(2, 0), bytes: 64, value: 255 };
    let copy = |offset| PlanStep::Copy { to: at(1, offset), from: at(2, 0), bytes: 4 };
    let last = PlanStep::Copy { to: at(1, 0), from: at(0, 0), bytes: 64 };
    assert_eq!(trace.steps, [set.clone(), copy(0), set, copy(4), last]);
}

#[test]
fn failures_are_those_of_a_device() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let trace = fixture.record(&artifact, "failures", &[4], &[EntryArgument::I32(4)]).unwrap();
    assert_eq!((trace.steps.len(), launches(&trace)[0].grid.x), (1, 5));
    assert!(trace.scratch_bytes.is_empty());
}

#[test]
fn the_device_is_the_same_everywhere() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let trace = fixture.record(&artifact, "device", &[4], &[]).unwrap();
    let launch = launches(&trace)[0];
    // 64 registers are taken for granted where PTX alone was compiled: one block of 1,024 threads.
    assert_eq!((launch.grid.x, launch.block.x, launch.cooperative), (132, 90, true));
}

#[test]
fn a_function_that_does_not_fit_is_rejected() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let mut rejected = |entry: &str, numbers: &[EntryArgument]| match fixture.record(
        &artifact,
        entry,
        &[4, 4],
        numbers,
    ) {
        Err(CompileError::Rejected(said)) => said,
        other => panic!("{other:?}"),
    };
    assert_eq!(rejected("two", &[]), "`two` takes 3 arguments, and 2 are given");
    let said = rejected("two", &[EntryArgument::Fp32(4.0)]);
    assert_eq!(said, "parameter 3 of `two` is an integer, and a real number is given");
    let said = rejected("two", &[EntryArgument::I64(1 << 32)]);
    assert_eq!(said, "parameter 3 of `two` cannot hold 4294967296");
    let said = rejected("two", &[floats(0, &[4])]);
    assert_eq!(said, "parameter 3 of `two` is a number, and a tensor is given");
    assert_eq!(rejected("three", &[]), "no function `three` is registered");
}

#[test]
fn a_missing_entry_is_named() {
    let Some(mut fixture) = Fixture::new() else { return };
    let source = "extern \"C\" void solve(float* x) {}";
    let Err(CompileError::Rejected(log)) = fixture.compile(source, &["solve", "forward"]) else {
        panic!("rejected")
    };
    assert!(log.contains("\"forward\" is undefined"), "{log}");
}

/// CUB asks for the device's properties and an occupancy before it decides upon its launches.
#[test]
fn kernels_of_a_library_of_headers() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.compile(include_str!("sources/sum.cu"), &["solve"]).unwrap();
    let count = 1_000_000;
    let numbers = [EntryArgument::I32(1_000_000)];
    let trace = fixture.record(&artifact, "solve", &[count, 1], &numbers).unwrap();
    let launches = launches(&trace);
    assert_eq!((launches.len(), launches[1].grid.x, trace.scratch_bytes.len()), (2, 1, 1));
    assert!(launches[0].grid.x > 1 && launches[0].kernel.contains("cub"));
    assert_eq!(launches[0].args[..2], [address(0, 0), address(2, 0)]);
    assert_eq!(launches[1].args[..2], [address(2, 0), address(1, 0)]);
}

#[test]
fn machine_code_for_a_gpu() {
    let Some(mut fixture) = Fixture::of("sm_90") else { return };
    let artifact = fixture.compile(PLANS.text, PLANS.entries).unwrap();
    assert!(artifact.image.starts_with(b"\x7fELF") && artifact.ptx.contains(".entry"));
    let add = artifact.kernels.iter().find(|kernel| kernel.name.contains("add4View")).unwrap();
    assert!(add.registers > 0 && add.params[0].bytes == 32);
    let trace = fixture.record(&artifact, "two", &[300, 300], &[EntryArgument::I32(300)]).unwrap();
    assert_eq!(launches(&trace).len(), 3);
}

#[test]
fn a_foreign_host_object_is_the_plugins_fault() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&PLANS);
    let forged = CudaArtifact { host_object: Some(b"\x7fELF".to_vec()), ..artifact };
    let result = fixture.record(&forged, "two", &[], &[]);
    assert!(matches!(result, Err(CompileError::BadRequest(_))), "{result:?}");
}
