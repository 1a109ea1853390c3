//! Sources that are refused and faults that end a launch: each error has its name and its place.

use crate::device::Device;
use assay_ptx::{FaultKind, LaunchError, MemoryError, ParseProblem, PtxModule};
use proptest::prelude::*;

fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.const .u32 fixed = 5;\n.visible .entry test(.param .u64 p)\n{{\n\
         .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;\n\
         ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, %laneid; setp.lt.u32 %p1, %r1, 16;\n{body}\nret;\n}}\n"
    )
}

/// Runs on 64 threads with a buffer of 64 bytes; `body` is line 9.
#[track_caller]
fn run(body: &str) -> Result<Vec<u32>, LaunchError> {
    let mut device = Device::new(&text(body));
    let at = device.buffer(&[0u32; 16]);
    device.try_run("test", [1, 1, 1], [64, 1, 1], 0, vec![at.into()], 1_000_000)?;
    Ok(device.elements(at, 16))
}

#[track_caller]
fn fault(body: &str) -> (FaultKind, [u32; 3], u32) {
    let error = run(body).unwrap_err();
    let LaunchError::Fault(fault) = error else { panic!("{error}") };
    assert_eq!((fault.kernel.as_str(), fault.block), ("test", [0, 0, 0]));
    (fault.kind, fault.thread, fault.line)
}

#[test]
fn bad_accesses_name_thread_address_and_line() {
    let (kind, thread, line) = fault("mad.wide.u32 %d2, %r1, 4, %d1;\nst.global.u32 [%d2], %r1;");
    let FaultKind::OutOfBounds { space: "global", address, bytes: 4 } = kind else {
        panic!("{kind}")
    };
    assert_eq!((thread, line, address % 512), ([16, 0, 0], 10, 64));
    assert!(matches!(
        fault("ld.global.u32 %r3, [%d1+2];").0,
        FaultKind::Misaligned { bytes: 4, .. }
    ));
    assert!(matches!(
        fault("ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%d1+8];").0,
        FaultKind::Misaligned { bytes: 16, .. }
    ));
    assert!(matches!(fault("ld.global.u32 %r3, [%d1-4];").0, FaultKind::OutOfBounds { .. }));
    assert_eq!(
        fault("mov.u64 %d2, 0; ld.global.u32 %r3, [%d2+8];").0,
        FaultKind::Null { address: 8 }
    );
    assert!(matches!(
        fault("mov.u64 %d2, fixed; st.global.u32 [%d2], 1;").0,
        FaultKind::ReadOnly { .. }
    ));
    assert!(matches!(
        fault("ld.const.u32 %r3, [%d1];").0,
        FaultKind::OutOfBounds { space: "constant", .. }
    ));
    let shared = fault(".shared .b32 s[4]; mov.u32 %r3, s; ld.shared.u32 %r3, [%r3+16];").0;
    assert_eq!(shared, FaultKind::OutOfBounds { space: "shared", address: 16, bytes: 4 });
    assert!(matches!(
        fault(".local .b32 s[4]; ld.local.u32 %r3, [s+16];").0,
        FaultKind::OutOfBounds { space: "local", .. }
    ));
    assert_eq!(fault("trap;").0, FaultKind::Trap);
}

#[test]
fn an_endless_loop_ends_by_the_budget() {
    let error = run("again: bra again;").unwrap_err();
    assert_eq!(error, LaunchError::BudgetExhausted { kernel: "test".into() });
}

#[test]
fn barriers() {
    // Two halves of a warp, each at its own barrier.
    let apart = "@%p1 bra low; bar.sync 1; bra end; low: bar.sync 2; end:";
    assert!(matches!(fault(apart).0, FaultKind::BarrierStuck { .. }));
    // One barrier from two places is passed, and threads that have returned are not waited for.
    run("@%p1 bra low; bar.sync 0; bra end; low: bar.sync 0; end:").unwrap();
    run("@%p1 ret; bar.sync 0;").unwrap();
    // The count of one warp: each passes for itself.
    run("barrier.sync 3, 32;").unwrap();
    assert!(matches!(fault("bar.sync 16;").0, FaultKind::BadBarrier { barrier: 16, .. }));
    assert!(matches!(fault("bar.sync 0, 33;").0, FaultKind::BadBarrier { .. }));
    assert!(matches!(fault("bar.sync 0, 96;").0, FaultKind::BarrierStuck { .. }));
}

