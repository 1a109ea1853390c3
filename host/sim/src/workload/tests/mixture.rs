//! The mixture: published lengths, weights of types, and one list of stages.

use super::*;

/// A trace of one type alone, at its training's start.
fn alone(kind: TaskKind) -> Trace {
    let mixture = Mixture { weights: BTreeMap::from([(kind, 1.0)]), ..Mixture::default() };
    let mut spec = small(Rewards::Mixture(mixture));
    spec.trainer =
        Trainer { iterations: 1, tasks: 4, batch: 16_000, group_size: 4, ..spec.trainer };
    generate(&spec).unwrap()
}

/// Each published number beside the generated one, within the share given.
fn check_lengths(kind: TaskKind, published: &[(&str, f64, f64)]) {
    let trace = alone(kind);
    let lengths = sorted(requests(&trace).map(|request| f64::from(request.tokens)));
    let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
    let square = lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>();
    for (what, expected, tolerance) in published {
        let actual = match *what {
            "mean" => mean,
            "deviation" => (square / lengths.len() as f64).sqrt(),
            "median" => quantile(&lengths, 0.5),
            "p90" => quantile(&lengths, 0.9),
            "max" => lengths[lengths.len() - 1],
            other => panic!("{other}"),
        };
        println!("{kind:?} {what}: {actual:.1}, published {expected}");
        assert!((actual / expected - 1.0).abs() < *tolerance, "{kind:?} {what}: {actual}");
    }
}

#[test]
fn lengths_are_as_published() {
    let mathematics = [
        ("mean", 9_839.3, 0.04),
        ("median", 8_388.0, 0.03),
        ("p90", 18_543.1, 0.04),
        ("max", 32_000.0, 1e-9),
    ];
    check_lengths(TaskKind::Mathematics, &mathematics);
    let image = [
        ("mean", 5_911.6, 0.04),
        ("median", 2_978.5, 0.05),
        ("p90", 15_601.8, 0.06),
        ("max", 32_000.0, 1e-9),
    ];
    check_lengths(TaskKind::Image, &image);
    check_lengths(TaskKind::Programming, &[("mean", 9_329.0, 0.04), ("deviation", 8_651.5, 0.08)]);
    check_lengths(TaskKind::Video, &[("mean", 166.5, 0.02)]);
    check_lengths(TaskKind::Searching, &[("mean", 48.7, 0.02)]);
    check_lengths(TaskKind::ToolUse, &[("p90", 513.0, 0.06)]);
}

#[test]
fn a_prompts_samples_are_alike_as_published() {
    let trace = alone(TaskKind::Programming);
    let mut groups: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    for task in &trace.tasks {
        for request in &task.iterations[0].requests {
            let logs = groups.entry((task.id, request.group)).or_default();
            logs.push(f64::from(request.tokens).ln());
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let variance = |values: &[f64]| {
        let middle = mean(values);
        values.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / (values.len() - 1) as f64
    };
    let within = mean(&groups.values().map(|logs| variance(logs)).collect::<Vec<_>>());
    let means: Vec<f64> = groups.values().map(|logs| mean(logs)).collect();
    let between = variance(&means) - within / 4.0;
    println!("within {:.3}, between {:.3}", within.sqrt(), between.sqrt());
    assert!((within.sqrt() - 0.18).abs() < 0.01 && (between.sqrt() - 0.77).abs() < 0.02);
}

#[test]
fn types_share_one_list_of_stages() {
    let names = |shares: &[(TaskKind, f64)]| {
        let mixture = Mixture { weights: shares.iter().copied().collect(), ..Mixture::default() };
        let trace = generate(&small(Rewards::Mixture(mixture))).unwrap();
        trace.meta.stages.into_iter().map(|stage| stage.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&[(TaskKind::Image, 1.0), (TaskKind::Mathematics, 1.0)]), ["check"]);
    assert_eq!(names(&[(TaskKind::ToolUse, 1.0)]), ["check", "grade"]);
    assert_eq!(names(&[(TaskKind::Programming, 1.0)]), ["check", "compile", "run"]);
    let mixture = Mixture::default();
    let all: Vec<(TaskKind, f64)> = mixture.weights.into_iter().collect();
    assert_eq!(names(&all), ["check", "compile", "run", "grade"]);
}

#[test]
fn prompts_are_mixed_by_their_shares() {
    let weights = BTreeMap::from([(TaskKind::ToolUse, 3.0), (TaskKind::Programming, 1.0)]);
    let mut spec = small(Rewards::Mixture(Mixture { weights, ..Mixture::default() }));
    spec.trainer.batch = 8_000;
    let trace = generate(&spec).unwrap();
    let graded = requests(&trace).filter(|request| request.service[3].is_some()).count() as f64;
    let share = graded / requests(&trace).count() as f64;
    assert!((share - 0.75).abs() < 0.04, "{share}");
    let pass = Some(Micros::from_ms(1));
    for request in requests(&trace).filter(|request| request.service[3].is_some()) {
        assert_eq!(request.service[1..3], [pass, pass]);
    }
}

#[test]
fn tool_calls_lengthen_the_rollout() {
    let trace = alone(TaskKind::Searching);
    let rollouts = sorted(requests(&trace).map(|request| request.rollout.as_secs_f64()));
    // The engine alone takes about five seconds; the slowest searches take a minute.
    assert!(rollouts[0] < 6.0 && quantile(&rollouts, 0.99) > 15.0);
}
