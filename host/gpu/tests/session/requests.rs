//! Requests that a plugin must not make.

use assay_core::limits::GPU_SESSION_BUFFERS_MAX;
use assay_gpu::device::BufferTolerance;
use assay_gpu::session::{
    BufferInit, BufferRole, BufferSpec, MeasureOptions, Origin, Pair, SessionError, SessionLimits,
};
use assay_gpu::types::{BufferAddress, ElementType, KernelArg, Patch, PlanStep};

use super::bench::*;

#[track_caller]
fn bad<T: std::fmt::Debug>(result: Result<T, SessionError>) {
    assert!(matches!(result, Err(SessionError::BadRequest(_))), "{result:?}");
}

#[track_caller]
fn limited<T: std::fmt::Debug>(result: Result<T, SessionError>) {
    assert!(matches!(result, Err(SessionError::Limit(_))), "{result:?}");
}

#[test]
fn plans_keep_to_their_side_and_their_numbers() {
    let mut task = Task::new(&gpu());
    let (honest, reference) = (task.step("twice"), task.reference());
    bad(task.check(&reference, &[1]));
    bad(task.session.check(&honest, &honest, &[pair(EXACT)], &[1]));
    bad(task.session.run(&reference, Some(1)));
    let args = vec![at(0), at(1), KernelArg::I32(1)];
    bad(task.session.run(&[PlanStep::Launch(launch(9, "twice", args))], Some(1)));
    let args = vec![at(0), at(9), KernelArg::I32(1)];
    bad(task.session.run(&[PlanStep::Launch(launch(task.candidate, "twice", args))], Some(1)));
    let patch = Patch { at: 1, address: BufferAddress { buffer: 0, offset: 0 } };
    let args = vec![KernelArg::ByValue { bytes: vec![0; 8], patches: vec![patch] }];
    bad(task.session.run(&[PlanStep::Launch(launch(task.candidate, "twice", args))], Some(1)));
    limited(task.session.run(&vec![honest[0].clone(); 17], Some(1)));
    bad(task.session.kernels(2));
    // A memset of the candidate's host code may be anything.
    let behind = BufferAddress { buffer: 1, offset: 4 * COUNT - 3 };
    let set = PlanStep::Set { at: behind, bytes: 4, value: 0 };
    assert!(matches!(task.session.run(&[set], Some(1)), Err(SessionError::BadArguments(_))));
    assert!(task.check_kernel("twice").outputs[0].ok);
}

#[test]
fn buffers_fit_their_type_and_the_session() {
    let gpu = gpu();
    let mut session =
        gpu.open(SessionLimits { memory_bytes: 4 * COUNT * 2, ..LIMITS }, later()).unwrap();
    let input = |init| buffer(BufferRole::Input, init);
    bad(session.alloc(&[BufferSpec { count: 0, ..input(BufferInit::Zeros) }]));
    bad(session.alloc(&[BufferSpec {
        dtype: ElementType::I32,
        ..input(BufferInit::Uniform { low: 0.0, high: 1.0 })
    }]));
    bad(session.alloc(&[input(BufferInit::Uniform { low: 1.0, high: 0.0 })]));
    bad(session.alloc(&[BufferSpec { dtype: ElementType::Ui8, ..input(BufferInit::Permutation) }]));
    limited(session.alloc(&[BufferSpec { count: u64::MAX, ..input(BufferInit::Zeros) }]));
    let small = BufferSpec { count: 1, ..input(BufferInit::Zeros) };
    limited(session.alloc(&vec![small; GPU_SESSION_BUFFERS_MAX + 1]));
    limited(session.alloc(&[input(BufferInit::Zeros); 3]));
    assert_eq!(session.alloc(&[input(BufferInit::Zeros); 2]), Ok(vec![0, 1]));
    limited(session.alloc(&[input(BufferInit::Zeros)]));
    let last = BufferAddress { buffer: 1, offset: 4 * COUNT - 1 };
    session.upload(last, &[1]).unwrap();
    assert_eq!(session.download(last, 1), Ok(vec![1]));
    bad(session.upload(last, &[1, 2]));
    bad(session.download(last, 2));
    bad(session.download(BufferAddress { buffer: 1, offset: u64::MAX }, 1));
    bad(session.download(BufferAddress { buffer: 2, offset: 0 }, 1));
    limited(session.download(BufferAddress { buffer: 1, offset: 0 }, 1 << 40));
}

