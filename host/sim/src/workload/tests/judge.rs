//! The judge: who passes through a stage, and where the run times lie.

use super::*;

fn trace() -> Trace {
    let mut spec = small(Rewards::Judge(Judge::default()));
    spec.trainer.batch = 4_000;
    generate(&spec).unwrap()
}

#[test]
fn each_outcome_has_its_stages() {
    let trace = trace();
    for request in requests(&trace) {
        let [extract, compile, run] = request.service[..] else { panic!("three stages") };
        assert!(extract.is_some());
        match request.outcome.as_str() {
            "extract_failed" => assert_eq!((compile, run), (None, None)),
            "compile_failed" | "compile_timeout" => assert!(compile.is_some() && run.is_none()),
            "wrong_answer" | "accepted" => assert!(run.is_some_and(|run| run.0 < 10_000_000)),
            "run_timeout" => assert_eq!(run, Some(Micros::from_secs(10))),
            other => panic!("{other}"),
        }
    }
    let ran = requests(&trace).filter(|request| request.service[2].is_some());
    let (ran, compiled) = ran.fold((0.0, 0.0), |(ran, compiled), request| {
        let is_compiled = request.service[1] > Some(Micros::from_ms(1));
        (ran + 1.0, compiled + f64::from(u8::from(is_compiled)))
    });
    // Six of ten are interpreted; a fifth of the other four fails to compile.
    assert!((compiled / ran - 0.35_f64).abs() < 0.03, "{}", compiled / ran);
}

#[test]
fn run_times_have_two_modes_and_a_limit() {
    let trace = trace();
    let runs =
        sorted(requests(&trace).filter_map(|request| request.service[2]).map(Micros::as_secs_f64));
    let within = |low: f64, high: f64| {
        runs.iter().filter(|run| (low..high).contains(*run)).count() as f64 / runs.len() as f64
    };
    let (quick, valley, full) = (within(0.02, 0.1), within(0.16, 0.5), within(1.0, 5.0));
    println!("quick {quick}, between {valley}, full {full}, at the limit {}", within(10.0, 11.0));
    assert!(quick > 0.2 && full > 0.4 && valley < 0.1);
    assert!((0.06..0.12).contains(&within(10.0, 11.0)));
}