#[test]
fn warps_work_together() {
    // Lanes that diverged wait for one another at the instruction.
    let split = "mov.u32 %r5, 0; @%p1 bra on; mov.u32 %r5, 1; add.u32 %r5, %r5, 0; on:\n\
                 shfl.sync.bfly.b32 %r6|%p2, %r1, 16, 31, -1;\n\
                 setp.lt.u32 %p3, %r1, 16; mad.wide.u32 %d2, %r1, 4, %d1; @%p3 st.global.u32 [%d2], %r6;";
    assert_eq!(run(split).unwrap(), (16..32).collect::<Vec<u32>>());
    let missing = fault("@%p1 bar.warp.sync -1; bar.sync 0;");
    assert_eq!(missing.0, FaultKind::LanesMissing { missing: 0xffff_0000 });
    assert_eq!(fault("bar.warp.sync 1;").0, FaultKind::BadMemberMask { mask: 1 });
    // Lanes that have returned are not waited for.
    let vote = "@%p1 ret; vote.sync.ballot.b32 %r3, %p1, -1; vote.sync.all.pred %p2, !%p1, -1; selp.u32 %r3, 5, 6, %p2;\n\
                vote.sync.any.pred %p2, %p1, -1; @%p2 mov.u32 %r3, 9; st.global.u32 [%d1], %r3;";
    assert_eq!(run(vote).unwrap()[0], 5);
    let up = "shfl.sync.up.b32 %r6|%p2, %r1, 1, 0, -1; mad.wide.u32 %d2, %r1, 4, %d1; @%p1 st.global.u32 [%d2], %r6;";
    assert_eq!(run(up).unwrap(), [0].into_iter().chain(0..15).collect::<Vec<u32>>());
    // Segments of eight lanes.
    let segments = "shfl.sync.idx.b32 %r6, %r1, 2, 0x181f, -1; mad.wide.u32 %d2, %r1, 4, %d1; @%p1 st.global.u32 [%d2], %r6;";
    assert_eq!(run(segments).unwrap(), (0..16).map(|lane| lane / 8 * 8 + 2).collect::<Vec<u32>>());
    let down = "shfl.sync.down.b32 %r6, %r1, 4, 0x181f, -1; mad.wide.u32 %d2, %r1, 4, %d1; @%p1 st.global.u32 [%d2], %r6;";
    let want = |lane: u32| if lane % 8 < 4 { lane + 4 } else { lane };
    assert_eq!(run(down).unwrap(), (0..16).map(want).collect::<Vec<u32>>());
}

#[test]
fn matrices_and_copies_have_rules() {
    let product = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r3,%r4,%r5,%r6}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r3,%r4,%r5,%r6};";
    assert!(run(product).is_ok());
    let gone = fault(&format!("@%p1 ret; {product}")).0;
    assert_eq!(gone, FaultKind::WarpIncomplete { missing: 0xffff });
    let apart = fault(&format!("@%p1 {product} bar.sync 0;")).0;
    assert_eq!(apart, FaultKind::LanesMissing { missing: 0xffff_0000 });
    let rows = ".shared .align 16 .b8 rows[512]; mov.u32 %r3, rows; mad.lo.u32 %r3, %r2, 16, %r3;";
    let load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7},";
    assert!(run(&format!("{rows} {load} [%r3];")).is_ok());
    let misaligned = fault(&format!("{rows} {load} [%r3+8];")).0;
    assert_eq!(misaligned, FaultKind::Misaligned { address: 8, bytes: 16 });
    let (kind, thread, _) = fault(&format!("{rows} {load} [%r3+16];"));
    assert!(matches!(kind, FaultKind::OutOfBounds { space: "shared", address: 512, .. }));
    assert_eq!(thread, [31, 0, 0]);
    let copy = |copy: &str| fault(&format!(".shared .align 16 .b8 place[64]; {copy}")).0;
    let beyond = copy("cp.async.ca.shared.global [place+64], [%d1], 16;");
    assert!(matches!(beyond, FaultKind::OutOfBounds { space: "shared", address: 64, .. }));
    let outside = copy("cp.async.ca.shared.global [place], [%d1+64], 16;");
    assert!(matches!(outside, FaultKind::OutOfBounds { space: "global", .. }));
    let odd = copy("cp.async.ca.shared.global [place], [%d1+4], 8;");
    assert!(matches!(odd, FaultKind::Misaligned { bytes: 8, .. }));
    let more = copy("cp.async.ca.shared.global [place], [%d1], 4, 5;");
    assert!(matches!(more, FaultKind::BadOperand(_)));
    let over = "bar.arrive 1, 96; bar.arrive 1, 64;";
    assert!(matches!(fault(over).0, FaultKind::BadBarrier { barrier: 1, .. }));
    assert!(matches!(fault("bar.arrive 16, 64;").0, FaultKind::BadBarrier { .. }));
}

