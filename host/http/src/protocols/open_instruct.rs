//! open-instruct's code server: a Python program against assertions (`/test_program`) or inputs with
//! outputs (`/test_program_stdio`), 0 or 1 for each.
//!
//! A test is one run of the program with the assertion after it, as open-instruct does it: a program
//! that reads its own source can pass. The plugin `code` keeps tests out of reach, through the other
//! protocols.

use std::fmt;
use std::time::Duration;

use assay_core::id::Digest;
use assay_core::limits;
use axum::Json;
use axum::body::Body;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::call::{BufferedBody, Call, Sample, ScoreCall};
use super::document::PlaceParams;
use super::report::{Report, job_label, lines_sha256};
use super::{no_route, pickle, probe};
use crate::extract::{array, body};
use crate::problem::ApiError;

const SECONDS_MAX: f64 = 120.0;

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = OpenInstructProgram)]
pub(super) struct Program {
    program: String,
    /// A list, or a text with one: as JSON, or pickled, compressed and in base64.
    #[schema(value_type = serde_json::Value)]
    tests: Box<RawValue>,
    max_execution_time: Option<f64>,
}

#[derive(Deserialize)]
struct Test {
    input: String,
    output: String,
}

/// The results of the tests.
#[derive(Default, Serialize, utoipa::ToSchema)]
#[schema(as = OpenInstructResults)]
pub(super) struct Results {
    /// 1 for each test that passed, else 0.
    results: Vec<u8>,
    /// Seconds; -1 for a test that failed.
    runtimes: Vec<f64>,
}

pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    match (&call.method, call.address.rest.as_str()) {
        (&Method::GET, "health") => Ok(Json(json!({ "status": "healthy" })).into_response()),
        (&Method::GET, "") => probe(&call).await,
        (&Method::POST, "test_program") => test_program(call, body).await,
        (&Method::POST, "test_program_stdio") => test_program_stdio(call, body).await,
        _ => Err(no_route()),
    }
}

/// Runs a program with each assertion appended, by the plugin `run`.
#[utoipa::path(
    post, path = "/compat/open-instruct/{plugin}/{run}/test_program", tag = "open-instruct", params(PlaceParams),
    request_body = Program, responses((status = 200, body = Results))
)]
pub(super) async fn test_program(call: Call, body: Body) -> Result<Response, ApiError> {
    test(call, body, false).await
}

/// Runs a program on each input and compares what it prints, by the plugin `run`.
#[utoipa::path(
    post, path = "/compat/open-instruct/{plugin}/{run}/test_program_stdio", tag = "open-instruct", params(PlaceParams),
    request_body = Program, responses((status = 200, body = Results))
)]
pub(super) async fn test_program_stdio(call: Call, body: Body) -> Result<Response, ApiError> {
    test(call, body, true).await
}

async fn test(call: Call, body: Body, stdio: bool) -> Result<Response, ApiError> {
    let Some((asked, tests)) = read(call.body(body).await?, stdio)? else {
        return Ok(Json(Results::default()).into_response());
    };
    let report = call.report(asked).await?;
    Ok(Json(told(&report, &tests)).into_response())
}

/// The number of the tests and digests of their outputs: no call holds the tests themselves while its program runs.
struct RunningTests {
    count: usize,
    /// The digests of the lines that each test has to print; empty for tests that are assertions.
    outputs: Vec<Digest>,
}

/// The program and what to compare its results with; nothing if there are no tests.
fn read(body: BufferedBody, stdio: bool) -> Result<Option<(ScoreCall, RunningTests)>, ApiError> {
    let Program { program, tests, max_execution_time } = body::parse(&body.bytes)?;
    let tests = list(&tests)?;
    if tests.is_empty() {
        return Ok(None);
    }
    let seconds = max_execution_time.filter(|it| it.is_finite() && *it > 0.0).unwrap_or(1.0);
    let run_ms = (seconds.min(SECONDS_MAX) * 1e3).ceil() as u64;
    let (cases, outputs) = if stdio { with_inputs(tests)? } else { (appended(tests)?, Vec::new()) };
    let tests = RunningTests { count: cases.len(), outputs };
    let job = json!({ "language": "python", "run_ms": run_ms.max(1), "cases": cases });
    let sample = Sample { response: program, label: Some(job_label(&job)), ..Sample::default() };
    let asked = ScoreCall { body, samples: vec![sample], timeout: timeout(seconds), step: None };
    Ok(Some((asked, tests)))
}

