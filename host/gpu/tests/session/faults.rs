//! Kernels that fail, launches that cannot be, and whose fault it is.

use std::time::Duration;

use assay_gpu::session::{Origin, SessionError, SessionLimits};
use assay_gpu::types::{BufferAddress, Dim3, KernelArg, KernelLaunch, PlanStep};

use super::bench::*;

/// A fault that ends the session: every later call gets the same answer, and the candidate's process has
/// ended.
#[track_caller]
fn ends(kernel: &str, expected: fn(&SessionError) -> bool) {
    let mut task = Task::new(&gpu());
    let process = task.session.processes()[0];
    let error = task.fault(kernel);
    assert!(expected(&error), "{kernel}: {error}");
    assert!(!lives(process));
    assert_eq!(task.session.processes().len(), 1);
    let address = BufferAddress { buffer: 0, offset: 0 };
    assert_eq!(task.session.load(KERNELS, Origin::Trusted), Err(error.clone()));
    assert_eq!(task.session.kernels(0), Err(error.clone()));
    assert_eq!(task.session.alloc(&[]), Err(error.clone()));
    assert_eq!(task.session.upload(address, &[1]), Err(error.clone()));
    assert_eq!(task.session.download(address, 1), Err(error.clone()));
    assert_eq!(task.session.run(&[], None), Err(error.clone()));
    assert_eq!(task.session.printed(), Err(error.clone()));
    assert_eq!(task.fault("twice"), error);
}

#[test]
fn each_fault_is_named_and_ends_the_session() {
    ends(
        "far_away",
        |error| matches!(error, SessionError::IllegalAddress(words) if words.contains("far_away")),
    );
    ends("misaligned", |error| matches!(error, SessionError::MisalignedAddress(_)));
    ends("bad_barrier", |error| matches!(error, SessionError::IllegalInstruction(_)));
    ends("traps", |error| matches!(error, SessionError::Trapped(_)));
    ends("stuck", |error| matches!(error, SessionError::LaunchFailed(_)));
}

#[test]
fn an_endless_kernel_times_out_by_its_steps() {
    ends("endless", |error| *error == SessionError::TimedOut(100));
}

#[test]
fn plans_and_sessions_have_budgets() {
    // A millisecond is 50 000 steps, an iteration six of them.
    let limits = SessionLimits { plan_ms: 10, total_ms: 15, ..LIMITS };
    let steps = |task: &Task, iterations| {
        let mut launch =
            launch(task.candidate, "many_steps", vec![at(1), KernelArg::I32(iterations)]);
        launch.block = Dim3 { x: 1, y: 1, z: 1 };
        [PlanStep::Launch(launch)]
    };
    let mut task = Task::with(&gpu(), limits);
    let plan = steps(&task, 60_000);
    task.session.run(&plan, Some(1)).unwrap();
    task.session.run(&plan, Some(1)).unwrap();
    assert_eq!(task.session.run(&plan, Some(1)), Err(SessionError::TimedOut(15)));
    let mut task = Task::with(&gpu(), limits);
    let plan = steps(&task, 300_000);
    assert_eq!(task.session.run(&plan, Some(1)), Err(SessionError::TimedOut(10)));
}

#[test]
fn a_slow_reference_is_the_tasks_fault_and_costs_the_candidate_nothing() {
    let limits = SessionLimits { plan_ms: 10, total_ms: 15, ..LIMITS };
    let mut task = Task::with(&gpu(), limits);
    let steps = |module, iterations| {
        let mut launch = launch(module, "many_steps", vec![at(1), KernelArg::I32(iterations)]);
        launch.block = Dim3 { x: 1, y: 1, z: 1 };
        [PlanStep::Launch(launch)]
    };
    let (quick, slow) = (steps(task.candidate, 1), steps(task.reference, 60_000));
    let mut check = |seeds: &[u64]| task.session.check(&quick, &slow, &[pair(EXACT)], seeds);
    assert!(check(&[1, 2]).unwrap().iter().all(|report| report.outputs[0].ok));
    let words = "the reference takes more than 30 ms in all";
    assert_eq!(check(&[3, 4, 5]), Err(SessionError::BadRequest(words.into())));
    let held_up = task.session.take_held_up();
    assert!(held_up.setup > Duration::ZERO, "{held_up:?}");
}

fn size(x: u32, y: u32) -> Dim3 {
    Dim3 { x, y, z: 1 }
}