#[test]
fn work_of_a_warp_is_paid_for() {
    let steps = |body: &str| {
        let mut device = Device::new(&text(body));
        let at = device.buffer(&[0u32; 16]);
        device.run("test", [1, 1, 1], [32, 1, 1], 0, vec![at.into()]).steps
    };
    let product = "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r3,%r4,%r5,%r6}, {%r1,%r1,%r1,%r1}, {%r1,%r1}, {%r3,%r4,%r5,%r6};";
    // A thousand multiplications, of which a step stands for eight.
    assert_eq!(steps(product) - steps(""), 32 + 16 * 8 * 8 / 8);
}

#[test]
fn arrivals_are_paid_for_by_the_threads_that_are_looked_at() {
    // All warps but the first wait, and a lane of that one arrives again and again.
    let body = "setp.ge.u32 %p2, %r1, 32; @%p2 bra end; setp.ne.u32 %p2, %r1, 0; @%p2 bra end;\n\
                mov.u32 %r3, 0; again: bar.arrive 1, 32;\n\
                add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 640; @%p2 bra again; end: bar.sync 0;";
    let mut device = Device::new(&text(body));
    let at = device.buffer(&[0u32; 16]);
    let stats = device.run("test", [1, 1, 1], [1024, 1, 1], 0, vec![at.into()]);
    assert!(stats.steps > 640 * 1024 / 16, "{} steps", stats.steps);
}

#[test]
fn copies_that_nobody_waits_for_take_bounded_memory() {
    let body = ".shared .align 16 .b8 place[64]; mov.u32 %r3, 0; again: cp.async.ca.shared.global [place], [%d1], 16;\n\
                add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 2000; @%p2 bra again; ld.shared.u32 %r4, [place]; st.global.u32 [%d1+60], %r4;";
    // The oldest ones were done.
    assert_eq!(run(body).unwrap()[15], 0);
}

#[test]
fn a_warp_that_waits_for_another_lets_it_run() {
    // The first warp spins until the last thread has stored.
    let spin = ".shared .u32 flag; mov.u32 %r3, 0; setp.eq.u32 %p2, %r1, 0; @%p2 st.shared.u32 [flag], 0; bar.sync 0;\n\
                setp.eq.u32 %p2, %r1, 63; @%p2 st.shared.u32 [flag], 1;\n\
                setp.ge.u32 %p2, %r1, 32; @%p2 ret; again: ld.volatile.shared.u32 %r3, [flag]; setp.eq.u32 %p3, %r3, 0; @%p3 bra again;\n\
                st.global.u32 [%d1], %r3;";
    assert_eq!(run(spin).unwrap()[0], 1);
}

#[test]
fn what_is_not_supported_is_named() {
    for (body, part) in [
        ("wgmma.fence.sync.aligned;", "wgmma"),
        ("add.cc.u32 %r3, %r1, %r2;", "add with .cc"),
        ("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 %r3, %d1, %d1;", "wgmma"),
        (
            "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 %r3, %r3, %r3, %r3;",
            "a matrix product",
        ),
        ("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 %r3, %r3, %r3, %r3;", "instruction mma"),
        (
            "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %r3, %r3, %r3, %r3;",
            "mma with .sp",
        ),
        ("cp.async.bulk.commit_group;", "cp with .bulk"),
        ("cp.async.mbarrier.arrive.shared.b64 [%r1];", "mbarrier"),
        ("mbarrier.init.shared.b64 [%r1], 1;", "mbarrier"),
        ("barrier.cluster.arrive;", "barrier with .cluster"),
        ("redux.sync.add.f32 %r3, %r1, -1;", "this type"),
        ("add.rm.f64 %d2, %d1, %d1;", "rounding"),
        ("ld.shared::cluster.u32 %r3, [%r1];", "shared::cluster"),
        ("mad.lo.sat.s32 %r3, %r1, %r1, %r1;", "mad with .sat"),
        ("cvt.rn.bf16x2.ue8m0x2 %r3, %r1;", "cvt"),
        ("call.uni vprintf;", "vprintf"),
        (".param .b32 q; mov.b64 %d2, q;", "the address of a parameter"),
        ("prmt.b32.f4e %r3, %r1, %r2, %r1;", ".f4e"),
    ] {
        let error = PtxModule::parse(&text(body)).unwrap_err();
        assert!(matches!(error.problem, ParseProblem::Unsupported(_)), "{body}: {error}");
        assert_eq!(error.line, 9);
        assert!(error.to_string().contains(part), "{body}: {error}");
    }
}

