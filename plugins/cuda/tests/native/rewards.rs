//! Findings, rewards and the texts that explain them.

use assay_plugin::gpu::device::CheckReport;
use assay_plugin::{Error, Scored};
use serde_json::json;

use crate::world::{HOST, KERNEL, Place, World, label, report, right, wrong};

fn judge(world: &World, settings: &str) -> Scored {
    world.judge(KERNEL, &label(), settings).expect("a reward")
}

fn component(scored: &Scored, name: &str) -> Option<f64> {
    scored.components.iter().find(|one| one.name == name).map(|one| one.value)
}

#[test]
fn a_right_answer() {
    let scored = judge(&World::default(), "{}");
    assert_eq!((scored.verdict.as_str(), scored.reward), ("success", 1.0));
    let expected = "right at all 3 sizes\nprogram: a bare kernel, the cuda block at line 2";
    assert_eq!(scored.explanation, expected);
    assert_eq!(component(&scored, "sizes_passed"), Some(3.0));
    assert_eq!(component(&scored, "simulated"), None);
    assert_eq!(component(&scored, "speedup"), None);
}

#[test]
fn a_simulated_device_is_named_in_every_reward() {
    let scored = judge(&World { simulated: true, ..World::default() }, "{}");
    assert!(scored.explanation.starts_with("simulated: right"), "{}", scored.explanation);
    assert_eq!(component(&scored, "simulated"), Some(1.0));
    let world = World {
        simulated: true,
        found: Box::new(|_, _, report| report.outputs = vec![wrong()]),
        ..World::default()
    };
    let scored = judge(&world, "{}");
    assert!(scored.explanation.starts_with("simulated: size 1"), "{}", scored.explanation);
    assert_eq!(component(&scored, "simulated"), Some(1.0));
}

#[test]
fn what_kernels_print_is_logged() {
    let world = World { printed: "x is 3\n".into(), ..World::default() };
    let scored = judge(&world, "{}");
    assert_eq!(world.seen.borrow().logged, ["the kernels printed: x is 3\n"]);
    assert!(!scored.explanation.contains("x is 3"));
    let world = World {
        printed: "x".repeat(5_000),
        found: Box::new(|_, _, report| report.outputs = vec![wrong()]),
        ..World::default()
    };
    judge(&world, "{}");
    let logged = &world.seen.borrow().logged;
    assert!(logged.len() == 1 && logged[0].len() <= 1_024, "{logged:?}");
}

/// Something found at a size, from 0, and the how-manieth of its seeds.
fn found_check(at: (usize, usize), found: fn(&mut CheckReport), expected: &str) {
    let world = World {
        found: Box::new(move |size, seed, report| {
            if (size, seed) == at {
                found(report);
            }
        }),
        ..World::default()
    };
    let scored = judge(&world, "{}");
    assert_eq!((scored.verdict.as_str(), scored.reward), ("wrong_answer", 0.0), "{expected}");
    let first = scored.explanation.lines().next();
    assert_eq!(first, Some(expected));
    assert_eq!(component(&scored, "sizes_passed"), Some(at.0 as f64));
}

#[test]
fn what_is_wrong_is_told() {
    found_check(
        (1, 0),
        |report| report.outputs[0] = wrong(),
        "size 2 (cols=1000, rows=7): `y` is wrong: 12 elements, the first at 34 is 2.5e-1, not 7.5e-1, the largest error is 5e-1",
    );
    found_check(
        (0, 1),
        |report| {
            report.outputs[0] = wrong();
            report.outputs[0].never_written = 3;
            report.outputs[0].got_nonfinite = 3;
        },
        "size 1 (cols=128, rows=64): `y` is wrong: 12 elements, 3 were never written, some are not finite, the first at 34 is 2.5e-1, not 7.5e-1, the largest error is 5e-1",
    );
    // Buffers are numbered through all sizes.
    found_check(
        (1, 1),
        |report| report.inputs_changed = vec![2],
        "size 2 (cols=1000, rows=7): it changes the input `x`",
    );
    found_check(
        (0, 0),
        |report| report.overrun = vec![1],
        "size 1 (cols=128, rows=64): it writes beyond `y`",
    );
    found_check(
        (0, 0),
        |report| report.overrun = vec![99],
        "size 1 (cols=128, rows=64): it writes beyond a buffer of its own",
    );
    found_check(
        (0, 2),
        |report| report.outputs[0] = wrong(),
        "size 1 (cols=128, rows=64): right at first, and not when the same inputs came again: `y` is wrong: 12 elements, the first at 34 is 2.5e-1, not 7.5e-1, the largest error is 5e-1",
    );
}

#[test]
fn a_held_out_size_stays_secret() {
    found_check(
        (2, 0),
        |report| {
            report.outputs[0] = wrong();
            report.outputs[0].never_written = 3;
        },
        "a held-out size: `y` is wrong: some were never written",
    );
    // A kernel could write what it is told of the size.
    found_check((2, 0), |report| report.outputs[0] = wrong(), "a held-out size: `y` is wrong");
}

