//! NeMo-Gym's resources server, as NeMo-RL, axolotl and verifiers ask it. `/verify` echoes the whole call
//! with the reward and its components.
//!
//! An outcome without a reward becomes a masked answer, which has no `reward` unless the address names a
//! value for it (`masked_reward`): a client that knows no masks must fail and not train on a number.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::http::{Method, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::address::Options;
use super::call::{BufferedBody, Call, Failure, Rewarded, Sample, ScoreCall};
use super::document::PlaceParams;
use super::metrics::Verified;
use super::missing::NoReward;
use super::text::{Message, Prompt, label};
use super::{no_route, probe};
use crate::extract::{array, body, object};
use crate::problem::ApiError;

/// The deadline of verifiers' client; NeMo-Gym's own client waits without limit.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The fields in which data sets have the right answer, the likeliest first.
const LABELS: [&str; 5] = ["label", "ground_truth", "expected_answer", "answer", "target"];
const PARAMS: &str = "responses_create_params";
const RESPONSE: &str = "response";
const REWARD: &str = "reward";
const MASK: &str = "mask_sample";
const REASON: &str = "failure_reason";
const INSTANCE: &str = "instance_config";
/// Where the address names a number for masked rows.
const MASKED_REWARD: &str = "an agent that does not read `mask_sample` trains on `masked_reward`";
/// The names of the fields that the answer's components have.
const COMPONENTS: &str = "assay_components";

/// The fields of a call as they came.
type Row = BTreeMap<String, Box<RawValue>>;

pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    match (&call.method, path(&call.address.rest)) {
        (&Method::POST, "verify") => verify(call, body).await,
        (&Method::POST, "seed_session") => {
            call.body(body).await?;
            Ok(Json(json!({})).into_response())
        }
        (&Method::POST, "aggregate_metrics") => aggregate(call.long_body(body).await?).await,
        (&Method::GET, "reverify_mode") => Ok(Json("stateless").into_response()),
        (&Method::GET, "") => probe(&call).await,
        _ => Err(no_route()),
    }
}

/// Computes metrics in a thread of its own, as those of many rows take a while; the body keeps its turn until they are there.
async fn aggregate(sent: BufferedBody) -> Result<Response, ApiError> {
    let computed = tokio::task::spawn_blocking(move || {
        // Whole, with its turn: the caller may go away meanwhile.
        let sent = sent;
        body::parse(&sent.bytes).map(|verified: Verified| verified.into_metrics())
    });
    let json = computed.await.map_err(|error| {
        tracing::error!(%error, "the metrics of verified rows cannot be computed");
        ApiError::internal()
    })??;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// A path without `ng-rollout/ID/`, which tells NeMo-Gym's own servers which rollout a call belongs to.
pub(super) fn path(rest: &str) -> &str {
    match rest.strip_prefix("ng-rollout/") {
        Some(rollout) => rollout.split_once('/').map_or("", |(_, rest)| rest),
        None => rest,
    }
}

/// A row of a data set with the model's response. All other fields are the row's own: the label among them.
#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = NemoGymRow)]
pub(super) struct DocumentedRow {
    #[serde(rename = "responses_create_params")]
    _params: Params,
    #[serde(rename = "response")]
    _response: Answered,
    #[serde(flatten)]
    _fields: BTreeMap<String, Value>,
}

/// The row with its reward, its components as numbers, or a mask.
#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = NemoGymAnswer)]
pub(super) struct DocumentedAnswer {
    /// The reward; absent in a masked answer, unless the address names a value for it.
    #[serde(rename = "reward")]
    _reward: Option<f64>,
    #[serde(rename = "mask_sample")]
    _mask_sample: Option<bool>,
    #[serde(rename = "failure_reason")]
    _failure_reason: Option<String>,
    #[serde(flatten)]
    _fields: BTreeMap<String, Value>,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = NemoGymParams)]