/// The results of the tests. Where there are outputs, each test has one, and what was printed must be
/// the same line by line, without white space around each and without empty lines at the end.
fn told(report: &Report, tests: &RunningTests) -> Results {
    let RunningTests { count, outputs } = tests;
    let mut told = Results { results: vec![0; *count], runtimes: vec![-1.0; *count] };
    for (at, ran) in report.cases.iter().enumerate().take(*count) {
        if ran.passed && outputs.get(at).is_none_or(|expected| ran.printed(*expected)) {
            told.results[at] = 1;
            told.runtimes[at] = ran.wall_ms / 1e3;
        }
    }
    told
}

/// The time for which its client waits: ten times what a test may take, and 30 s to 5 min.
fn timeout(test_seconds: f64) -> Duration {
    Duration::from_secs_f64((test_seconds * 10.0).clamp(30.0, 300.0))
}

/// The tests, each as its JSON: values that nobody needs may take many times the memory.
fn list(tests: &RawValue) -> Result<Vec<Box<RawValue>>, ApiError> {
    match tests.get().as_bytes().first() {
        Some(b'[') => list_of_json(tests.get()),
        Some(b'n') => Ok(Vec::new()),
        Some(b'"') => {
            list_of_text(&serde_json::from_str::<String>(tests.get()).map_err(unreadable)?)
        }
        _ => Err(ApiError::bad_request("tests must be a list, or a text with one")),
    }
}

fn list_of_text(text: &str) -> Result<Vec<Box<RawValue>>, ApiError> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.trim_start().starts_with('[') {
        return list_of_json(text);
    }
    let tests = pickle::packed_list(text)
        .map_err(|why| ApiError::bad_request(format!("tests cannot be unpacked: {why}")))?;
    let max = limits::EXEC_CASES_MAX;
    if tests.len() > max {
        return Err(unreadable(format!("more than {max} tests")));
    }
    Ok(tests.iter().map(|test| to_raw_value(test).expect("plain data")).collect())
}

/// As many tests as one batch of runs may have.
fn list_of_json(json: &str) -> Result<Vec<Box<RawValue>>, ApiError> {
    let mut json = serde_json::Deserializer::from_str(json);
    let tests = array::at_most(limits::EXEC_CASES_MAX, "tests", &mut json).map_err(unreadable)?;
    json.end().map_err(unreadable)?;
    Ok(tests)
}

fn unreadable(why: impl fmt::Display) -> ApiError {
    ApiError::bad_request(format!("tests cannot be read: {why}"))
}

fn appended(tests: Vec<Box<RawValue>>) -> Result<Vec<Value>, ApiError> {
    let case = |(at, test): (usize, Box<RawValue>)| match serde_json::from_str::<String>(test.get())
    {
        Ok(text) => Ok(json!({ "append": text })),
        Err(_) => {
            let detail = format!("tests[{at}] must be a text with an assertion");
            Err(ApiError::bad_request(detail))
        }
    };
    tests.into_iter().enumerate().map(case).collect()
}

/// Cases, and the digest of the lines that each has to print.
fn with_inputs(tests: Vec<Box<RawValue>>) -> Result<(Vec<Value>, Vec<Digest>), ApiError> {
    let read = |(at, test): (usize, Box<RawValue>)| {
        let Test { input, output } = serde_json::from_str(test.get()).map_err(|error| {
            let detail = format!("tests[{at}] must have the texts `input` and `output`: {error}");
            ApiError::bad_request(detail)
        })?;
        Ok((json!({ "stdin": input }), lines_sha256(&output)))
    };
    tests
        .into_iter()
        .enumerate()
        .map(read)
        .collect::<Result<Vec<_>, ApiError>>()
        .map(|it| it.into_iter().unzip())
}

