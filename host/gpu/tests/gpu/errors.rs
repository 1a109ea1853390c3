//! Every way in which a session says that a kernel, or a launch, is wrong.

use std::time::Instant;

use assay_gpu::session::{BufferInit, BufferRole, BufferSpec, Origin, SessionError, SessionLimits};
use assay_gpu::types::{KernelArg, PlanStep};

use super::bench::{
    Bench, DTYPE, KERNELS, Loaded, NATIVE, bench, fresh, limits, loaded, milliseconds, pairs,
    report, soon,
};

const COUNT: u32 = 1000;

/// The kind of an error, such as `IllegalAddress`.
fn kind(error: &SessionError) -> String {
    let text = format!("{error:?}");
    text.split('(').next().unwrap().to_owned()
}

// Which of several a trap, a jump and a stack become is the architecture's.
const UNCLEAR: &[&str] = &["Trapped", "IllegalInstruction", "IllegalAddress", "LaunchFailed"];

fn check(bench: &Bench, text: &str, kernel: &str, expected: &[&str]) {
    let mut it = loaded(bench, text, COUNT, COUNT);
    let plan = it.plan(it.candidate, kernel);
    let error = it.session.run(&plan, Some(1)).unwrap_err();
    report("errors", kernel, format!("{error:?}"), "");
    assert!(expected.contains(&kind(&error).as_str()), "{kernel}: {error:?}");
    assert_eq!(it.session.run(&[], None), Err(error), "the session is over");
}

#[test]
fn what_a_kernel_does_wrong_is_named_and_ends_the_session() {
    let Some(bench) = bench("errors") else { return };
    check(&bench, KERNELS, "wild", &["IllegalAddress"]);
    check(&bench, KERNELS, "misaligned", &["MisalignedAddress"]);
    check(&bench, KERNELS, "trap", UNCLEAR);
    // As if nothing had happened.
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let (plan, reference) = (it.plan(it.candidate, "honest"), it.plan(it.trusted, "honest"));
    let reports = it.session.check(&plan, &reference, &pairs(), &[1]).unwrap();
    assert!(reports[0].outputs[0].ok, "{reports:?}");
}

#[test]
fn what_only_a_gpu_does_wrong() {
    let Some(bench) = bench("errors of a GPU alone") else { return };
    check(&bench, NATIVE, "asserts", &["Trapped"]);
    check(&bench, NATIVE, "jumps", UNCLEAR);
    check(&bench, NATIVE, "recurses", UNCLEAR);
}

#[test]
fn what_a_launch_cannot_be_is_named_and_the_session_goes_on() {
    let Some(bench) = bench("launches") else { return };
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    let honest = it.plan(it.candidate, "honest");
    let mut refused = |expected: &str, change: &dyn Fn(&mut assay_gpu::types::KernelLaunch)| {
        let mut plan = honest.clone();
        let PlanStep::Launch(launch) = &mut plan[0] else { unreachable!("a launch") };
        change(launch);
        let error = it.session.run(&plan, Some(1)).unwrap_err();
        assert_eq!(kind(&error), expected, "{error:?}");
    };
    refused("NoSuchKernel", &|launch| launch.kernel = "dishonest".into());
    refused("BadArguments", &|launch| drop(launch.args.pop()));
    refused("BadArguments", &|launch| launch.args[2] = KernelArg::I64(1));
    refused("InvalidLaunch", &|launch| launch.block.x = 2048);
    refused("InvalidLaunch", &|launch| launch.block.z = 128);
    refused("InvalidLaunch", &|launch| launch.grid.x = 0);
    refused("InvalidLaunch", &|launch| launch.grid.y = 70_000);
    refused("InvalidLaunch", &|launch| launch.dynamic_shared_bytes = 1 << 20);
    refused("InvalidLaunch", &|launch| {
        launch.cooperative = true;
        launch.grid.x = 1 << 20;
    });
    it.session.run(&honest, Some(1)).unwrap();
}

