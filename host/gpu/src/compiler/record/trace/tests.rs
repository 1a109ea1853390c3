use proptest::prelude::*;

use super::*;
use crate::types::KernelParam;

fn kernels() -> Vec<KernelInfo> {
    let param = |(offset, bytes)| KernelParam { offset, bytes };
    vec![KernelInfo {
        name: "k".into(),
        params: [(0, 8), (8, 20)].map(param).into(),
        registers: 0,
        static_shared_bytes: 0,
        local_bytes: 0,
        threads_max: 1_024,
    }]
}

const HEAD: &str = "{\"launch\":{\"kernel\":0,\"grid\":[2,1,1],\"block\":[64,1,1],\
                    \"cooperative\":false,\"shared\":16,\"args\":";
const STRUCT: &str = "{\"bytes\":[\"ffffffffffffffffffffffff0102030405060708\",[[4,[2,100]]]]}";
const NONE: &str = "\"scratch\":[],\"returned\":[]";

fn plan(steps: &str, rest: &str) -> Result<RecordedTrace, CompileError> {
    let text = format!("{{\"plan\":{{\"steps\":[{steps}],{rest}}}}}");
    read(text.as_bytes(), &kernels(), &[64, 32])
}

fn launch(args: &str) -> Result<RecordedTrace, CompileError> {
    plan(&format!("{HEAD}{args}}}}}"), "\"scratch\":[100],\"returned\":[]")
}

#[test]
fn a_plan() {
    let trace = launch(&format!("[{{\"address\":[1,8]}},{STRUCT}]")).unwrap();
    assert_eq!((trace.scratch_bytes, trace.unsupported.len()), (vec![100], 0));
    let PlanStep::Launch(launch) = &trace.steps[0] else { panic!("a launch") };
    assert_eq!((launch.kernel.as_str(), launch.grid.x, launch.dynamic_shared_bytes), ("k", 2, 16));
    assert_eq!(launch.args[0], KernelArg::Address(BufferAddress { buffer: 1, offset: 8 }));
    let mut bytes = vec![0xff; 4];
    bytes.extend([0; 8]);
    bytes.extend([1, 2, 3, 4, 5, 6, 7, 8]);
    let patches = vec![Patch { at: 4, address: BufferAddress { buffer: 2, offset: 100 } }];
    assert_eq!(launch.args[1], KernelArg::ByValue { bytes, patches });
}

#[test]
fn sets_copies_and_what_is_returned() {
    let steps = "{\"set\":{\"at\":[0,60],\"bytes\":4,\"value\":255}},\
                 {\"copy\":{\"to\":[1,0],\"from\":[0,32],\"bytes\":32}}";
    let rest = "\"scratch\":[],\"returned\":[{\"at\":[0,0],\"dtype\":1,\"shape\":[4,4]}]";
    let trace = plan(steps, rest).unwrap();
    assert_eq!(trace.steps.len(), 2);
    let returned = Returned { buffer: 0, offset: 0, dtype: ElementType::Fp32, shape: vec![4, 4] };
    assert_eq!(trace.returned, [returned]);
}

#[test]
fn other_endings() {
    let read = |text: &str| read(text.as_bytes(), &kernels(), &[]);
    let trace = read("{\"unsupported\":\"cudaMemcpy to the host\"}").unwrap();
    assert_eq!(trace.unsupported, ["cudaMemcpy to the host"]);
    assert_eq!(read("{\"mismatch\":\"a\\nb\"}"), Err(CompileError::Rejected("a b".into())));
    let threw = "it threw an exception: no";
    assert_eq!(read("{\"threw\":\"no\"}"), Err(CompileError::Crashed(threw.into())));
    let long = format!("{{\"unsupported\":\"{}\"}}", "ä".repeat(4_096));
    assert!(read(&long).unwrap().unsupported[0].len() as u64 <= GPU_SENTENCE_BYTES_MAX);
}

#[test]
fn every_dtype_has_the_recorders_number() {
    for (number, dtype) in DTYPES.into_iter().enumerate() {
        assert_eq!(dtype as usize, number);
    }
}

