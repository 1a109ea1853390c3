//! `/run_code`, as verl, ROLL's code worker and others ask SandboxFusion: a program is run and what it
//! printed comes back.
//!
//! verl repeats a call on 504 alone and takes anything else for a failed test: so every failure of ours
//! is 504, and so is a quota that is used up.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call::{BufferedBody, Call, Failure, Sample, ScoreCall};
use super::document::PlaceParams;
use super::probe_or_post;
use super::report::{ProgramRun, Report, job_label};
use crate::extract::body;
use crate::problem::ApiError;

/// The seconds that clients wait beyond a program's own time limit.
const TIMEOUT_ON_TOP: f64 = 10.0;
const SECONDS_DEFAULT: f64 = 10.0;
/// The longest that the plugin runs a program.
const SECONDS_MAX: f64 = 120.0;
const MEMORY_MIB_MIN: f64 = 4.0;
const MEMORY_MIB_MAX: f64 = 4_096.0;

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = SandboxFusionRunCode)]
pub(super) struct RunCode {
    code: String,
    language: String,
    stdin: Option<String>,
    compile_timeout: Option<f64>,
    run_timeout: Option<f64>,
    #[serde(rename = "memory_limit_MB")]
    memory_limit_mb: Option<f64>,
    /// Base64, by path.
    files: Option<BTreeMap<String, Option<String>>>,
    fetch_files: Option<Vec<String>>,
}

/// The job of the plugin, with its fields by the alphabet, as earlier releases wrote them.
#[derive(Serialize)]
struct ProgramJob<'a> {
    cases: [ProgramInput<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    collect: Option<&'a [String]>,
    compile_ms: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<&'a str, Vec<u8>>,
    language: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_mib: Option<u64>,
    run_ms: u64,
}

#[derive(Serialize)]
struct ProgramInput<'a> {
    stdin: &'a str,
}

/// The answer, with its fields in SandboxFusion's order.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = SandboxFusionAnswer)]
pub(super) struct Answer {
    status: &'static str,
    message: String,
    compile_result: Option<Command>,
    run_result: Option<Command>,
    executor_pod_name: Option<String>,
    files: BTreeMap<String, String>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = SandboxFusionCommand)]
pub(super) struct Command {
    status: &'static str,
    execution_time: f64,
    return_code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Runs a program by the plugin `run`.
#[utoipa::path(
    post, path = "/compat/sandbox-fusion/{plugin}/{run}/run_code", tag = "sandbox-fusion", params(PlaceParams),
    request_body = RunCode, responses((status = 200, body = Answer))
)]
pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &["run_code"]).await? {
        return Ok(probe);
    }
    let asked = read(call.body(body).await?)?;
    let report = call.report(asked).await.map_err(gateway_timeout)?;
    Ok(Json(told(report)?).into_response())
}

/// The program with its job: no call holds its files while it waits.
fn read(body: BufferedBody) -> Result<ScoreCall, ApiError> {
    let asked: RunCode = body::parse(&body.bytes)?;
    let compile = seconds("compile_timeout", asked.compile_timeout)?;
    let run = seconds("run_timeout", asked.run_timeout)?;
    let timeout = Duration::from_secs_f64(compile + run + TIMEOUT_ON_TOP);
    let label = Some(job(&asked, compile, run)?);
    let sample = Sample { response: asked.code, label, ..Sample::default() };
    Ok(ScoreCall { body, samples: vec![sample], timeout, step: None })
}

/// The default for zero, as for a time that is absent.
fn seconds(name: &str, given: Option<f64>) -> Result<f64, ApiError> {
    if given.is_some_and(|it| it < 0.0) {
        return Err(ApiError::bad_request(format!("{name} must not be negative")));
    }
    let given = given.filter(|it| it.is_finite() && *it > 0.0);
    Ok(given.unwrap_or(SECONDS_DEFAULT).min(SECONDS_MAX))
}