#[test]
fn memory_that_the_device_lacks_ends_the_session() {
    let gpu = gpu();
    let mut session = gpu.open(SessionLimits { memory_bytes: 1 << 40, ..LIMITS }, later()).unwrap();
    let huge = BufferSpec { count: 1 << 32, ..buffer(BufferRole::Output, BufferInit::Zeros) };
    limited(session.alloc(&[huge]));
    limited(session.load(KERNELS, Origin::Candidate));
}

#[test]
fn sizes_beyond_all_numbers_are_refused() {
    let gpu = gpu();
    for count in [(1 << 62) + 1, u64::MAX / 4, u64::MAX] {
        let limits = SessionLimits { memory_bytes: u64::MAX, ..LIMITS };
        let mut session = gpu.open(limits, later()).unwrap();
        limited(
            session.alloc(&[BufferSpec { count, ..buffer(BufferRole::Output, BufferInit::Zeros) }]),
        );
    }
}

#[test]
fn pairs_are_outputs_that_are_alike() {
    let mut task = Task::new(&gpu());
    let half =
        BufferSpec { dtype: ElementType::Fp16, ..buffer(BufferRole::Output, BufferInit::Zeros) };
    task.session.alloc(&[half]).unwrap();
    let (plan, reference) = (task.step("twice"), task.reference());
    let mut try_pair = |got, want, tolerance| {
        let pair = Pair { got, want, tolerance };
        task.session.check(&plan, &reference, &[pair], &[1])
    };
    bad(try_pair(0, 1, EXACT));
    bad(try_pair(1, 0, EXACT));
    bad(try_pair(1, 2, EXACT));
    bad(try_pair(1, 3, EXACT));
    bad(try_pair(1, 1, BufferTolerance { absolute: -1.0, ..EXACT }));
    bad(try_pair(1, 1, BufferTolerance { relative: f64::NAN, ..EXACT }));
    bad(try_pair(1, 1, BufferTolerance { matched_ratio: 1.5, ..EXACT }));
    assert!(try_pair(1, 1, EXACT).unwrap()[0].outputs[0].ok);
    bad(task.check(&plan, &[]));
    limited(task.check(&plan, &[0; 65]));
}

#[test]
fn measurements_have_bounds() {
    let mut task = Task::new(&gpu());
    let (plan, reference) = (task.step("twice"), task.reference());
    let fine = MeasureOptions {
        warm_ups: 0,
        trials: 1,
        relative_error: 0.0,
        budget_ms: 1,
        flush_l2: false,
        spot_checks: 1,
    };
    let mut try_options =
        |options| task.session.measure(&plan, &reference, &[pair(EXACT)], 1, &options);
    bad(try_options(MeasureOptions { trials: 0, ..fine }));
    bad(try_options(MeasureOptions { spot_checks: 2, ..fine }));
    bad(try_options(MeasureOptions { relative_error: f64::NAN, ..fine }));
    limited(try_options(MeasureOptions { trials: 10_001, ..fine }));
    limited(try_options(MeasureOptions { warm_ups: 10_001, ..fine }));
    assert_eq!(try_options(fine).unwrap().spot.len(), 1);
}

#[test]
fn a_session_needs_time() {
    let gpu = gpu();
    for limits in [SessionLimits { plan_ms: 0, ..LIMITS }, SessionLimits { total_ms: 0, ..LIMITS }]
    {
        assert!(matches!(gpu.open(limits, later()).err(), Some(SessionError::BadRequest(_))));
    }
}