pub(super) struct Params {
    #[serde(default)]
    input: Prompt,
}

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = NemoGymResponse)]
pub(super) struct Answered {
    #[serde(default, deserialize_with = "array::messages")]
    output: Vec<Message>,
}

/// Verifies a row; `ng-rollout/ID/` may precede `verify`.
#[utoipa::path(
    post, path = "/compat/nemo-gym/{plugin}/{run}/verify", tag = "nemo-gym", params(PlaceParams),
    request_body = DocumentedRow, responses((status = 200, body = DocumentedAnswer))
)]
pub(super) async fn verify(call: Call, body: Body) -> Result<Response, ApiError> {
    let body = call.body(body).await?;
    let sample = sample(&body::parse::<Row>(&body.bytes)?, &call.address.options)?;
    // The row as it came, and no longer than it is: its fields one by one take many times the memory.
    let sent = body.bytes.to_vec();
    let asked = ScoreCall { body, samples: vec![sample], timeout: TIMEOUT, step: None };
    let got = call.reward_beside_body(asked).await;
    let row: Row = body::parse(&sent)?;
    match got {
        Ok(got) => Ok(Json(rewarded(row, &got, &call.address.options)).into_response()),
        // The address, the key or a quota is wrong: no sample would fare better.
        Err(Failure::Refused(error)) if error.status.is_client_error() => Err(error),
        Err(failure) => {
            let reason = ApiError::from(failure).detail;
            let number = call.address.options.masked_reward;
            let mut answer = Json(masked(row, &reason, number)).into_response();
            let writes = number.map(|_| MASKED_REWARD);
            answer.extensions_mut().insert(NoReward { reason, writes, ..NoReward::default() });
            Ok(answer)
        }
    }
}

fn sample(row: &Row, options: &Options) -> Result<Sample, ApiError> {
    let params: Params = field(row, PARAMS)?;
    let answered: Answered = field(row, RESPONSE)?;
    let texts = answered
        .output
        .into_iter()
        .filter(|item| item.kind == "message" && item.role == "assistant");
    let texts: Vec<String> = texts.map(|item| item.content.into_text()).collect();
    let named = match &options.label {
        Some(name) => Some(name.as_str()),
        None => {
            let is_given = |name: &&str| row.get(*name).is_some_and(|value| value.get() != "null");
            LABELS.into_iter().find(is_given)
        }
    };
    let rest = row.iter().filter(|(name, _)| {
        ![PARAMS, RESPONSE].contains(&name.as_str()) && Some(name.as_str()) != named
    });
    let rest: BTreeMap<_, _> = rest.collect();
    Ok(Sample {
        prompt: params.input.into_text(),
        response: texts.join("\n"),
        label: label(named.and_then(|name| row.get(name)).cloned()),
        metadata: Some(raw(&rest)),
        group: None,
    })
}

fn field<'a, T: Deserialize<'a>>(row: &'a Row, name: &str) -> Result<T, ApiError> {
    let value =
        row.get(name).ok_or_else(|| ApiError::bad_request(format!("there is no {name}")))?;
    serde_json::from_str(value.get()).map_err(|error| {
        let why = object::explain::<T>(value.get().as_bytes(), &error);
        ApiError::bad_request(format!("{name} is not valid for this call: {why}"))
    })
}

fn rewarded(mut row: Row, got: &Rewarded, options: &Options) -> Row {
    forget_last_answer(&mut row);
    let mut written = Vec::new();
    for (name, value) in got.extras(options) {
        let name = component_name(&row, name);
        row.insert(name.clone(), raw(&value));
        written.push(name);
    }
    if let Some(config) = row.get_mut(INSTANCE) {
        let mut object: Map<String, Value> = serde_json::from_str(config.get()).unwrap_or_default();
        if object.insert(MASK.into(), false.into()).is_some() {
            *config = raw(&object);
        }
    }
    if !written.is_empty() {
        row.insert(COMPONENTS.into(), raw(&written));
    }
    row.insert(REWARD.into(), raw(&got.reward));
    row
}

