//! OpenRLHF: `{"query": [...], "prompts": [...], "labels": [...]}`, lists of the same length, of length
//! 1 since January 2026. `query` is prompt and response in one. Empty lists get empty lists.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call::{Asked, Call, Rewarded, Sample};
use super::probe_or_post;
use super::text::{Prompt, label};
use crate::extract::body;
use crate::problem::ApiError;

const TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Deserialize)]
struct Batch {
    query: Vec<String>,
    #[serde(default)]
    prompts: Vec<Prompt>,
    #[serde(default)]
    labels: Vec<Option<Box<RawValue>>>,
}

#[derive(Serialize)]
struct Rewards {
    rewards: Vec<f64>,
    /// The rewards between 0 and 1 from which curves are drawn.
    scores: Vec<f64>,
    extra_logs: BTreeMap<String, Vec<f64>>,
}

pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &["", "get_reward"])? {
        return Ok(probe);
    }
    let (bytes, turn) = call.long_body(body).await?;
    let batch: Batch = body::parse(&bytes)?;
    let samples = samples(batch)?;
    let extra = call.address.options.extra.as_deref();
    if samples.is_empty() {
        return Ok(Json(rewards(Vec::new(), extra)).into_response());
    }
    drop(turn);
    let asked = Asked { body: &bytes, samples, timeout: TIMEOUT, step: None };
    let got = call.rewards(asked).await?;
    Ok(Json(rewards(got, extra)).into_response())
}

fn samples(batch: Batch) -> Result<Vec<Sample>, ApiError> {
    let Batch { query, prompts, labels } = batch;
    let size = query.len();
    for (what, length) in [("prompts", prompts.len()), ("labels", labels.len())] {
        if length != size && length != 0 {
            let detail = format!("query has {size} items and {what} has {length}");
            return Err(ApiError::bad_request(detail));
        }
    }
    let mut prompts = prompts.into_iter();
    let mut labels = labels.into_iter();
    let sample = |query: String| {
        let prompt = prompts.next().unwrap_or_default().into_text();
        // As the tokenizer decoded it, it may begin otherwise: then all of it is the response.
        let response = query.strip_prefix(prompt.as_str()).unwrap_or(&query).to_owned();
        Sample { prompt, response, label: label(labels.next().flatten()), ..Sample::default() }
    };
    Ok(query.into_iter().map(sample).collect())
}

/// The lists of each component, all of the same length: 0 for a sample without it.
fn rewards(got: Vec<Rewarded>, extra: Option<&[String]>) -> Rewards {
    let names: BTreeSet<String> = match extra {
        Some(names) => names.iter().cloned().collect(),
        None => got.iter().flat_map(|it| it.components.keys().cloned()).collect(),
    };
    let values = |name: &String| {
        got.iter().map(|it| it.components.get(name).copied().unwrap_or(0.0)).collect()
    };
    let extra_logs = names.iter().map(|name| (name.clone(), values(name))).collect();
    let rewards: Vec<f64> = got.iter().map(|it| it.reward).collect();
    let scores = rewards.iter().map(|reward| reward.clamp(0.0, 1.0)).collect();
    Rewards { rewards, scores, extra_logs }
}