#[test]
fn a_failure_at_a_held_out_size_tells_its_kind_alone() {
    use assay_plugin::gpu::{compiler::Error as C, device::Error as D};
    // The response's words for the size, after the two stated ones.
    let words = || "33x77".to_owned();
    let check = |world: World, verdict: &str, expected: &str| {
        world.calls_before.set(2);
        let scored = world.judge(HOST, &label(), "{}").expect("a reward");
        assert_eq!(scored.verdict, verdict);
        assert_eq!(scored.explanation.lines().next(), Some(expected));
    };
    let record = |error| World { compiler: Some((Place::Record, error)), ..World::default() };
    let failed = "a held-out size: its host code failed";
    check(record(C::Crashed(words())), "execute_error", failed);
    check(record(C::TimedOut), "execute_error", failed);
    let called = "a held-out size: it cannot be called";
    check(record(C::Rejected(words())), "compile_failed", called);
    let run = |error| World { device: Some((Place::Check, error)), ..World::default() };
    let launch = "a held-out size: invalid launch";
    check(run(D::InvalidLaunch(words())), "execute_error", launch);
    check(run(D::Unsupported(words())), "unsupported", "a held-out size: unsupported");
    check(run(D::TimedOut(33)), "execute_error", "a held-out size: it did not end");
    // All sizes are allocated at once.
    let error = D::Limit(words());
    let mut world = World { device: Some((Place::AllocScratch, error)), ..World::default() };
    world.trace.scratch_bytes = vec![16];
    let scored = world.judge(HOST, &label(), "{}").expect("a reward");
    let told = scored.explanation.lines().next();
    assert_eq!(told, Some("what it allocates: beyond a limit"));
}

#[test]
fn seeds_differ_by_size_and_the_first_comes_again() {
    let world = World::default();
    judge(&world, r#"{"seeds": 3}"#);
    let seeds = world.seen.borrow().seeds.clone();
    assert_eq!(seeds.len(), 3);
    for one in &seeds {
        assert_eq!((one.len(), one[0]), (4, one[3]));
    }
    let mut all: Vec<u64> = seeds.iter().flat_map(|one| one[..3].to_vec()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 9);
    let again = World::default();
    judge(&again, r#"{"seeds": 3}"#);
    assert_eq!(again.seen.borrow().seeds, seeds, "a replay gives the same reward");
}

#[test]
fn speed_is_worth_what_the_policy_says() {
    let world = World::default();
    let scored = judge(&world, r#"{"policy": "speedup", "speedup_scale": 0.25}"#);
    assert_eq!((scored.verdict.as_str(), scored.reward), ("success", 0.5));
    assert_eq!(component(&scored, "speedup"), Some(2.0));
    assert_eq!(component(&scored, "candidate_ns"), Some(500.0));
    assert_eq!(component(&scored, "baseline_ns"), Some(1_000.0));
    assert!(scored.explanation.contains("2.000 times as fast as the baseline"));
    // Three sizes, and the timed one in a session of its own.
    assert_eq!(world.seen.borrow().plans.len(), 4);
    assert_eq!(world.seen.borrow().limits.len(), 2);
    let steps = r#"[{"speedup": 1, "reward": 0.5}, {"speedup": 3, "reward": 1}]"#;
    let settings = format!(r#"{{"policy": "thresholds", "thresholds": {steps}}}"#);
    assert_eq!(judge(&World::default(), &settings).reward, 0.5);
}

#[test]
fn a_baseline_that_was_measured_before_is_not_run() {
    let settings = r#"{"policy": "speedup"}"#;
    let mut timed = label();
    timed["baseline_ns"] = json!({ "made up": 2_500, "another GPU": 1 });
    let world = World { reference_ns: 0, ..World::default() };
    let scored = world.judge(KERNEL, &timed, settings).expect("a reward");
    assert_eq!((scored.verdict.as_str(), scored.reward), ("success", 5.0));
    assert_eq!(component(&scored, "baseline_ns"), Some(2_500.0));
    // A time of another GPU is an error of the label, not a reward.
    timed["baseline_ns"] = json!({ "another GPU": 2_500 });
    let world = World::default();
    let Err(Error::BadRequest(problem)) = world.judge(KERNEL, &timed, settings) else {
        panic!("there is a reward")
    };
    assert!(problem.contains("no time for") && problem.contains("another GPU"), "{problem}");
    assert!(world.seen.borrow().plans.is_empty(), "nothing ran");
    // A policy without times needs no time.
    assert_eq!(World::default().judge(KERNEL, &timed, "{}").expect("a reward").verdict, "success");
    timed["baseline"] = json!({"source": "void a() {}", "entry": "a"});
    let Err(Error::BadRequest(problem)) = World::default().judge(KERNEL, &timed, "{}") else {
        panic!("it is taken")
    };
    assert!(problem.contains("give one of both"), "{problem}");
}

#[test]
fn times_that_cannot_be_believed_are_worth_nothing() {
    let settings = r#"{"policy": "speedup", "rewards": {"wrong_answer": -0.5}}"#;
    let check = |world: &World, expected: &str| {
        let scored = judge(world, settings);
        assert_eq!((scored.verdict.as_str(), scored.reward), ("suspicious", -0.5));
        assert!(scored.explanation.starts_with(expected), "{}", scored.explanation);
        assert_eq!(component(&scored, "speedup"), None);
    };
    let suspicious = vec!["faster than memory".to_owned()];
    let world = World { suspicious, ..World::default() };
    check(&world, "its times are not to be believed: faster than memory");
    let spot = vec![report(1, vec![right()]), report(2, vec![wrong()])];
    let world = World { spot, ..World::default() };
    check(&world, "right when it was checked, and not while it was timed: `y` is wrong");
    let given = r#"{"policy": "speedup", "rewards": {"suspicious": -2}}"#;
    assert_eq!(judge(&world, given).reward, -2.0);
}

#[test]
fn wrong_at_the_timed_size_is_wrong() {
    let world = World {
        found: Box::new(|size, _, report| {
            if size == 3 {
                report.outputs[0] = wrong();
            }
        }),
        ..World::default()
    };
    let scored = judge(&world, r#"{"policy": "speedup"}"#);
    assert_eq!(scored.verdict, "wrong_answer");
    assert!(scored.explanation.starts_with("the timed size: `y` is wrong"));
}