#[test]
fn malformed_texts_say_where() {
    for body in [
        "add.u32 %r3, %r1;",
        "add.u32 %d2, %r1, %r1;",
        "bra nowhere;",
        "mov.u32 %r3, %r9;",
        "mov.u32 %r3, %r01;",
        "fma.f32 %r3, %r1, %r1, %r1;",
        "@%r1 bra x; x:",
        "x: x:",
        ".reg .b32 %r<9>;",
        "st.const.u32 [fixed], 1;",
        "mov.u32 %r3, 0f3F;",
        "mov.u32 %d1;",
        "ld.shared.u32 %r3, [fixed];",
    ] {
        let error = PtxModule::parse(&text(body)).unwrap_err();
        assert_eq!(error.line, 9, "{body}: {error}");
    }
    let error = PtxModule::parse(&text(".reg .b32 %many<4000000000>;")).unwrap_err();
    assert!(matches!(error.problem, ParseProblem::Limit("registers", _)));
    let error = PtxModule::parse(&text(".shared .b8 much[49153];")).unwrap_err();
    assert!(matches!(error.problem, ParseProblem::Limit("bytes of static shared memory", 49152)));
}

#[test]
fn texts_that_grow_as_they_are_read_are_refused() {
    // Each function calls the one before it eight times, and none has an instruction.
    let mut functions = String::from(".func f0 () { }\n");
    for level in 1..14 {
        let calls = format!("call f{};", level - 1).repeat(8);
        functions.push_str(&format!(".func f{level} () {{ {calls} }}\n"));
    }
    let calling = format!(".address_size 64\n{functions}.entry k () {{ call f13; }}\n");
    let error = PtxModule::parse(&calling).unwrap_err();
    assert!(matches!(error.problem, ParseProblem::Limit("statements", 800_000)), "{error}");
    // A name would be looked for in all of them, for each instruction.
    let error =
        PtxModule::parse(&text(&format!("{}{}", "{".repeat(129), "}".repeat(129)))).unwrap_err();
    assert!(matches!(error.problem, ParseProblem::Limit("scopes in one another", 128)), "{error}");
    assert!(PtxModule::parse(&text(&format!("{}{}", "{".repeat(128), "}".repeat(128)))).is_ok());
}

#[test]
fn words_are_bounded() {
    let limit = |text: &str, expected: &str| {
        let error = PtxModule::parse(text).unwrap_err();
        assert!(
            matches!(error.problem, ParseProblem::Limit(what, _) if what == expected),
            "{error}"
        );
    };
    let product = |types: usize| text(&format!("mma.sync{};", ".f32".repeat(types)));
    limit(&product(40), "modifiers");
    // Each would be taken out of all.
    limit(&product(1_000_000), "bytes of a word");
    limit(&"{ ".repeat(6 << 20), "words and marks");
    // Kernels that are not simulated have longer names.
    let name = "n".repeat(5_000);
    let long = format!(".entry {name}() {{ ret; }}");
    limit(&long, "bytes of a word");
    assert_eq!(assay_ptx::entries(&long).unwrap()[0].name, name);
    // A long name is looked up for each instruction, and the function is put in place of its calls.
    let name = format!("%{}", "r".repeat(4_000));
    let moves = format!("mov.u32 {name}, {name};").repeat(1_000);
    let calling = format!(
        ".address_size 64\n.func f () {{ .reg .b32 {name};\n{moves} }}\n\
         .entry k () {{ {} }}\n",
        "call f;".repeat(100)
    );
    limit(&calling, "bytes of names that are looked up");
}