/// A row that is verified again has the fields of its last answer, which says their names.
fn forget_last_answer(row: &mut Row) {
    let written = row.remove(COMPONENTS);
    let written: Vec<String> =
        written.and_then(|names| serde_json::from_str(names.get()).ok()).unwrap_or_default();
    for name in [MASK, REASON].into_iter().chain(written.iter().map(String::as_str)) {
        row.remove(name);
    }
}

/// The field for a component: `assay_NAME` where the row has a NAME of its own, which is kept.
fn component_name(row: &Row, name: String) -> String {
    let told = [REWARD, MASK, REASON, INSTANCE, COMPONENTS].contains(&name.as_str());
    if !told && !row.contains_key(&name) {
        return name;
    }
    let mut beside = format!("assay_{name}");
    while row.contains_key(&beside) || beside == COMPONENTS {
        beside.insert_str(0, "assay_");
    }
    beside
}

fn masked(mut row: Row, reason: &str, reward: Option<f64>) -> Row {
    forget_last_answer(&mut row);
    row.remove(REWARD);
    if let Some(reward) = reward {
        row.insert(REWARD.into(), raw(&reward));
    }
    let config = row.get(INSTANCE).map_or("{}", |config| config.get());
    let mut config: Map<String, Value> = serde_json::from_str(config).unwrap_or_default();
    config.insert(MASK.into(), true.into());
    row.insert(INSTANCE.into(), raw(&config));
    row.insert(MASK.into(), raw(&true));
    row.insert(REASON.into(), raw(&reason));
    row
}

fn raw<T: serde::Serialize>(value: &T) -> Box<RawValue> {
    to_raw_value(value).expect("plain data")
}

#[cfg(test)]
mod tests {
    use assay_core::limits;

    use super::*;

    fn row(json: &Value) -> Row {
        serde_json::from_value(json.clone()).expect("an object")
    }

