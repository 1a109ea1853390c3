//! The order of tests, stops, points and patience, over a made-up judge.

use std::cell::Cell;

use assay_plugin::{Request, storage};
use serde_json::json;

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
    TestResult { failure, usage, judge_us: 0, weakened: vec!["cgroups".into()] }
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

/// A world whose programs end at once, and whose judges take their time over each output.
struct SlowJudges {
    judge_us: u64,
    /// The exit status of judges.
    status: i32,
    judged: Cell<usize>,
}

const LIMITS: exec::Limits = exec::Limits {
    cpu_ms: 2_000,
    wall_ms: 8_000,
    memory_bytes: 1 << 28,
    stdout_bytes: 1 << 20,
    stderr_bytes: 1 << 16,
    disk_bytes: 1 << 25,
    processes: 16,
    open_files: 64,
};

fn outcome(status: i32, cpu_us: u64, wall_us: u64) -> exec::Outcome {
    let nothing = exec::Captured { data: Vec::new(), truncated: false };
    exec::Outcome {
        ended: exec::Ending::Exited(status),
        usage: exec::Usage { cpu_us, wall_us, memory_peak_bytes: 0, wait_us: 0 },
        stdout: nothing.clone(),
        stdout_sha256: String::new(),
        stderr: nothing,
        files: Vec::new(),
        weakened: Vec::new(),
    }
}

impl SlowJudges {
    fn judge(&self) -> exec::Outcome {
        self.judged.set(self.judged.get() + 1);
        outcome(self.status, self.judge_us, self.judge_us)
    }
}

impl Machine for SlowJudges {
    type Program = ();

    fn toolchains(&self) -> Vec<exec::Toolchain> {
        vec![exec::Toolchain {
            id: "cpp17-gcc".into(),
            version: "1".into(),
            languages: vec!["cpp".into()],
            main: "main.cpp".into(),
            compiled: true,
            compile_defaults: LIMITS,
            run_defaults: LIMITS,
            ceiling: LIMITS,
        }]
    }

    fn compile(
        &self,
        _source: &exec::Source,
        _limits: Option<exec::Limits>,
    ) -> Result<Compiled<()>, exec::Error> {
        Ok(Compiled::Program { program: (), key: String::new() })
    }

    fn open(&self, _key: &str) -> Result<(), exec::Error> {
        Ok(())
    }

    fn run(
        &self,
        _program: &(),
        _batch: &exec::Batch,
    ) -> Result<Vec<exec::CaseResult>, exec::Error> {
        let (matched, outcome) = (exec::Matched::NotCompared, outcome(0, 1_000, 1_000));
        Ok(vec![exec::CaseResult { index: 0, matched, outcome, attempts: 1 }])
    }

    fn check(
        &self,
        _checker: &(),
        _output: &exec::Blob,
        _judging: &exec::Judging,
    ) -> Result<exec::Outcome, exec::Error> {
        Ok(self.judge())
    }

    fn interact(
        &self,
        _program: &(),
        _interactor: &(),
        _judging: &exec::Judging,
        _program_limits: Option<exec::Limits>,
    ) -> Result<exec::Dialogue, exec::Error> {
        let interactor = self.judge();
        // It waits for the interactor.
        let program = outcome(0, 1_000, interactor.usage.wall_us + 1_000);
        Ok(exec::Dialogue { program, interactor, first_to_end: exec::Party::Interactor })
    }
}

impl Objects for SlowJudges {
    fn get(&self, _name: &str) -> Result<Vec<u8>, storage::Error> {
        unreachable!("nothing is stored")
    }

    fn locate(&self, _name: &str) -> Result<String, storage::Error> {
        unreachable!("nothing is stored")
    }

    fn names(&self, _folder: &str) -> Result<Vec<String>, storage::Error> {
        unreachable!("nothing is stored")
    }
}

fn run_judged(world: &SlowJudges, judge: &str, scoring: Scoring) -> Result<Scored, Error> {
    let tests = vec![json!({"input": ""}); 100];
    let label = json!({"tests": tests, judge: {"source": "", "toolchain": "cpp"}});
    let task = Task::read(&Request::new("", "", &label.to_string()))?;
    let program = Program {
        toolchain: "cpp17-gcc".into(),
        code: String::new(),
        origin: String::new(),
        key: Some(String::new()),
    };
    run(world, world, &Settings { scoring, ..Settings::default() }, &task, &program)
}

#[test]
fn a_slow_judge_is_no_fault_of_the_program() {
    let accepts = |judge_us| SlowJudges { judge_us, status: 0, judged: Cell::new(0) };
    for judge in ["checker", "interactor"] {
        let scored = run_judged(&accepts(2_500_000), judge, Scoring::All).expect("a reward");
        assert_eq!(scored.verdict, "success", "{judge}");
        let slow = accepts(9_500_000);
        let failed = run_judged(&slow, judge, Scoring::All);
        assert!(
            matches!(&failed, Err(Error::BadRequest(problem)) if problem.contains("too slow")),
            "{judge}: {failed:?}"
        );
        assert_eq!(slow.judged.get(), 32, "{judge}");
    }
}

#[test]
fn wrong_outputs_spend_the_time_of_their_judge() {
    let world = SlowJudges { judge_us: 9_500_000, status: 1, judged: Cell::new(0) };
    let scored = run_judged(&world, "checker", Scoring::Share).expect("a reward");
    assert_eq!((scored.verdict.as_str(), world.judged.get()), ("wrong_answer", 32));
}
