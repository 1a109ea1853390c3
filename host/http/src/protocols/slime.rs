//! slime's `remote_rm`: one sample, answered by a number or, with `reward_key` in the address as in the
//! trainer's options, by an object that has it beside the components.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call::{Call, Sample, ScoreCall};
use super::document::PlaceParams;
use super::probe_or_post;
use super::text::{Prompt, label};
use crate::extract::body;
use crate::problem::ApiError;

const TIMEOUT: Duration = Duration::from_secs(120);

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = SlimeRollout)]
pub(super) struct Rollout {
    #[serde(default)]
    prompt: Prompt,
    response: String,
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    label: Option<Box<RawValue>>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = SlimeReward)]
pub(super) enum Answer {
    Reward(f64),
    /// With `reward_key` in the address: the reward under that name, and the components.
    Parts(BTreeMap<String, f64>),
}

/// The reward of one sample.
#[utoipa::path(
    post, path = "/compat/slime/{plugin}/{run}", tag = "slime", params(PlaceParams),
    request_body = Rollout, responses((status = 200, body = Answer))
)]
pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &[""]).await? {
        return Ok(probe);
    }
    let body = call.body(body).await?;
    let rollout: Rollout = body::parse(&body.bytes)?;
    let sample = Sample {
        prompt: rollout.prompt.into_text(),
        response: rollout.response,
        label: label(rollout.label),
        ..Sample::default()
    };
    let asked = ScoreCall { body, samples: vec![sample], timeout: TIMEOUT, step: None };
    let got = call.reward(asked).await?;
    let options = &call.address.options;
    let answer = match &options.reward_key {
        None => Answer::Reward(got.reward),
        Some(key) => {
            let mut parts: BTreeMap<String, f64> = got.extras(options).collect();
            parts.insert(key.clone(), got.reward);
            Answer::Parts(parts)
        }
    };
    Ok(Json(answer).into_response())
}
