//! Each form from its text to its plan.

use assay_plugin::gpu::compiler::{Argument, FrontEnd, Returned};
use assay_plugin::gpu::{Address, Arg, CopyBytes, Dim3, Dtype, Step};
use assay_plugin::{Artifact, Error, Plugin, Request, Scored};
use assay_plugin_cuda::{Cuda, run_stage};
use serde_json::json;

use crate::world::{HOST, KERNEL, TORCH, World, address, kernel, label, launch, wrong};

fn judge(world: &World, response: &str) -> Scored {
    world.judge(response, &label(), "{}").expect("a reward")
}

fn check(world: &World, response: &str, verdict: &str, reason: &str) {
    let scored = judge(world, response);
    assert_eq!(scored.verdict, verdict, "{}", scored.explanation);
    assert!(scored.explanation.contains(reason), "{}", scored.explanation);
}

#[test]
fn a_bare_kernel_is_launched_as_the_label_says() {
    let world = World::default();
    check(&world, KERNEL, "success", "a bare kernel");
    let seen = world.seen.borrow();
    let front_ends: Vec<_> = seen.compiled.iter().map(|request| request.front_end).collect();
    assert_eq!(front_ends, [FrontEnd::Nvrtc; 2]);
    assert!(seen.compiled.iter().all(|request| request.arch == "compute_90"));
    let Step::Launch(second) = &seen.plans[1].0[0] else { panic!("a launch") };
    assert_eq!((second.kernel.as_str(), second.module), ("_Z7softmaxPKfPfii", 0));
    assert_eq!(second.grid, Dim3 { x: 7, y: 1, z: 1 });
    assert_eq!(second.block, Dim3 { x: 256, y: 1, z: 1 });
    assert_eq!(second.dynamic_shared_bytes, 4_000);
    // The second size's buffers follow the first one's.
    assert_eq!(second.args, [address(2), address(3), Arg::I32(7), Arg::I32(1_000)]);
    let Step::Launch(reference) = &seen.plans[0].1[0] else { panic!("a launch") };
    assert_eq!((reference.kernel.as_str(), reference.module), ("softmax_reference", 1));
    assert_eq!(reference.grid, Dim3 { x: 1, y: 1, z: 1 });
    assert_eq!((seen.pairs[1][0].got, seen.pairs[1][0].want), (3, 3));
    assert_eq!(seen.specs.len(), 6, "no size has scratch");
}

#[test]
fn what_the_run_time_compiler_lacks_nvcc_may_have() {
    let log = |text: &str| World { nvrtc_log: Some(text.into()), ..World::default() };
    // The reference fails in the same way, and is compiled in the same way.
    let world = log("a.cu(1): catastrophic error: cannot open source file \"vector\"");
    check(&world, KERNEL, "success", "right");
    let front_ends: Vec<_> =
        world.seen.borrow().compiled.iter().map(|request| request.front_end).collect();
    let both = [FrontEnd::Nvrtc, FrontEnd::NvccDevice];
    assert_eq!(front_ends, [both, both].concat());
    let world = log("a.cu(1): warning: unused\na.cu(2): error: expected a \";\"\n  y[i] = 1\n");
    check(&world, KERNEL, "compile_failed", "it does not compile:\na.cu(2): error: expected");
    assert_eq!(world.seen.borrow().compiled.len(), 1);
}

#[test]
fn a_kernel_must_fit_the_task() {
    let mut world = World { kernels: vec![kernel("softmax", &[8, 8, 4])], ..World::default() };
    check(&world, KERNEL, "compile_failed", "4 are passed, of [8, 8, 4, 4] bytes, it takes 3");
    world.kernels = vec![kernel("_Z8softmax2Pf", &[8])];
    check(&world, KERNEL, "compile_failed", "there is no kernel `softmax`");
    world.kernels = vec![kernel("_Z7softmaxPf", &[8]), kernel("_Z7softmaxPi", &[8])];
    check(&world, KERNEL, "compile_failed", "several kernels `softmax`");
}

#[test]
fn a_host_function_is_recorded_at_every_size() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![100];
    world.trace.steps = vec![launch(vec![address(0), address(2)])];
    check(&world, HOST, "success", "a host function");
    let seen = world.seen.borrow();
    assert_eq!(seen.compiled[0].front_end, FrontEnd::NvccHost);
    assert_eq!(seen.compiled[0].entries, ["softmax"]);
    assert_eq!(seen.recorded.len(), 3);
    let recording = &seen.recorded[1];
    assert_eq!((recording.entry.as_str(), &recording.buffers[..]), ("softmax", &[28_000; 2][..]));
    let Argument::Tensor(x) = &recording.arguments[0] else { panic!("a tensor") };
    assert_eq!((x.buffer, x.dtype, &x.shape[..]), (0, Dtype::Fp32, &[7, 1_000][..]));
    assert_eq!(recording.arguments[2], Argument::I32(7));
    // Six buffers of the task, and three of its own, one a size.
    assert_eq!(seen.specs.len(), 9);
    assert_eq!((seen.specs[7].count, seen.specs[7].dtype), (100, Dtype::Ui8));
    assert_eq!(seen.plans[1].0, [launch(vec![address(2), address(7)])]);
}

