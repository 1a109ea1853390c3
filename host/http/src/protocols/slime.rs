//! slime's `remote_rm`: one sample, answered by a number or, with `reward_key` in the address as in the
//! trainer's options, by an object that has it beside the components.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::call::{Asked, Call, Sample};
use super::probe_or_post;
use super::text::{Prompt, label};
use crate::extract::body;
use crate::problem::ApiError;

const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Deserialize)]
struct Rollout {
    #[serde(default)]
    prompt: Prompt,
    response: String,
    #[serde(default)]
    label: Option<Box<RawValue>>,
}

pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &[""])? {
        return Ok(probe);
    }
    let bytes = call.body(body).await?;
    let rollout: Rollout = body::parse(&bytes)?;
    let sample = Sample {
        prompt: rollout.prompt.into_text(),
        response: rollout.response,
        label: label(rollout.label),
        ..Sample::default()
    };
    let asked = Asked { body: &bytes, samples: vec![sample], timeout: TIMEOUT, step: None };
    let got = call.reward(asked).await?;
    let options = &call.address.options;
    let Some(key) = &options.reward_key else { return Ok(Json(got.reward).into_response()) };
    let mut object: Map<String, Value> =
        got.extras(options).map(|(name, value)| (name, value.into())).collect();
    object.insert(key.clone(), got.reward.into());
    Ok(Json(object).into_response())
}
