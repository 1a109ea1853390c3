//! Tests that call a function: the program answers calls in one box (`candidate.py`), the tests run
//! in another (`tester.py`), and only plain data goes between.
//!
//! The tester's report is the verdict. The program can neither reach it nor say anything but values;
//! how its own box ended only explains an answer that did not come.

use assay_plugin::{Error, exec};
use serde::{Deserialize, Serialize};

use crate::label::{FunctionTask, FunctionTests};
use crate::limits::{judge_limits, talking_limits};
use crate::machine::Machine;
use crate::program::{Program, compile_trusted};
use crate::report::Tally;
use crate::settings::{Scoring, Settings};
use crate::verdict::{Failure, Part, Verdict, abnormal, excerpt};

const CANDIDATE: &str =
    concat!(include_str!("../python/codec.py"), include_str!("../python/candidate.py"));
const TESTER: &str =
    concat!(include_str!("../python/codec.py"), include_str!("../python/tester.py"));

const REPORTED: exec::Ending = exec::Ending::Exited(42);
const REPORT: &str = "report.json";

/// The contents of the file `input` that the tester reads.
#[derive(Serialize)]
struct Input<'a> {
    form: &'static str,
    prompt: &'a str,
    setup: &'a str,
    names: Vec<&'a str>,
    test: &'a str,
    tests: &'a [String],
    cases: &'a [crate::label::Case],
    tolerance: Option<(f64, f64)>,
    /// True if the tester stops at the first failure.
    stop: bool,
}

#[derive(Deserialize)]
struct Report {
    total: usize,
    passed: usize,
    first: Option<First>,
}

#[derive(Deserialize)]
struct First {
    kind: Kind,
    detail: String,
    shown: String,
    test: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Wrong,
    Raised,
    Memory,
    Refused,
    Broken,
    Gone,
    Missing,
    Task,
}

pub(crate) fn judge_function<M: Machine>(
    machine: &M,
    settings: &Settings,
    task: &FunctionTask,
    program: &Program,
    (toolchain, limits): (&exec::Toolchain, exec::Limits),
) -> Result<Tally, Error> {
    let source = |files: Vec<exec::File>| exec::Source {
        toolchain: toolchain.id.clone(),
        main: files[0].path.clone(),
        files,
        options: Vec::new(),
    };
    let candidate = source(vec![
        exec::File::text("candidate.py", CANDIDATE),
        exec::File::text("solution.py", &program.code),
    ]);
    let candidate = compile_trusted(machine, &candidate, "the harness")?;
    let tester = source(vec![exec::File::text("tester.py", TESTER)]);
    let tester = compile_trusted(machine, &tester, "the harness")?;
    let input = serde_json::to_vec(&input(task, settings))
        .map_err(|error| Error::internal(format!("cannot write the tests: {error}")))?;
    let tester_limits = judge_limits(&toolchain.run_defaults, &limits);
    let judging = exec::Judging {
        input: exec::Blob::Inline(input),
        answer: exec::Blob::Inline(Vec::new()),
        files: Vec::new(),
        args: Vec::new(),
        collect: vec![REPORT.to_owned()],
        limits: Some(tester_limits),
    };
    let limits = talking_limits(&limits, &tester_limits);
    let dialogue = machine.interact(&candidate, &tester, &judging, Some(limits))?;
    tally(dialogue, task.tests.count())
}

fn input<'a>(task: &'a FunctionTask, settings: &Settings) -> Input<'a> {
    let mut input = Input {
        form: "",
        prompt: task.prompt.as_deref().unwrap_or_default(),
        setup: &task.setup,
        names: task.entry_point.as_deref().into_iter().collect(),
        test: "",
        tests: &[],
        cases: &[],
        tolerance: None,
        stop: settings.scoring == Scoring::All,
    };
    match &task.tests {
        FunctionTests::Check(test) => (input.form, input.test) = ("check", test),
        FunctionTests::Code(tests) => (input.form, input.tests) = ("code", tests),
        FunctionTests::Cases { cases, tolerance } => {
            (input.form, input.cases, input.tolerance) = ("cases", cases, *tolerance);
        }
    }
    input
}

fn tally(dialogue: exec::Dialogue, count: usize) -> Result<Tally, Error> {
    let mut tally = Tally::new(count);
    tally.weakened.extend(dialogue.program.weakened.iter().cloned());
    tally.slowest_cpu_us = dialogue.program.usage.cpu_us;
    if dialogue.interactor.ended != REPORTED {
        tally.fail("1", without_report(&dialogue)?);
        return Ok(tally);
    }
    let report = report_of(&dialogue.interactor)?;
    tally.total = report.total;
    tally.passed = report.passed;
    if let Some(first) = report.first {
        let test = first.test.to_string();
        tally.fail(&test, failure_of(first, &dialogue.program)?);
    }
    Ok(tally)
}

/// The tests did not come to their end. Over an answer that makes them run forever or grow without
/// bounds that is the program's fault; without a limit in it, theirs.
fn without_report(dialogue: &exec::Dialogue) -> Result<Failure, Error> {
    let own = abnormal(&dialogue.program);
    let exec::Ending::Limited(kind) = dialogue.interactor.ended else {
        let text = excerpt(&dialogue.interactor.stderr.data, 500, Part::End);
        let ended = dialogue.interactor.ended;
        return Err(Error::bad_request(format!("the tests failed: {ended:?}; {text}")));
    };
    Ok(match (own, kind) {
        (Some(failure), _) => failure,
        (None, exec::LimitKind::Wall) => {
            Failure::new(Verdict::TimeLimit, "waited without answering")
        }
        (None, exec::LimitKind::Memory) => {
            Failure::new(Verdict::MemoryLimit, "its answers took the tests' memory")
        }
        (None, _) => Failure::new(Verdict::TimeLimit, "its answers took the tests' time"),
    })
}

fn report_of(tester: &exec::Outcome) -> Result<Report, Error> {
    let file = tester.files.iter().find(|(path, _)| path == REPORT);
    let (_, report) = file.ok_or_else(|| Error::internal("the tester left no report"))?;
    serde_json::from_slice(&report.data)
        .map_err(|error| Error::internal(format!("the tester's report does not fit: {error}")))
}

fn failure_of(first: First, program: &exec::Outcome) -> Result<Failure, Error> {
    let First { kind, detail, shown, .. } = first;
    let failure = match kind {
        Kind::Task => {
            return Err(Error::bad_request(format!("the tests are at fault: {detail} {shown}")));
        }
        Kind::Wrong => Failure::new(Verdict::WrongAnswer, detail),
        Kind::Refused => {
            Failure::new(Verdict::WrongAnswer, format!("returned what is no plain data: {detail}"))
        }
        Kind::Memory => Failure::new(Verdict::MemoryLimit, format!("raised {detail}")),
        Kind::Raised => Failure::new(Verdict::RuntimeError, format!("raised {detail}")),
        Kind::Broken | Kind::Missing => Failure::new(Verdict::RuntimeError, detail),
        Kind::Gone => {
            let early = || Failure::new(Verdict::RuntimeError, "ended before it had answered");
            abnormal(program).unwrap_or_else(early)
        }
    };
    Ok(if shown.is_empty() { failure } else { failure.showing(format!("\ntest: {shown}")) })
}
