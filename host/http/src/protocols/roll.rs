//! ROLL's remote reward system: a sample is submitted, its result is asked for every two seconds. It
//! alone says which step of which experiment a sample is of.
//!
//! `errcode` is 0 with a reward, 1 while there is none yet, and 2 where there will be none.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_api::result::ResultItem;
use assay_core::id::RequestId;
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_core::time::Micros;
use axum::Json;
use axum::body::Body;
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use super::call::{Admitted, Call, Sample, ScoreCall};
use super::document::PlaceParams;
use super::missing::{Asker, Iteration, NoReward};
use super::no_route;
use super::text::{Prompt, label};
use crate::extract::body;
use crate::problem::ApiError;
use crate::routes::batches;
use crate::told;

const TIMEOUT_SECONDS: f64 = 300.0;
const RUNNING: u8 = 1;
const FAILED: u8 = 2;

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = RollTask)]
pub(super) struct Task {
    #[serde(default)]
    project_id: Value,
    #[serde(default)]
    experiment_id: Value,
    #[serde(default)]
    global_step: Value,
    #[serde(default)]
    data_id: Value,
    #[serde(default)]
    prompt: Prompt,
    response: String,
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    reward_info: Option<Box<RawValue>>,
    timeout: Option<f64>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = RollAsk)]
pub(super) struct Ask {
    reward_request_id: String,
}

/// `errcode` is 0 with a reward, 1 while there is none yet, and 2 where there will be none. Only a reward has the fields
/// after `reward_request_id`.
#[derive(Default, Serialize, utoipa::ToSchema)]
#[schema(as = RollAnswer)]
pub(super) struct Answer {
    errcode: u8,
    errmsg: String,
    reward_request_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reward_score: Option<f64>,
    /// The components, in a field that ROLL spells so.
    #[serde(skip_serializing_if = "Option::is_none")]
    dimention_reward_score: Option<BTreeMap<String, Dimension>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = RollDimension)]
pub(super) struct Dimension {
    score: f64,
}

pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    match (&call.method, call.address.rest.as_str()) {
        (&Method::POST, "submit_task") => submit(call, body).await,
        (&Method::GET | &Method::POST, "task_result") => result(call, body).await,
        _ => Err(no_route()),
    }
}

/// Submits a sample.
#[utoipa::path(
    post, path = "/compat/roll/{plugin}/{run}/submit_task", tag = "roll", params(PlaceParams),
    request_body = Task, responses((status = 200, body = Answer))
)]
pub(super) async fn submit(call: Call, body: Body) -> Result<Response, ApiError> {
    let body = call.body(body).await?;
    let task: Task = body::parse(&body.bytes)?;
    let max = limits::COMPAT_SECONDS_MAX as f64;
    let seconds = task.timeout.filter(|it| it.is_finite()).unwrap_or(TIMEOUT_SECONDS);
    let timeout = Duration::from_secs_f64(seconds.clamp(0.2, max));
    let step = step(&task);
    let field = call.address.options.label.as_deref().unwrap_or("ground_truth");
    let given = task.reward_info.as_deref().and_then(|known| field_of(known, field));
    let sample = Sample {
        prompt: task.prompt.into_text(),
        response: task.response,
        label: label(given),
        metadata: task.reward_info,
        group: text(&task.data_id),
    };
    let asked = ScoreCall { body, samples: vec![sample], timeout, step };
    let admitted = call.admit(asked).await?;
    follow(&call, &admitted, call.address.options.timeout.unwrap_or(timeout));
    let id = admitted.ids().first().map(ToString::to_string).unwrap_or_default();
    Ok(Json(Answer { reward_request_id: id, ..Answer::default() }).into_response())
}

/// A field of an object as it is written: a number that is read would lose digits.
fn field_of(object: &RawValue, name: &str) -> Option<Box<RawValue>> {
    let mut fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(object.get()).ok()?;
    fields.remove(name)
}