fn refused(result: &Result<RecordedTrace, CompileError>, why: &str) {
    let named = matches!(result, Err(CompileError::Crashed(said)) if said.contains(why));
    assert!(named, "{why}: {result:?}");
}

#[test]
fn forged_launches_are_refused() {
    for text in ["", "{}", "[]", "{\"plan\":{}}", "{\"plan\":[],\"threw\":\"\"}", "\u{1}"] {
        refused(&read(text.as_bytes(), &kernels(), &[]), "makes no sense");
    }
    let other = HEAD.replace("\"kernel\":0", "\"kernel\":1");
    refused(&plan(&format!("{other}[]}}}}"), NONE), "not in the image");
    refused(&launch("[]"), "number of arguments");
    refused(&launch(&format!("[{{\"address\":[3,0]}},{STRUCT}]")), "a buffer that there is not");
    refused(&launch(&format!("[{{\"address\":[0,65]}},{STRUCT}]")), "outside of its buffer");
    refused(&launch("[{\"address\":[0,0]},{\"address\":[0,0]}]"), "for what is none");
    refused(&launch(&format!("[{{\"bytes\":[\"00\",[]]}},{STRUCT}]")), "another size");
    refused(&launch(&format!("[{{\"bytes\":[\"zz\",[]]}},{STRUCT}]")), "bytes that are none");
    refused(&launch(&format!("[{STRUCT},{STRUCT}]")), "another size");
    for at in ["13", "4294967295", "4,[0,0]],[8"] {
        let forged = STRUCT.replace("[[4,", &format!("[[{at},"));
        refused(&launch(&format!("[{{\"address\":[0,0]}},{forged}]")), "within its argument");
    }
}

#[test]
fn forged_memory_is_refused() {
    let set = |at: &str, bytes: &str| {
        plan(&format!("{{\"set\":{{\"at\":{at},\"bytes\":{bytes},\"value\":0}}}}"), NONE)
    };
    refused(&set("[0,60]", "5"), "outside of its buffer");
    refused(&set("[0,18446744073709551615]", "18446744073709551615"), "outside of its buffer");
    let returned = |dtype: &str, shape: &str| {
        let one = format!("{{\"at\":[0,0],\"dtype\":{dtype},\"shape\":{shape}}}");
        plan("", &format!("\"scratch\":[],\"returned\":[{one}]"))
    };
    refused(&returned("12", "[1]"), "a type that there is not");
    refused(&returned("1", "[17]"), "outside of its buffer");
    refused(&returned("1", "[4294967296,4294967296]"), "outside of its buffer");
    refused(&returned("1", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "too many dimensions");
    refused(&plan("", "\"scratch\":[0],\"returned\":[]"), "buffers that cannot be");
    let many = format!("\"scratch\":[{}1],\"returned\":[]", "1,".repeat(GPU_BUFFERS_MAX));
    refused(&plan("", &many), "buffers that cannot be");
    let huge = "\"scratch\":[18446744073709551615,1],\"returned\":[]";
    refused(&plan("", huge), "than a device has");
}

proptest! {
    #[test]
    fn no_bytes_bring_it_down(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes, &kernels(), &[64]);
    }

    #[test]
    fn what_is_let_through_lies_in_its_buffer(
        buffer in 0_u32..4,
        offset in prop_oneof![0_u64..100, any::<u64>()],
        bytes in prop_oneof![0_u64..100, any::<u64>()],
        at in prop_oneof![0_u32..16, any::<u32>()],
    ) {
        let value = STRUCT.replace("[[4,[2,100", &format!("[[{at},[{buffer},{offset}"));
        let steps = format!(
            "{HEAD}[{{\"address\":[{buffer},{offset}]}},{value}]}}}},\
             {{\"set\":{{\"at\":[{buffer},{offset}],\"bytes\":{bytes},\"value\":1}}}}"
        );
        let sizes = [64, 32, 50];
        let inside = sizes
            .get(buffer as usize)
            .is_some_and(|size| offset.checked_add(bytes).is_some_and(|end| end <= *size));
        let result = plan(&steps, "\"scratch\":[50],\"returned\":[]");
        prop_assert_eq!(result.is_ok(), inside && at <= 12);
    }
}