fn job(asked: &RunCode, compile: f64, run: f64) -> Result<Box<RawValue>, ApiError> {
    let ms = |seconds: f64| (seconds * 1e3).ceil().max(1.0) as u64;
    let mut files = BTreeMap::new();
    for (path, content) in asked.files.iter().flatten() {
        let Some(content) = content else { continue };
        let bytes = STANDARD
            .decode(content)
            .map_err(|_| ApiError::bad_request(format!("files[{path:?}] must be base64")))?;
        files.insert(path.as_str(), bytes);
    }
    // -1 stands for no limit: the toolchain's holds.
    let memory = asked.memory_limit_mb.filter(|it| *it > 0.0);
    Ok(job_label(&ProgramJob {
        cases: [ProgramInput { stdin: asked.stdin.as_deref().unwrap_or_default() }],
        collect: asked.fetch_files.as_deref().filter(|names| !names.is_empty()),
        compile_ms: ms(compile),
        files,
        language: &asked.language,
        memory_mib: memory.map(|mib| mib.clamp(MEMORY_MIB_MIN, MEMORY_MIB_MAX) as u64),
        run_ms: ms(run),
    }))
}

fn told(report: Report) -> Result<Answer, ApiError> {
    let ran = report.cases.into_iter().next();
    let success = ran.as_ref().is_some_and(|ran| ran.passed);
    // Who compares a part of the output with the whole one finds a right program wrong.
    if ran.as_ref().is_some_and(|ran| ran.passed && !ran.tells_all()) {
        let detail = "the program printed more than the answer can hold";
        return Err(ApiError::new(StatusCode::GATEWAY_TIMEOUT, "output_too_long", detail));
    }
    let files = report.files.into_iter().map(|(path, bytes)| (path, STANDARD.encode(bytes)));
    Ok(Answer {
        status: if success { "Success" } else { "Failed" },
        message: ran.as_ref().map(message).unwrap_or_default(),
        compile_result: report.compile.map(command),
        run_result: ran.map(command),
        executor_pod_name: None,
        files: files.collect(),
    })
}

/// The message about an ending for which the protocol has no field.
fn message(ran: &ProgramRun) -> String {
    match ran.ended.as_str() {
        "memory" => "the program exceeded its memory limit".into(),
        "output" => "the program printed more than allowed".into(),
        "processes" => "the program started more processes than allowed".into(),
        _ => String::new(),
    }
}

fn command(ran: ProgramRun) -> Command {
    let (status, return_code) = match ran.ended.as_str() {
        "exited" => ("Finished", Some(ran.status)),
        // As Python tells it.
        "signaled" => ("Finished", Some(-ran.status)),
        "time" => ("TimeLimitExceeded", None),
        _ => ("Error", None),
    };
    let ProgramRun { wall_ms, stdout, stderr, .. } = ran;
    Command { status, execution_time: wall_ms / 1e3, return_code, stdout, stderr }
}

fn gateway_timeout(failure: Failure) -> ApiError {
    let mut error = ApiError::from(failure);
    error.status = repeated(error.status);
    error
}

/// The status that makes verl repeat a call which failed through none of its program's fault.
pub(super) fn repeated(status: StatusCode) -> StatusCode {
    match status {
        StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => StatusCode::GATEWAY_TIMEOUT,
        status if status.is_server_error() => StatusCode::GATEWAY_TIMEOUT,
        status => status,
    }
}

#[cfg(test)]
mod tests {
    use assay_dispatch::DispatchError;

    use super::*;

