//! LLaMA-Factory's `reward_model_type: api`: texts of prompt and response in one, a score for each. Its
//! client waits for ever, tries once, and fails on an answer without scores.

use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};

use super::call::{Call, Sample, ScoreCall};
use super::document::PlaceParams;
use super::probe_or_post;
use crate::extract::{array, body};
use crate::problem::ApiError;

const TIMEOUT: Duration = Duration::from_secs(1_800);

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = LlamaFactoryBatch)]
pub(super) struct Batch {
    /// Prompt and response in one, with the chat template.
    #[serde(deserialize_with = "array::items")]
    messages: Vec<String>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = LlamaFactoryScores)]
pub(super) struct Scores {
    scores: Vec<f64>,
}

/// A score for each text.
#[utoipa::path(
    post, path = "/compat/llama-factory/{plugin}/{run}", tag = "llama-factory", params(PlaceParams),
    request_body = Batch, responses((status = 200, body = Scores))
)]
pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &[""]).await? {
        return Ok(probe);
    }
    let body = call.long_body(body).await?;
    let Batch { messages } = body::parse_long(&body.bytes).await?;
    let sample = |response| Sample { response, ..Sample::default() };
    let samples: Vec<Sample> = messages.into_iter().map(sample).collect();
    if samples.is_empty() {
        return Ok(Json(Scores { scores: Vec::new() }).into_response());
    }
    let asked = ScoreCall { body, samples, timeout: TIMEOUT, step: None };
    let scores: Vec<f64> = call.rewards(asked).await?.iter().map(|it| it.reward).collect();
    Ok(Json(Scores { scores }).into_response())
}