#[test]
fn images_and_memory_that_cannot_be() {
    let Some(bench) = bench("images") else { return };
    let mut session = bench.open();
    for image in [&b"\x7fELF\x02\x01\x01"[..], b"", b"not PTX", b"\xff\x00\xff"] {
        let error = session.load(image, Origin::Candidate).unwrap_err();
        assert_eq!(kind(&error), "ImageRejected", "{error:?}");
    }
    let broken = KERNELS.replace("mad.lo.s32", "mad.lo.s33");
    let error = session.load(broken.as_bytes(), Origin::Candidate).unwrap_err();
    report("images", "broken PTX", format!("{error:?}"), "");
    assert_eq!(kind(&error), "ImageRejected", "{error:?}");
    drop(session);
    // More than there is, though it is allowed.
    let much = SessionLimits { memory_bytes: u64::MAX / 2, ..limits() };
    let mut session = bench.gpu.open(much, soon()).unwrap();
    let count = bench.properties.memory_bytes / 4 + 1;
    let spec =
        BufferSpec { dtype: DTYPE, count, role: BufferRole::Scratch, init: BufferInit::Zeros };
    let error = session.alloc(&[spec]).unwrap_err();
    assert_eq!(kind(&error), "Limit", "{error:?}");
}

#[test]
fn memory_that_one_side_has_and_the_other_lacks() {
    let Some(bench) = bench("memory") else { return };
    let much = SessionLimits { memory_bytes: u64::MAX / 2, ..limits() };
    let mut session = bench.gpu.open(much, soon()).unwrap();
    let candidate = session.load(KERNELS.as_bytes(), Origin::Candidate).unwrap();
    let trusted = session.load(KERNELS.as_bytes(), Origin::Trusted).unwrap();
    session.alloc(&super::bench::specs(COUNT, COUNT)).unwrap();
    let mut it = Loaded { session, candidate, trusted, count: COUNT };
    let (plan, reference) = (it.plan(candidate, "honest"), it.plan(trusted, "honest"));
    it.session.check(&plan, &reference, &pairs(), &[1]).unwrap();
    // It fits once, and not twice.
    let count = bench.properties.memory_bytes / 20 * 3;
    let spec =
        BufferSpec { dtype: DTYPE, count, role: BufferRole::Scratch, init: BufferInit::Zeros };
    let error = it.session.alloc(&[spec]).unwrap_err();
    assert_eq!(kind(&error), "Limit", "{error:?}");
    assert_eq!(it.session.run(&plan, Some(1)).unwrap_err(), error);
}

#[test]
fn a_gpu_is_one_workers() {
    let Some(bench) = bench("one worker's") else { return };
    let (first, _turn) = bench.anew();
    first.describe(soon()).unwrap();
    let mut held = vec![first];
    let error = loop {
        let next = fresh();
        match next.describe(soon()) {
            Ok(_) => held.push(next),
            Err(error) => break error,
        }
    };
    let words = format!("other workers have all of this machine's GPUs ({})", held.len());
    assert!(error.to_string().contains(&words), "{error}");
    held.pop();
    fresh().describe(soon()).unwrap();
}

#[test]
fn an_endless_kernel_is_killed() {
    let test = "endless";
    let Some(bench) = bench(test) else { return };
    let short = SessionLimits { plan_ms: 1000, ..limits() };
    let mut session = bench.gpu.open(short, soon()).unwrap();
    let candidate = session.load(KERNELS.as_bytes(), Origin::Candidate).unwrap();
    session.alloc(&super::bench::specs(COUNT, COUNT)).unwrap();
    let mut it = Loaded { session, candidate, trusted: candidate, count: COUNT };
    let plan = it.plan(candidate, "endless");
    let started = Instant::now();
    let error = it.session.run(&plan, Some(1)).unwrap_err();
    assert_eq!(kind(&error), "TimedOut", "{error:?}");
    // No bound: time without a processor does not count as the plan's, and on a busy machine that is most of it.
    report(test, "from the start to the verdict, of 1000 allowed", milliseconds(started), "ms");
    let started = Instant::now();
    drop(it);
    report(test, "the end of its session", milliseconds(started), "ms");
    let started = Instant::now();
    let mut it = loaded(&bench, KERNELS, COUNT, COUNT);
    report(test, "the next session", milliseconds(started), "ms");
    let plan = it.plan(it.candidate, "honest");
    it.session.run(&plan, Some(1)).unwrap();
}

#[test]
fn what_a_kernel_prints_is_kept() {
    let Some(bench) = bench("printed") else { return };
    let mut it = loaded(&bench, NATIVE, COUNT, COUNT);
    let plan = it.plan(it.candidate, "prints");
    it.session.run(&plan, Some(1)).unwrap();
    let printed = it.session.printed().unwrap();
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    let expected: Vec<String> = (0..4).map(|thread| format!("thread {thread} of 256")).collect();
    assert_eq!(lines, expected);
}