    /// verl scores every other status as a failed test.
    #[test]
    fn a_failure_that_is_none_of_the_program_is_504() {
        let status = |error: ApiError| gateway_timeout(error.into()).status;
        let internal = ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "");
        for error in [ApiError::unavailable("no_room", ""), internal, ApiError::internal()] {
            assert_eq!(status(error), StatusCode::GATEWAY_TIMEOUT);
        }
        assert_eq!(repeated(StatusCode::REQUEST_TIMEOUT), StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(repeated(StatusCode::OK), StatusCode::OK);
        let quota = DispatchError::RequestsPerMinute { max: 10, used: 10, seconds: 7 };
        let answered = gateway_timeout(quota.into());
        assert_eq!(
            (answered.status, answered.code),
            (StatusCode::GATEWAY_TIMEOUT, "quota_exceeded")
        );
        assert_eq!(answered.retry_after_s, Some(7));
        assert_eq!(status(ApiError::bad_request("")), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn a_negative_time_is_refused_and_zero_is_none() {
        let time = |given| seconds("run_timeout", given).map_err(|error| error.status.as_u16());
        assert_eq!(time(Some(-0.5)), Err(400));
        assert_eq!((time(Some(0.0)), time(None)), (Ok(SECONDS_DEFAULT), Ok(SECONDS_DEFAULT)));
        assert_eq!((time(Some(0.5)), time(Some(1e9))), (Ok(0.5), Ok(SECONDS_MAX)));
    }

    #[test]
    fn a_job_is_as_the_plugin_reads_it() {
        let check = |json: &str, job_json: &str| {
            let asked: RunCode = serde_json::from_str(json).expect("a call");
            let job = job(&asked, 0.5, 10.0).unwrap_or_else(|error| panic!("{}", error.detail));
            assert_eq!(job.get(), job_json);
        };
        check(
            r#"{"code":"","language":"c","memory_limit_MB":-1,"files":{"a":null},"fetch_files":[]}"#,
            r#"{"cases":[{"stdin":""}],"compile_ms":500,"language":"c","run_ms":10000}"#,
        );
        check(
            concat!(
                r#"{"code":"","language":"python","stdin":"1","memory_limit_MB":1e9,"#,
                r#""files":{"b":"AP8=","a":""},"fetch_files":["c"]}"#
            ),
            concat!(
                r#"{"cases":[{"stdin":"1"}],"collect":["c"],"compile_ms":500,"#,
                r#""files":{"a":[],"b":[0,255]},"language":"python","memory_mib":4096,"run_ms":10000}"#
            ),
        );
    }

    fn answered(report: Report) -> Answer {
        told(report).expect("an answer")
    }

    #[test]
    fn a_part_of_the_output_is_no_answer_about_a_program_that_ended_well() {
        let status = |passed, truncated, stdout_truncated| {
            let ran = ProgramRun { passed, truncated, stdout_truncated, ..ProgramRun::default() };
            told(Report { cases: vec![ran], ..Report::default() }).err().map(|error| error.status)
        };
        let refused = Some(StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(status(true, true, Some(true)), refused);
        assert_eq!(status(true, true, None), refused);
        // Standard error alone is cut; the program failed anyway.
        assert_eq!(status(true, true, Some(false)), None);
        assert_eq!(status(false, true, Some(true)), None);
        assert_eq!(status(true, false, None), None);
    }

    #[test]
    fn an_answer_is_as_its_clients_read_it() {
        let ran = ProgramRun {
            ended: "exited".into(),
            wall_ms: 10.0,
            stdout: "2\n".into(),
            passed: true,
            ..ProgramRun::default()
        };
        let report = Report { cases: vec![ran.clone()], ..Report::default() };
        let json = serde_json::to_string(&answered(report)).expect("plain");
        let expected = concat!(
            r#"{"status":"Success","message":"","compile_result":null,"#,
            r#""run_result":{"status":"Finished","execution_time":0.01,"return_code":0,"#,
            r#""stdout":"2\n","stderr":""},"executor_pod_name":null,"files":{}}"#
        );
        assert_eq!(json, expected);
        for (ended, status, code) in [
            ("time", "TimeLimitExceeded", None),
            ("memory", "Error", None),
            ("signaled", "Finished", Some(-9)),
        ] {
            let ran = ProgramRun { ended: ended.into(), status: 9, passed: false, ..ran.clone() };
            let told = answered(Report { cases: vec![ran], ..Report::default() });
            let result = told.run_result.expect("it ran");
            assert_eq!((told.status, result.status, result.return_code), ("Failed", status, code));
        }
        // It did not compile.
        let compile =
            Some(ProgramRun { ended: "exited".into(), status: 1, ..ProgramRun::default() });
        let told = answered(Report { compile, ..Report::default() });
        assert_eq!(told.status, "Failed");
        assert!(told.run_result.is_none());
        assert_eq!(told.compile_result.and_then(|it| it.return_code), Some(1));
    }
}