#[test]
fn launches_that_cannot_be_leave_the_session_as_it_was() {
    let mut task = Task::new(&gpu());
    let whole = vec![at(0), at(1), KernelArg::I32(COUNT as i32)];
    let mut try_launch = |change: &dyn Fn(&mut KernelLaunch)| {
        let mut launch = launch(task.candidate, "twice", whole.clone());
        change(&mut launch);
        task.session.run(&[PlanStep::Launch(launch)], Some(1)).unwrap_err()
    };
    assert_eq!(
        try_launch(&|launch| launch.kernel = "thrice".into()),
        SessionError::NoSuchKernel("thrice".into())
    );
    let no_arguments: [fn(&mut KernelLaunch); 4] = [
        |launch| launch.args.truncate(2),
        |launch| launch.args[2] = KernelArg::I64(1),
        |launch| launch.args.push(KernelArg::Fp32(1.0)),
        |launch| {
            launch.args[0] = KernelArg::Address(BufferAddress { buffer: 0, offset: 4 * COUNT + 1 })
        },
    ];
    for change in no_arguments {
        let error = try_launch(&change);
        assert!(matches!(error, SessionError::BadArguments(_)), "{error}");
    }
    let no_sizes: [fn(&mut KernelLaunch); 5] = [
        |launch| launch.block = size(1_025, 1),
        |launch| launch.block = size(32, 33),
        |launch| launch.grid = size(0, 1),
        |launch| launch.grid = size(1, 65_536),
        |launch| launch.dynamic_shared_bytes = 227 * 1_024 + 1,
    ];
    for change in no_sizes {
        let error = try_launch(&change);
        assert!(matches!(error, SessionError::InvalidLaunch(_)), "{error}");
    }
    let error = try_launch(&|launch| {
        launch.cooperative = true;
        launch.grid = size(2, 1);
    });
    assert!(matches!(error, SessionError::Unsupported(_)), "{error}");
    assert!(task.check_kernel("twice").outputs[0].ok);
    // An over-sized launch leaves poison, not what an earlier one wrote.
    let mut small = launch(task.candidate, "small_blocks", vec![at(1)]);
    small.block = size(65, 1);
    let error = task.session.run(&[PlanStep::Launch(small)], Some(2)).unwrap_err();
    assert!(matches!(error, SessionError::InvalidLaunch(_)), "{error}");
    let left = task.session.download(BufferAddress { buffer: 1, offset: 0 }, 8).unwrap();
    assert!(floats(&left).iter().all(|value| value.is_nan()));
}

#[test]
fn images_are_rejected_by_name() {
    let mut session = open(&gpu());
    let cubin = session.load(b"\x7fELF\x02\x01\x01\x33\x00\x00\xff", Origin::Candidate);
    let Err(SessionError::ImageRejected(words)) = cubin else { panic!("{cubin:?}") };
    assert!(words.contains("compute_90"));
    let text = "\n.version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{\nwgmma.fence.sync.aligned;\nret;\n}\n";
    let unsupported = session.load(text.as_bytes(), Origin::Candidate);
    let Err(SessionError::Unsupported(words)) = unsupported else { panic!("{unsupported:?}") };
    assert!(words.contains("wgmma"));
    let many = ".reg .b32 %r<4000000000>;";
    let limit =
        session.load(text.replace("wgmma.fence.sync.aligned;", many).as_bytes(), Origin::Candidate);
    assert!(matches!(limit, Err(SessionError::Limit(_))), "{limit:?}");
    // The task's own is the task's fault.
    let trusted = session.load(text.as_bytes(), Origin::Trusted);
    assert!(matches!(trusted, Err(SessionError::BadRequest(_))), "{trusted:?}");
    assert_eq!(session.load(KERNELS, Origin::Candidate), Ok(0));
}

#[test]
fn a_reference_that_fails_is_the_tasks_fault() {
    let gpu = gpu();
    for (kernel, is_over) in [("thrice", false), ("traps", true), ("endless", true)] {
        let mut task = Task::new(&gpu);
        let args =
            if kernel == "traps" { vec![at(1)] } else { vec![at(0), at(1), KernelArg::I32(1)] };
        let reference = [PlanStep::Launch(launch(task.reference, kernel, args))];
        let plan = task.step("twice");
        let error = task.session.check(&plan, &reference, &[pair(EXACT)], &[1]).unwrap_err();
        let SessionError::BadRequest(words) = &error else { panic!("{error}") };
        assert!(words.contains("reference"), "{words}");
        let after = task.check(&plan, &[1]);
        assert_eq!(after.is_err(), is_over, "{after:?}");
        assert!(!is_over || after == Err(error));
    }
    // Its judge was replaced.
    assert!(Task::new(&gpu).check_kernel("twice").outputs[0].ok);
}
