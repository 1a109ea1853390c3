//! open-instruct's code server: a Python program against assertions (`/test_program`) or inputs with
//! outputs (`/test_program_stdio`), 0 or 1 for each.
//!
//! A test is one run of the program with the assertion after it, as open-instruct does it: a program
//! that reads its own source can pass. The plugin `code` keeps tests out of reach, through the other
//! protocols.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{Call, Sample, ScoreCall};
use super::document::PlaceParams;
use super::report::Report;
use super::{no_route, pickle, probe};
use crate::extract::body;
use crate::problem::ApiError;

const SECONDS_MAX: f64 = 120.0;

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = OpenInstructProgram)]
pub(super) struct Program {
    program: String,
    /// A list, or a text with one: as JSON, or pickled, compressed and in base64.
    tests: Value,
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
    let body = call.body(body).await?;
    let Program { program, tests, max_execution_time } = body::parse(&body.bytes)?;
    let tests = list(tests)?;
    if tests.is_empty() {
        return Ok(Json(Results::default()).into_response());
    }
    let seconds = max_execution_time.filter(|it| it.is_finite() && *it > 0.0).unwrap_or(1.0);
    let run_ms = (seconds.min(SECONDS_MAX) * 1e3).ceil() as u64;
    let (cases, outputs) = if stdio { with_inputs(tests)? } else { (appended(tests)?, Vec::new()) };
    let count = cases.len();
    let job = json!({ "language": "python", "run_ms": run_ms.max(1), "cases": cases });
    let sample = Sample { response: program, ..Sample::default() };
    let asked = ScoreCall { body, samples: vec![sample], timeout: timeout(seconds), step: None };
    let report = call.report(asked, &job).await?;
    Ok(Json(told(&report, count, &outputs)).into_response())
}

/// The results of this many tests. Where there are outputs, each test has one, and what was printed must be
/// the same line by line, without white space around each and without empty lines at the end.
fn told(report: &Report, count: usize, outputs: &[String]) -> Results {
    let mut told = Results { results: vec![0; count], runtimes: vec![-1.0; count] };
    for (at, ran) in report.cases.iter().enumerate().take(count) {
        if ran.passed && outputs.get(at).is_none_or(|expected| ran.printed(expected)) {
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

fn list(tests: Value) -> Result<Vec<Value>, ApiError> {
    match tests {
        Value::Array(tests) => Ok(tests),
        Value::Null => Ok(Vec::new()),
        Value::String(text) if text.is_empty() => Ok(Vec::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(tests) => Ok(tests),
            Err(_) => pickle::packed_list(&text)
                .map_err(|why| ApiError::bad_request(format!("tests cannot be unpacked: {why}"))),
        },
        _ => Err(ApiError::bad_request("tests must be a list, or a text with one")),
    }
}

fn appended(tests: Vec<Value>) -> Result<Vec<Value>, ApiError> {
    let case = |(at, test): (usize, Value)| match test {
        Value::String(text) => Ok(json!({ "append": text })),
        _ => Err(ApiError::bad_request(format!("tests[{at}] must be a text with an assertion"))),
    };
    tests.into_iter().enumerate().map(case).collect()
}

/// Cases, and what each has to print.
fn with_inputs(tests: Vec<Value>) -> Result<(Vec<Value>, Vec<String>), ApiError> {
    let read = |(at, test): (usize, Value)| {
        let Test { input, output } = serde_json::from_value(test).map_err(|error| {
            let detail = format!("tests[{at}] must have the texts `input` and `output`: {error}");
            ApiError::bad_request(detail)
        })?;
        Ok((json!({ "stdin": input }), output))
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
            told(&report, 2, &[expected.into(), String::new()])
        };
        let right = |expected| same(expected, true).results == [1, 0];
        assert!(right("2\n101\n") && right(" 2 \r\n 101\n\n"));
        assert!(!right("2 101") && !right("2\n\n101") && !right(""));
        assert_eq!(same("2\n101", true).runtimes, [0.01, -1.0]);
        assert_eq!(same("2\n101", false).results, [0, 0]);
        let earlier = ProgramRun { stdout: "2\n101\n".into(), ..ProgramRun::default() };
        assert!(earlier.printed("2\n101") && !earlier.printed("2"));
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
        let tests = |value| list(value).map(|tests| tests.len()).map_err(|error| error.status);
        assert_eq!(tests(json!(["assert f(1) == 2"])), Ok(1));
        assert_eq!(tests(json!("[\"a\", \"b\"]")), Ok(2));
        assert_eq!(tests(json!("")), Ok(0));
        assert!(tests(json!("x")).is_err() && tests(json!(7)).is_err());
    }
}