    #[test]
    fn a_row_becomes_a_sample() {
        let json = json!({
            "responses_create_params": { "input": [
                { "role": "system", "content": "be brief" },
                { "role": "user", "content": [{ "type": "input_text", "text": "6 * 7?" }] },
            ] },
            "response": { "output": [
                { "type": "reasoning", "summary": [] },
                { "type": "message", "role": "assistant", "content": [
                    { "type": "output_text", "text": "42", "annotations": [] }] },
            ] },
            "label": null, "expected_answer": 42, "answer": 41, "level": 3,
        });
        let found = sample(&row(&json), &Options::default()).unwrap_or_default();
        assert_eq!((found.prompt.as_str(), found.response.as_str()), ("be brief\n\n6 * 7?", "42"));
        assert_eq!(found.label.map(|it| it.get().to_owned()).as_deref(), Some("42"));
        let metadata = found.metadata.map(|it| it.get().to_owned());
        assert_eq!(metadata.as_deref(), Some(r#"{"answer":41,"label":null,"level":3}"#));
        let options = Options { label: Some("answer".into()), ..Options::default() };
        let found = sample(&row(&json), &options).unwrap_or_default();
        assert_eq!(found.label.map(|it| it.get().to_owned()).as_deref(), Some("41"));
    }

    #[test]
    fn too_many_messages_are_refused() {
        let read = |input: &str, output: &str| {
            let json = |text: String| RawValue::from_string(text).expect("JSON");
            let mut row = Row::new();
            row.insert(PARAMS.into(), json(format!(r#"{{"input":{input}}}"#)));
            row.insert(RESPONSE.into(), json(format!(r#"{{"output":{output}}}"#)));
            sample(&row, &Options::default()).map(|_| ()).map_err(|error| error.detail)
        };
        let messages = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        let max = limits::COMPAT_MESSAGES_MAX;
        assert_eq!(read(&messages(max), &messages(max)), Ok(()));
        for (input, output, field) in [(max + 1, 0, "input: "), (0, max + 1, "output: ")] {
            let refused = read(&messages(input), &messages(output)).expect_err(field);
            assert!(refused.contains(field), "{refused}");
            assert!(refused.contains("more than 4096 messages"), "{refused}");
        }
    }

    #[test]
    fn a_masked_answer_has_no_number_that_was_not_asked_for() {
        let json = json!({ "a": 1, "reward": 0.5, "instance_config": { "b": 2 } });
        let told = serde_json::to_value(masked(row(&json), "late", None)).expect("plain");
        let config = json!({ "b": 2, "mask_sample": true });
        let expected = json!({
            "a": 1, "mask_sample": true, "failure_reason": "late", "instance_config": config,
        });
        assert_eq!(told, expected);
        let told = serde_json::to_value(masked(row(&json), "late", Some(0.0))).expect("plain");
        assert_eq!(told["reward"], 0.0);
        // Verified again, and well.
        let got = Rewarded { reward: 1.0, components: [("ok".to_owned(), 1.0)].into() };
        let again = rewarded(row(&told), &got, &Options::default());
        let again = serde_json::to_value(again).expect("plain");
        let config = json!({ "b": 2, "mask_sample": false });
        let expected = json!({
            "a": 1, "reward": 1.0, "ok": 1.0, "assay_components": ["ok"], "instance_config": config,
        });
        assert_eq!(again, expected);
    }

    /// A component named like a field of the data set, such as its answer, must not replace it.
    #[test]
    fn a_component_never_replaces_a_field_of_the_row() {
        let json = json!({ "answer": "42", "level": 3 });
        let mut expected = json!({
            "answer": "42", "level": 3, "assay_answer": 0.5, "assay_level": 1.0,
            "assay_mask_sample": 1.0, "ok": 1.0, "reward": 0.25,
            "assay_components": ["assay_answer", "assay_level", "assay_mask_sample", "ok"],
        });
        let verified = |json: &Value, ok: f64| {
            let components = [("answer", 0.5), ("level", 1.0), ("mask_sample", 1.0), ("ok", ok)];
            let components = components.map(|(name, value)| (name.to_owned(), value)).into();
            let got = Rewarded { reward: 0.25, components };
            let told = rewarded(row(json), &got, &Options::default());
            serde_json::to_value(told).expect("plain")
        };
        let told = verified(&json, 1.0);
        assert_eq!(told, expected);
        // Verified again, it is the same row with the new values.
        expected["ok"] = 0.0.into();
        assert_eq!(verified(&told, 0.0), expected);
    }

    /// Nor after an answer without components, nor beside a reward that is the row's own.
    #[test]
    fn a_number_of_the_row_is_kept_when_it_is_verified_again() {
        let components = || [("level".to_owned(), 0.5), ("ok".to_owned(), 1.0)].into();
        let verified = |row: Row| {
            let got = Rewarded { reward: 1.0, components: components() };
            rewarded(row, &got, &Options::default())
        };
        let plain = |row: &Row| serde_json::to_value(row).expect("plain");
        let check = |row: Row| {
            let told = plain(&verified(row));
            let kept = (&told["level"], &told["assay_level"], &told["ok"]);
            assert_eq!(kept, (&json!(3), &json!(0.5), &json!(1.0)), "{told}");
        };
        let json = json!({ "level": 3 });
        check(masked(row(&json), "late", None));
        check(masked(row(&json), "late", Some(0.0)));
        check(masked(verified(row(&json)), "late", None));
        check(verified(row(&json)));
        check(row(&json!({ "level": 3, "reward": 0.5 })));
        // A masked answer has no components of the answer before.
        let told = plain(&masked(verified(row(&json)), "late", None));
        assert!(told.get("ok").is_none() && told.get("assay_components").is_none(), "{told}");
    }
}
