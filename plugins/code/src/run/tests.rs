//! The order of tests, stops, points and patience, over a made-up judge.

use super::*;

fn problem(groups: &[(f64, usize)]) -> Problem {
    let groups = groups.iter().enumerate().map(|(at, (points, count))| Group {
        points: *points,
        tests: (0..*count)
            .map(|test| Test {
                name: format!("{at}.{test}"),
                input: Data::Inline(Vec::new()),
                answer: Data::Inline(Vec::new()),
                judge: 0,
                args: Vec::new(),
            })
            .collect(),
    });
    Problem { groups: groups.collect(), judges: Vec::new(), limits: Default::default() }
}

fn judged(verdict: Verdict, spent_us: u64) -> TestResult {
    let failure = (verdict != Verdict::Success).then(|| Failure::new(verdict, "so"));
    let usage =
        exec::Usage { cpu_us: spent_us, wall_us: spent_us, memory_peak_bytes: 0, wait_us: 0 };
    TestResult { failure, usage, weakened: vec!["cgroups".into()] }
}

fn run_failing(scoring: Scoring, groups: &[(f64, usize)], failing: &[&str]) -> (Tally, usize) {
    let mut ran = 0;
    let tally = run_all(&problem(groups), scoring, |test| {
        ran += 1;
        let fails = failing.contains(&test.name.as_str());
        Ok(judged(if fails { Verdict::WrongAnswer } else { Verdict::Success }, 1))
    });
    (tally.expect("no errors"), ran)
}

#[test]
fn the_first_failure_ends_it_where_all_must_pass() {
    let (tally, ran) = run_failing(Scoring::All, &[(1.0, 2), (1.0, 2)], &["0.1", "1.0"]);
    assert_eq!((ran, tally.passed, tally.total), (2, 1, 4));
    assert_eq!(tally.first.expect("a failure").0, "0.1");
    assert!(tally.weakened.contains("cgroups"));
}

#[test]
fn a_group_earns_its_points_as_a_whole() {
    let (tally, ran) = run_failing(Scoring::Share, &[(10.0, 3), (30.0, 2), (60.0, 1)], &["1.0"]);
    assert_eq!((ran, tally.passed), (5, 4));
    assert_eq!((tally.earned, tally.points), (70.0, 100.0));
}

#[test]
fn an_error_is_no_verdict() {
    let result = run_all(&problem(&[(1.0, 1)]), Scoring::Share, |_| Err(Error::unavailable("so")));
    assert!(matches!(result, Err(Error::Unavailable(_))));
}

#[test]
fn patience_ends() {
    let slow = vec![(1.0, 1); 100];
    let mut ran = 0;
    let tally = run_all(&problem(&slow), Scoring::Share, |_| {
        ran += 1;
        Ok(judged(Verdict::TimeLimit, 1_000_000))
    });
    assert_eq!((ran, tally.expect("no errors").passed), (STALLED_TESTS_MAX, 0));
    let mut ran = 0;
    let tally = run_all(&problem(&slow), Scoring::All, |_| {
        ran += 1;
        Ok(judged(Verdict::Success, 59_000_000))
    });
    let (test, failure) = tally.expect("no errors").first.expect("a failure");
    assert_eq!((ran, test.as_str(), failure.verdict), (6, "6.0", Verdict::TimeLimit));
}