#[test]
fn what_cannot_be_replayed_is_unsupported() {
    let mut world = World::default();
    world.trace.unsupported = vec!["cudaMemcpy to the host".into(), "cudaGraphLaunch".into()];
    let reason = "at size 1 (cols=128, rows=64): cudaMemcpy to the host; cudaGraphLaunch";
    check(&world, HOST, "unsupported", reason);
    let log = "x.h(3): error: static assertion failed with \"assay: unsupported: Tensor::index\"\n";
    let error = assay_plugin::gpu::compiler::Error::Rejected(log.into());
    let world =
        World { compiler: Some((crate::world::Place::CompileSolution, error)), ..World::default() };
    check(&world, TORCH, "unsupported", "Tensor::index\nprogram");
}

#[test]
fn an_answer_that_allocates_without_end_is_refused() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![1 << 32, 1];
    check(&world, HOST, "execute_error", "it allocates more than");
    world.trace.scratch_bytes = vec![u64::MAX, u64::MAX];
    check(&world, HOST, "execute_error", "it allocates more than");
}

#[test]
fn an_answer_that_launches_without_end_is_refused() {
    let mut world = World::default();
    let bytes = Arg::ByValue(assay_plugin::gpu::ByValue { bytes: vec![0; 4_096], patches: vec![] });
    world.trace.steps = vec![launch(vec![bytes]); 500];
    check(&world, HOST, "compile_failed", "its image and launches have");
}

fn returned(buffer: u32, offset: u64, shape: &[u64]) -> Returned {
    Returned { buffer, offset, dtype: Dtype::Fp32, shape: shape.to_vec() }
}

/// One size, so that one trace fits.
fn torch(world: &World) -> Scored {
    let mut label = label();
    label["sizes"] = json!([{"rows": 2, "cols": 3}]);
    label["held_out"] = json!([]);
    world.judge(TORCH, &label, "{}").expect("a reward")
}

#[test]
fn a_returned_tensor_becomes_the_output() {
    let mut world = World::default();
    world.trace.steps = vec![launch(vec![address(0), address(2)])];
    world.trace.scratch_bytes = vec![24];
    world.trace.returned = vec![returned(2, 0, &[2, 3])];
    let scored = torch(&world);
    assert_eq!(scored.verdict, "success", "{}", scored.explanation);
    assert!(scored.explanation.contains("a PyTorch extension"));
    let seen = world.seen.borrow();
    assert_eq!(seen.compiled[0].entries, [""; 0], "its module names it");
    assert_eq!(seen.recorded[0].arguments.len(), 1);
    assert_eq!(seen.plans[0].0, [launch(vec![address(0), address(1)])]);
}

#[test]
fn a_part_of_what_was_allocated_is_copied() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![48];
    world.trace.returned = vec![returned(2, 24, &[2, 3])];
    assert_eq!(torch(&world).verdict, "success");
    let copy = |buffer, offset| {
        let from = Address { buffer, offset };
        Step::Copy(CopyBytes { to: Address { buffer: 1, offset: 0 }, from, bytes: 24 })
    };
    assert_eq!(world.seen.borrow().plans[0].0[1], copy(2, 24));
    let mut world = World::default();
    world.trace.returned = vec![returned(0, 0, &[2, 3])];
    assert_eq!(torch(&world).verdict, "success");
    assert_eq!(world.seen.borrow().plans[0].0[1], copy(0, 0), "it returns its input");
}

/// Two extensions, called by a `forward` with this line.
fn two_extensions(world: &World, line: &str) -> Scored {
    let mut label = label();
    label["sizes"] = json!([{"rows": 2, "cols": 3}]);
    label["held_out"] = json!([]);
    let response = format!(
        "```python\nfrom torch.utils.cpp_extension import load_inline\nimport torch.nn as nn\n\
         a = load_inline('a', '', '// a', ['f'])\nb = load_inline('b', '', '// b', ['f'])\n\
         class ModelNew(nn.Module):\n    def forward(self, x):\n        return {line}\n```"
    );
    world.judge(&response, &label, "{}").expect("a reward")
}

fn modules(world: &World) -> Vec<u32> {
    let module = |step: &Step| match step {
        Step::Launch(launch) => Some(launch.module),
        _ => None,
    };
    world.seen.borrow().plans[0].0.iter().filter_map(module).collect()
}

#[test]
fn each_extension_is_compiled_and_recorded_by_itself() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![24];
    world.trace.returned = vec![returned(2, 0, &[2, 3])];
    let scored = two_extensions(&world, "b.f(a.f(x))");
    assert_eq!(scored.verdict, "success", "{}", scored.explanation);
    assert_eq!(modules(&world), [0, 1]);
    let seen = world.seen.borrow();
    let texts: Vec<_> =
        seen.recorded.iter().map(|one| String::from_utf8_lossy(&one.host_object)).collect();
    assert!(texts[0].contains("// a") && texts[1].contains("// b"), "{texts:?}");
    assert_eq!(seen.loaded, ["solution.cu", "solution.cu", "reference.cu"]);
    let Step::Launch(reference) = &seen.plans[0].1[0] else { panic!("a launch") };
    assert_eq!(reference.module, 2);
    assert!(seen.compiled[..2].iter().all(|request| request.cpu_ms == 45_000));
}

