use super::*;
use assay_gpu::compiler::Returned;

static MODULE: Source = Source::new(include_str!("sources/module.cu"), &["forward"]);

fn returned(buffer: u32, offset: u64, dtype: ElementType, shape: &[u64]) -> Returned {
    Returned { buffer, offset, dtype, shape: shape.to_vec() }
}

fn halves(buffer: u32, shape: &[u64]) -> EntryArgument {
    EntryArgument::Tensor(Tensor {
        buffer,
        offset: 0,
        dtype: ElementType::Fp16,
        shape: shape.to_vec(),
    })
}

#[test]
fn an_extension_without_a_module() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.compile(include_str!("sources/extension.cu"), &["forward"]).unwrap();
    let arguments = vec![floats(0, &[4, 64]), EntryArgument::I64(1), EntryArgument::Boolean(true)];
    let trace = fixture.record_arguments(&artifact, "forward", vec![1_024], arguments).unwrap();
    let zeros =
        PlanStep::Set { at: BufferAddress { buffer: 1, offset: 0 }, bytes: 1_024, value: 0 };
    assert_eq!((trace.steps.len(), &trace.steps[0]), (3, &zeros));
    let launch = launches(&trace)[1];
    assert_eq!((launch.grid.x, launch.block.x), (4, 64));
    assert_eq!(launch.args, [address(0, 0), address(1, 0), int(256)]);
    assert_eq!(trace.scratch_bytes, [1_024]);
    assert_eq!(trace.returned, [returned(1, 0, ElementType::Fp32, &[4, 64])]);
}

#[test]
fn a_module_names_its_functions() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&MODULE);
    let mut kernels = Vec::new();
    for (argument, bytes) in [(floats(0, &[1_000]), 4_000), (halves(0, &[10, 100]), 2_000)] {
        let arguments = vec![argument, EntryArgument::Fp32(0.5)];
        let trace = fixture.record_arguments(&artifact, "forward", vec![bytes], arguments).unwrap();
        let launch = launches(&trace)[0];
        assert_eq!((launch.grid.x, launch.block.x), (4, 256));
        let count = bytes_of(1_000_u64);
        assert_eq!(launch.args[1..], [address(1, 0), count, self::bytes(&0.5_f32.to_le_bytes())]);
        assert_eq!(trace.scratch_bytes, [bytes]);
        kernels.push(launch.kernel.clone());
    }
    assert_ne!(kernels[0], kernels[1], "one is for floats and one for halves");
}

fn bytes_of(number: u64) -> KernelArg {
    bytes(&number.to_le_bytes())
}

#[test]
fn views_and_several_tensors_are_returned() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&MODULE);
    let arguments = vec![floats(0, &[6, 8]), floats(1, &[8])];
    let trace = fixture.record_arguments(&artifact, "views", vec![192, 32], arguments).unwrap();
    assert_eq!(trace.scratch_bytes, [96, 48, 96]);
    assert_eq!(
        trace.returned,
        [
            returned(0, 0, ElementType::Fp32, &[48]),
            returned(2, 16, ElementType::Fp32, &[1, 4]),
            returned(3, 0, ElementType::I64, &[2, 3]),
            returned(0, 0, ElementType::Fp32, &[8, 6]),
            returned(4, 0, ElementType::Fp32, &[6, 4]),
        ]
    );
    let KernelArg::ByValue { bytes, patches } = &launches(&trace)[0].args[0] else {
        panic!("a struct")
    };
    assert_eq!((bytes.len(), patches[0].address), (24, BufferAddress { buffer: 2, offset: 0 }));
    let sizes: Vec<u8> = [6, 4, 4, 1].iter().flat_map(|size: &i32| size.to_le_bytes()).collect();
    assert_eq!(bytes[8..], sizes);
    let arguments = vec![floats(0, &[3]), EntryArgument::I64(2)];
    let trace = fixture.record_arguments(&artifact, "both", vec![12], arguments).unwrap();
    let both = [returned(1, 0, ElementType::Fp32, &[3]), returned(0, 0, ElementType::Fp32, &[3])];
    assert_eq!(trace.returned, both);
}

#[test]
fn lists_parts_and_nothing_are_given() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&MODULE);
    let part = |buffer, offset, shape: &[u64]| Tensor {
        buffer,
        offset,
        dtype: ElementType::Fp32,
        shape: shape.to_vec(),
    };
    let arguments = |absent: EntryArgument| {
        let tensors = vec![part(0, 16, &[4]), part(1, 0, &[2])];
        let sizes = EntryArgument::Integers(vec![3, 2]);
        vec![sizes.clone(), EntryArgument::Tensors(tensors), absent, EntryArgument::Absent, sizes]
    };
    let given = arguments(EntryArgument::Absent);
    let trace = fixture.record_arguments(&artifact, "given", vec![32, 8], given).unwrap();
    assert_eq!(trace.scratch_bytes, [24]);
    let expected = [
        returned(0, 16, ElementType::Fp32, &[4]),
        returned(1, 0, ElementType::Fp32, &[2]),
        returned(2, 0, ElementType::Fp32, &[3, 2]),
    ];
    assert_eq!(trace.returned, expected);
    let given = arguments(EntryArgument::Integers(vec![]));
    match fixture.record_arguments(&artifact, "given", vec![32, 8], given) {
        Err(CompileError::Rejected(said)) => {
            assert!(
                said.contains("parameter 3 of `given` is a tensor, and a list is given"),
                "{said}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn memory_of_a_tensor_that_is_gone_is_used_again() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&MODULE);
    let trace = fixture
        .record_arguments(&artifact, "in_place", vec![400], vec![floats(0, &[10, 10])])
        .unwrap();
    assert_eq!(trace.scratch_bytes, [400]);
    assert!(trace.returned.is_empty());
    assert!(matches!(
        trace.steps[..],
        [PlanStep::Copy { .. }, PlanStep::Set { .. }, PlanStep::Copy { .. }]
    ));
}

#[test]
fn what_a_check_says_is_kept() {
    let Some(mut fixture) = Fixture::new() else { return };
    let artifact = fixture.shared(&MODULE);
    let mut crashed = |entry: &str, arguments: Vec<EntryArgument>| match fixture.record_arguments(
        &artifact,
        entry,
        vec![64],
        arguments,
    ) {
        Err(CompileError::Crashed(said)) => said,
        other => panic!("{other:?}"),
    };
    let said = crashed("views", vec![floats(0, &[16]), floats(0, &[8])]);
    assert_eq!(said, "it threw an exception: x must have 2 dimensions, got 1");
    let said = crashed("wrong_type", vec![floats(0, &[16])]);
    assert_eq!(said, "it threw an exception: expected scalar type Double but found Float");
}

#[test]
fn what_has_no_stand_in_is_named() {
    let Some(mut fixture) = Fixture::new() else { return };
    let mut rejected = |body: &str| {
        let source = format!(
            "#include <torch/extension.h>\ntorch::Tensor forward(torch::Tensor x) {{ {body} }}"
        );
        match fixture.compile(&source, &["forward"]) {
            Err(CompileError::Rejected(log)) => log,
            other => panic!("{other:?}"),
        }
    };
    let log = rejected("return torch::matmul(x, x);");
    assert!(log.starts_with("assay: unsupported: torch::matmul\n"), "{log}");
    let log = rejected("return x.sum().transpose(0, 1);");
    assert!(log.starts_with("assay: unsupported: at::Tensor::sum\n"), "{log}");
    let log = rejected("return y;");
    assert!(!log.contains("assay: unsupported"), "the candidate's own mistake: {log}");
}