/// Counts the sample if it has no reward when ROLL gives up, whoever asks for it. Samples beyond the limit, and those that
/// an earlier process of the server took, are counted when ROLL asks for them ([`result`]).
fn follow(call: &Call, admitted: &Admitted, timeout: Duration) {
    let tenant = call.caller.tenant;
    let (Some(permit), Some(id)) =
        (call.app.followed.try_acquire(tenant, 1), admitted.ids().first().copied())
    else {
        return;
    };
    let (app, asker, results) = (call.app.clone(), Asker::of_call(call), admitted.later_results());
    let run = Some(admitted.batch().run.clone());
    let (until, request) = (call.since + timeout, told::sample_of_request(tenant, id));
    // Polls count nothing from here on.
    app.told.note(request, Instant::now());
    tokio::spawn(async move {
        let _permit = permit;
        let reason = tokio::select! {
            biased;
            // The next process counts it when it is asked for.
            () = app.stopped() => return,
            results = results => match results {
                Some(results) => match results.into_iter().find_map(|it| failure(&it)) {
                    Some(reason) => reason,
                    None => return,
                },
                None => "its batch ended without a result".into(),
            },
            () = tokio::time::sleep_until(until) => {
                format!("no result within {} s", timeout.as_secs_f64())
            }
        };
        app.told.note(request, Instant::now());
        asker.note(NoReward { reason, run, ..NoReward::default() });
    });
}

/// The error of a result without a reward.
fn failure(item: &ResultItem) -> Option<String> {
    match &item.outcome {
        Outcome::Error { code, .. } => Some(code.to_string()),
        Outcome::Scored(_) | Outcome::TimedOut { .. } => None,
    }
}

/// The run and its step, if the trainer sent them.
fn step(task: &Task) -> Option<(String, u64)> {
    let step = match &task.global_step {
        Value::String(text) => text.parse().ok()?,
        other => other.as_u64()?,
    };
    Some((format!("{}/{}", text(&task.project_id)?, text(&task.experiment_id)?), step))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The result of a sample that was submitted.
#[utoipa::path(
    post, path = "/compat/roll/{plugin}/{run}/task_result", tag = "roll", params(PlaceParams),
    request_body = Ask, responses((status = 200, body = Answer))
)]
pub(super) async fn result(call: Call, body: Body) -> Result<Response, ApiError> {
    let body = call.body(body).await?;
    let Ask { reward_request_id } = body::parse(&body.bytes)?;
    drop(body);
    let id: RequestId = reward_request_id.parse()?;
    let tenant = call.caller.tenant;
    call.sample.tell(told::sample_of_request(tenant, id));
    let batch = batches::find(&call.app, tenant, id.batch).await?;
    call.caller.may_use_plugin(&batch.plugin)?;
    batches::kept(&call.app, tenant, id.batch).await?;
    let arrived_at = call.app.store.request(tenant, id).await?.arrived_at;
    let item = call.app.store.result(tenant, id).await?;
    let item = item.and_then(|json| serde_json::from_str(&json).ok());
    let failed = item.as_ref().and_then(failure);
    let mut answer = Json(told(id, arrived_at, item)).into_response();
    if let Some(reason) = failed {
        let iteration = Iteration { batch: id.batch, number: batch.iteration };
        let missing = NoReward {
            reason,
            run: Some(batch.run),
            batch: Some(iteration),
            ..NoReward::default()
        };
        answer.extensions_mut().insert(missing);
    }
    Ok(answer)
}

fn told(id: RequestId, arrived_at: Micros, item: Option<ResultItem>) -> Answer {
    let reward_request_id = id.to_string();
    let Some(item) = item else {
        let errmsg = "running".into();
        return Answer { errcode: RUNNING, errmsg, reward_request_id, ..Answer::default() };
    };
    let components = match &item.outcome {
        Outcome::Scored(scored) => scored.components.clone(),
        Outcome::TimedOut { .. } => [].into(),
        Outcome::Error { code, message, .. } => {
            let errmsg = format!("{code}: {message}");
            return Answer { errcode: FAILED, errmsg, reward_request_id, ..Answer::default() };
        }
    };
    let took: f64 = item.stages.iter().map(|stage| stage.queued_ms + stage.ran_ms).sum();
    let dimension = |(name, score)| (name, Dimension { score });
    Answer {
        reward_request_id,
        reward_score: item.outcome.reward(),
        dimention_reward_score: Some(components.into_iter().map(dimension).collect()),
        start_time: Some(iso(arrived_at)),
        end_time: Some(iso(arrived_at + Micros::from_ms_f64(took))),
        ..Answer::default()
    }
}

/// The time in a form that `datetime.fromisoformat` of every Python version can read.
fn iso(at: Micros) -> String {
    let at = at.to_datetime();
    let (date, time) = (at.date(), at.time());
    format!(
        "{date}T{:02}:{:02}:{:02}.{:06}+00:00",
        time.hour(),
        time.minute(),
        time.second(),
        time.microsecond()
    )
}