#[cfg(test)]
mod tests {
    use super::super::report::ProgramRun;
    use super::*;

    #[test]
    fn output_is_compared_line_by_line() {
        // printf '2\n101\n' | sha256sum
        let digest = "79811236107e1bb6d9822e320760881b4c5e57eec5f200602a96549bd7decde9";
        let same = |expected: &str, passed| {
            let ran = ProgramRun {
                stdout_lines_sha256: Some(digest.into()),
                passed,
                wall_ms: 10.0,
                ..ProgramRun::default()
            };
            // The digest counts, not the part of the output that is kept.
            let report = Report { cases: vec![ran], ..Report::default() };
            let tests = json!([
                { "input": "", "output": expected }, { "input": "", "output": "" },
            ]);
            let tests = list(&to_raw_value(&tests).expect("plain data")).expect("tests");
            let (cases, outputs) = with_inputs(tests).expect("texts");
            told(&report, &RunningTests { count: cases.len(), outputs })
        };
        let right = |expected| same(expected, true).results == [1, 0];
        assert!(right("2\n101\n") && right(" 2 \r\n 101\n\n"));
        assert!(!right("2 101") && !right("2\n\n101") && !right(""));
        assert_eq!(same("2\n101", true).runtimes, [0.01, -1.0]);
        assert_eq!(same("2\n101", false).results, [0, 0]);
        let earlier = ProgramRun { stdout: "2\n101\n".into(), ..ProgramRun::default() };
        let printed = |lines: &str| earlier.printed(lines_sha256(lines));
        assert!(printed("2\n101") && !printed("2"));
    }

    /// As its client computes it.
    #[test]
    fn the_client_waits_for_ten_times_a_tests_limit() {
        for (test_seconds, seconds) in [(0.0, 30), (1.0, 30), (5.0, 50), (60.0, 300)] {
            assert_eq!(timeout(test_seconds), Duration::from_secs(seconds));
        }
    }

    #[test]
    fn tests_come_as_a_list_or_as_a_text() {
        assert_eq!(count(&json!(["assert f(1) == 2"])), Ok(1));
        assert_eq!(count(&json!("[\"a\", \"b\"]")), Ok(2));
        // base64(zlib(pickle.dumps(["assert True", "assert False"])))
        let packed = "eJxrYJmqxAABsVM0ergTi4tTi0oUQopKU6f08EB5bok5xalTUvUAGDIOLg==";
        assert_eq!(count(&json!(packed)), Ok(2));
        assert_eq!((count(&json!("")), count(&json!(null))), (Ok(0), Ok(0)));
        for odd in [json!("x"), json!(7), json!({}), json!("[\"a\""), json!("[] []")] {
            assert!(count(&odd).is_err(), "{odd}");
        }
    }

    fn count(tests: &Value) -> Result<usize, String> {
        let tests = to_raw_value(tests).expect("plain data");
        list(&tests).map(|tests| tests.len()).map_err(|error| error.detail)
    }

    #[test]
    fn too_many_tests_are_refused() {
        let max = limits::EXEC_CASES_MAX;
        // The same as a list and as a text with one.
        let both = |tests: usize| {
            let list = json!(vec![json!({}); tests]);
            [count(&list), count(&json!(list.to_string()))]
        };
        assert_eq!(both(max), [Ok(max), Ok(max)]);
        for refused in both(max + 1) {
            let refused = refused.expect_err("too many");
            assert!(refused.starts_with("tests cannot be read: more than 4096 tests"), "{refused}");
        }
    }

    #[test]
    fn a_test_of_another_kind_is_named() {
        let tests = || list(&to_raw_value(&json!([7])).expect("plain data")).expect("one");
        let refused = appended(tests()).map(|_| ()).map_err(|error| error.detail);
        assert_eq!(refused, Err("tests[0] must be a text with an assertion".to_owned()));
        let refused = with_inputs(tests()).map(|_| ()).map_err(|error| error.detail);
        assert!(refused.is_err_and(|detail| detail.starts_with("tests[0] must have the texts")));
    }
}