#[test]
fn launches_are_checked() {
    let mut device = Device::new(&text(""));
    let mut refused = |grid, block, shared, args| {
        device.try_run("test", grid, block, shared, args, 1000).unwrap_err()
    };
    let one = [1, 1, 1];
    let invalid = |error| matches!(error, LaunchError::InvalidLaunch(_));
    assert!(invalid(refused(one, [1025, 1, 1], 0, vec![0u64.into()])));
    assert!(invalid(refused(one, [32, 33, 1], 0, vec![0u64.into()])));
    assert!(invalid(refused([0, 1, 1], one, 0, vec![0u64.into()])));
    assert!(invalid(refused(one, one, 227 * 1024 + 1, vec![0u64.into()])));
    assert!(matches!(refused(one, one, 0, vec![]), LaunchError::BadArguments(_)));
    assert!(matches!(refused(one, one, 0, vec![0u32.into()]), LaunchError::BadArguments(_)));
    let unknown = device.try_run("other", one, one, 0, vec![], 1000).unwrap_err();
    assert_eq!(unknown, LaunchError::NoSuchKernel("other".into()));
    // Five instructions, and the KiB of one warp's 17 registers.
    assert_eq!(device.run("test", one, one, 0, vec![0u64.into()]).steps, 5 + 4);
    let mut small = assay_ptx::Memory::new(16);
    assert_eq!(small.alloc(17), Err(MemoryError::Full { wanted: 17, left: 16 }));
}

#[test]
fn kernels_are_described() {
    let module = PtxModule::parse(include_str!("../fixtures/matmul.ptx")).unwrap();
    let [kernel] = module.kernels() else { panic!("one kernel") };
    assert_eq!((kernel.name.as_str(), kernel.max_threads), ("matmul", 256));
    assert_eq!(kernel.static_shared_bytes, 16 * 16 * 4 + 16 * 17 * 4);
    let offsets: Vec<u64> = kernel.params.iter().map(|param| param.offset).collect();
    assert_eq!(offsets, [0, 8, 16, 24, 28, 32]);
}

const TEXTS: [&str; 5] = [
    include_str!("../fixtures/scan.ptx"),
    include_str!("../fixtures/diverge.ptx"),
    include_str!("../fixtures/halves.ptx"),
    include_str!("../fixtures/stencil.ptx"),
    include_str!("../fixtures/layernorm.ptx"),
];

/// Runs whatever has been made of a text, a little.
fn try_all(text: &str) {
    let Ok(module) = PtxModule::parse(text) else { return };
    let module = std::sync::Arc::new(module);
    for info in module.kernels().to_vec() {
        let mut device = Device { module: module.clone(), memory: assay_ptx::Memory::new(1 << 27) };
        let at = device.buffer(&[0u32; 64]);
        let args = info.params.iter().map(|param| {
            let number = if param.bytes == 8 { at } else { 16 };
            number
                .to_le_bytes()
                .into_iter()
                .cycle()
                .take(param.bytes as usize)
                .collect::<Vec<u8>>()
                .into()
        });
        // Whether it ends well does not matter: it ends.
        drop(device.try_run(&info.name, [1, 1, 1], [32, 1, 1], 64, args.collect(), 20_000));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn truncated_texts_never_panic(which in 0..TEXTS.len(), share in 0.0..1.0f64) {
        let text = TEXTS[which];
        try_all(&text[..(text.len() as f64 * share) as usize]);
    }

    #[test]
    fn mutated_texts_never_panic(which in 0..TEXTS.len(), edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4), 1..4)) {
        let mut words: Vec<&str> = TEXTS[which].split_inclusive([' ', '\t', '\n', ',', '.', '%', ';']).collect();
        for (to, from, kind) in edits {
            let (to, from) = (to.index(words.len()), from.index(words.len()));
            match kind {
                0 => words[to] = words[from],
                1 => words.swap(to, from),
                2 => { words.remove(to); }
                _ => words.insert(to, ["4294967296", "-", "{", "}", "0f", "%r1", "[", ";"][from % 8]),
            }
        }
        try_all(&words.concat());
    }
}