#[test]
fn a_copy_of_a_view_is_the_judges_own_kernel() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![24];
    world.trace.returned = vec![returned(3, 0, &[2, 3])];
    world.found = Box::new(|number, _, report| {
        if number == 1 {
            report.outputs = vec![wrong()];
        }
    });
    let scored = two_extensions(&world, "b.f(x.t().contiguous())");
    assert_eq!(scored.verdict, "success", "{}", scored.explanation);
    assert_eq!(modules(&world), [2, 1]);
    // The judge looks whether the result would be right without the kernel of `b`.
    let plans = world.seen.borrow().plans.clone();
    assert_eq!(plans[1].0[0], plans[0].0[0]);
    let [from, to] = [0, 1].map(|buffer| Address { buffer, offset: 0 });
    assert_eq!(plans[1].0[1..], [Step::Copy(CopyBytes { to, from, bytes: 24 })]);
    world.found = World::default().found;
    let scored = two_extensions(&world, "b.f(x.t().contiguous())");
    assert_eq!(scored.verdict, "unsupported");
    assert!(scored.explanation.contains("right without its kernels"), "{}", scored.explanation);
    let expected = ["solution.cu", "solution.cu", "copy.cu", "reference.cu"];
    assert_eq!(world.seen.borrow().loaded, expected);
    // One that copies and does nothing else has no kernel.
    for line in ["x.t().contiguous().view(2, 3)", "x.clone()", "x"] {
        let scored = two_extensions(&World::default(), line);
        assert_eq!(scored.verdict, "unsupported", "{line}");
        assert!(scored.explanation.contains("no kernel of its own runs"), "{}", scored.explanation);
    }
}

#[test]
fn a_copy_of_bytes_beside_a_kernel_is_not_the_kernels_work() {
    let mut world = World::default();
    world.trace.scratch_bytes = vec![24];
    world.trace.returned = vec![returned(2, 0, &[2, 3])];
    for line in ["[a.f(x), x.clone()][1]", "[a.f(x), x][1]"] {
        let scored = two_extensions(&world, line);
        assert_eq!(scored.verdict, "unsupported", "{line}: {}", scored.explanation);
        assert!(scored.explanation.contains("right without its kernels"), "{}", scored.explanation);
    }
}

#[test]
fn a_wrong_tensor_is_a_wrong_answer() {
    let check = |returned: Vec<Returned>, reason: &str| {
        let mut world = World::default();
        world.trace.scratch_bytes = vec![24];
        world.trace.returned = returned;
        let scored = torch(&world);
        assert_eq!(scored.verdict, "wrong_answer");
        assert!(scored.explanation.contains(reason), "{}", scored.explanation);
    };
    check(vec![], "it returns 0 tensors, the task wants 1");
    check(vec![returned(2, 0, &[6])], "`y` is returned in another shape");
    let half = Returned { dtype: Dtype::Fp16, ..returned(2, 0, &[2, 3]) };
    check(vec![half], "`y` is returned in another type");
    check(vec![returned(2, 8, &[2, 3])], "without its memory");
    check(vec![returned(9, 0, &[2, 3])], "without its memory");
    check(vec![returned(2, u64::MAX, &[2, 3])], "without its memory");
}

#[test]
fn an_answer_without_a_program_never_meets_a_compiler() {
    let world = World::default();
    let check = |response: &str, verdict: &str, reward: f64, reason: &str| {
        let scored = judge(&world, response);
        assert_eq!((scored.verdict.as_str(), scored.reward), (verdict, reward));
        assert!(scored.explanation.contains(reason), "{}", scored.explanation);
    };
    check("I cannot.", "generation_failed", -1.0, "no block of CUDA");
    check("<think>softmax", "generation_failed", -1.0, "ends inside its thoughts");
    let library = "```cuda\n#include <cublas_v2.h>\nextern \"C\" void softmax() {}\n```";
    check(library, "unsupported", -0.5, "it includes cublas_v2.h");
    assert!(world.seen.borrow().compiled.is_empty());
}

#[test]
fn stages_and_their_artifacts_are_their_own() {
    let description = Cuda::describe();
    let stages: Vec<_> =
        description.stages.iter().map(|stage| (stage.name.as_str(), stage.pool.as_str())).collect();
    assert_eq!(stages, [("compile", "cpu"), ("execute", "gpu")]);
    assert!(!description.deterministic);
    let (world, request) = (World::default(), Request::new("", KERNEL, &label().to_string()));
    for (stage, input) in [
        ("execute", None),
        ("compile", Some(Artifact::bytes("x"))),
        ("execute", Some(Artifact::bytes("no artifact"))),
        ("run", None),
    ] {
        let result = run_stage(&world, stage, "{}", &request, input);
        assert!(matches!(result, Err(Error::Internal(_))), "{stage}: {result:?}");
    }
}
