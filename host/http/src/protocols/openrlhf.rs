//! OpenRLHF: `{"query": [...], "prompts": [...], "labels": [...]}`, lists of the same length, of length
//! 1 since January 2026. `query` is prompt and response in one, with the special tokens. Empty lists get empty lists.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_core::limits;
use axum::Json;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::call::{Call, Rewarded, Sample, ScoreCall};
use super::document::PlaceParams;
use super::probe_or_post;
use super::text::{Prompt, label};
use crate::extract::{array, body};
use crate::problem::ApiError;

const TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Deserialize, utoipa::ToSchema)]
#[schema(as = OpenRlhfBatch)]
pub(super) struct Batch {
    #[serde(deserialize_with = "array::items")]
    query: Vec<String>,
    #[serde(default, deserialize_with = "array::items")]
    prompts: Vec<Prompt>,
    #[serde(default, deserialize_with = "array::items")]
    #[schema(value_type = Vec<serde_json::Value>)]
    labels: Vec<Option<Box<RawValue>>>,
}

#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = OpenRlhfRewards)]
pub(super) struct Rewards {
    rewards: Vec<f64>,
    /// The rewards between 0 and 1 from which curves are drawn.
    scores: Vec<f64>,
    extra_logs: BTreeMap<String, Vec<f64>>,
}

/// Rewards of a list of responses; the address without `get_reward` takes the same call.
#[utoipa::path(
    post, path = "/compat/openrlhf/{plugin}/{run}/get_reward", tag = "openrlhf", params(PlaceParams),
    request_body = Batch, responses((status = 200, body = Rewards))
)]
pub(super) async fn answer(call: Call, body: Body) -> Result<Response, ApiError> {
    if let Some(probe) = probe_or_post(&call, &["", "get_reward"]).await? {
        return Ok(probe);
    }
    let body = call.long_body(body).await?;
    let batch: Batch = body::parse_long(&body.bytes).await?;
    let samples = samples(batch)?;
    let extra = call.address.options.extra.as_deref();
    if samples.is_empty() {
        return Ok(Json(rewards(Vec::new(), extra)).into_response());
    }
    let asked = ScoreCall { body, samples, timeout: TIMEOUT, step: None };
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
    let has_prompts = !prompts.is_empty();
    let mut prompts = prompts.into_iter();
    let mut labels = labels.into_iter();
    let sample = |(at, query): (usize, String)| {
        let prompt = prompts.next().unwrap_or_default().into_text();
        if prompt.is_empty() && has_prompts && !query.is_empty() {
            return Err(empty_prompt(at));
        }
        let response = response(&query, &prompt).ok_or_else(|| no_prompt(at))?.to_owned();
        let label = label(labels.next().flatten());
        Ok(Sample { prompt, response, label, ..Sample::default() })
    };
    query.into_iter().enumerate().map(sample).collect()
}

/// The text after the prompt, before which the tokenizer may have put special tokens. `None` where the prompt is not
/// in the query as it is, such as one cut off on the left: scored as a whole, a prompt that shows an answer would
/// be rewarded.
fn response<'a>(query: &'a str, prompt: &str) -> Option<&'a str> {
    query.split_once(prompt).map(|(_, after)| after)
}

fn no_prompt(at: usize) -> ApiError {
    let detail = format!("query[{at}] does not contain prompts[{at}] as it is");
    ApiError::bad_request(detail).hint(
        "the response is what follows the prompt: let the model's context hold the longest prompt and its response",
    )
}

/// The whole query would be scored, with the text of a prompt that is an image or was left out.
fn empty_prompt(at: usize) -> ApiError {
    ApiError::bad_request(format!(
        "prompts[{at}] has no text, so query[{at}] does not say where the response begins"
    ))
    .hint("send the text of each prompt, or no prompts at all if each query is a response alone")
}

/// The rewards of all samples, with a list for each component that is logged.
fn rewards(got: Vec<Rewarded>, extra: Option<&[String]>) -> Rewards {
    let extra_logs = logs(&got, extra);
    let rewards: Vec<f64> = got.iter().map(|it| it.reward).collect();
    let scores = rewards.iter().map(|reward| reward.clamp(0.0, 1.0)).collect();
    Rewards { rewards, scores, extra_logs }
}

/// The lists of the components that the address names, or else of the first ones that samples have, as many as one
/// sample may have. All are as long as the call: 0 for a sample without the component.
fn logs(got: &[Rewarded], extra: Option<&[String]>) -> BTreeMap<String, Vec<f64>> {
    let zeros = || vec![0.0; got.len()];
    let named = extra.unwrap_or_default().iter();
    let mut logs: BTreeMap<String, Vec<f64>> = named.map(|name| (name.clone(), zeros())).collect();
    let names_max = if extra.is_some() { logs.len() } else { limits::COMPONENTS_MAX };
    for (at, sample) in got.iter().enumerate() {
        for (name, value) in &sample.components {
            if let Some(values) = logs.get_mut(name) {
                values[at] = *value;
            } else if logs.len() < names_max {
                let mut values = zeros();
                values[at] = *value;
                logs.insert(name.clone(), values);
            }
        }
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responses(query: &str, prompt: serde_json::Value) -> Result<Vec<String>, String> {
        let batch = serde_json::json!({ "query": [query], "prompts": [prompt], "labels": ["42"] });
        let batch = serde_json::from_value(batch).expect("a call");
        let samples = samples(batch).map_err(|error| error.detail)?;
        Ok(samples.into_iter().map(|sample| sample.response).collect())
    }

    #[test]
    fn the_response_is_what_follows_the_prompt() {
        let check = |query: &str, prompt: &str, response: &str| {
            assert_eq!(responses(query, prompt.into()), Ok(vec![response.to_owned()]), "{query}");
        };
        check("6*7? A: 42", "6*7?", " A: 42");
        check("<s>6*7? A: 42</s>", "6*7? ", "A: 42</s>");
        // A response that repeats the prompt is kept whole.
        check("6*7? 6*7? A: 42", "6*7?", " 6*7? A: 42");
        check("", "", "");
        let messages = serde_json::json!([{ "role": "user", "content": "6*7?" }]);
        let templated = responses("<user>6*7?<assistant>A: 42", messages);
        assert_eq!(templated, Ok(vec!["<assistant>A: 42".to_owned()]));
    }

    #[test]
    fn an_empty_prompt_is_refused_and_no_prompts_are_not() {
        for prompt in [serde_json::json!(""), serde_json::json!([])] {
            let refused = responses("A: 42", prompt).expect_err("no place where it begins");
            assert!(refused.starts_with("prompts[0] has no text"), "{refused}");
        }
        let batch = serde_json::json!({ "query": ["A: 42"], "labels": ["42"] });
        let batch = serde_json::from_value(batch).expect("a call");
        let samples = samples(batch).unwrap_or_else(|error| panic!("{}", error.detail));
        assert_eq!(samples[0].response, "A: 42");
    }

    fn rewarded(components: &[(&str, f64)]) -> Rewarded {
        let components = components.iter().map(|(name, value)| ((*name).to_owned(), *value));
        Rewarded { reward: 1.0, components: components.collect() }
    }

    #[test]
    fn each_component_has_a_value_of_each_sample() {
        let got = [rewarded(&[("a", 1.0)]), rewarded(&[]), rewarded(&[("a", 0.5), ("b", 2.0)])];
        let expected = [("a", vec![1.0, 0.0, 0.5]), ("b", vec![0.0, 0.0, 2.0])];
        let expected: BTreeMap<String, Vec<f64>> =
            expected.map(|(name, values)| (name.to_owned(), values)).into();
        assert_eq!(logs(&got, None), expected);
        let named = ["b".to_owned(), "c".to_owned()];
        let expected = [("b", vec![0.0, 0.0, 2.0]), ("c", vec![0.0; 3])];
        let expected: BTreeMap<String, Vec<f64>> =
            expected.map(|(name, values)| (name.to_owned(), values)).into();
        assert_eq!(logs(&got, Some(&named[..])), expected);
    }

    /// A plugin may name components as it likes: as many lists as samples would fill the memory.
    #[test]
    fn components_beyond_those_of_one_sample_are_left_out() {
        // The names that come first are the last by the alphabet.
        let name = |at: usize| format!("name-{:03}", 999 - at);
        let count = limits::COMPONENTS_MAX + 2;
        let got: Vec<Rewarded> =
            (0..count).map(|at| rewarded(&[(name(at).as_str(), 1.0)])).collect();
        let logs = logs(&got, None);
        assert_eq!(logs.len(), limits::COMPONENTS_MAX);
        for at in 0..count {
            let values = logs.get(&name(at));
            assert_eq!(values.is_some(), at < limits::COMPONENTS_MAX, "{at}");
            assert!(values.is_none_or(|values| values.len() == count && values[at] == 1.0));
        }
    }

    /// The prompt shows an answer: none of it may be scored.
    #[test]
    fn a_query_without_its_prompt_is_refused() {
        let prompt = "Say A: 42 to 6*7?";
        for query in ["A: 42 to 6*7? I do not know.", "say a: 42 to 6*7?", "", "A: 42"] {
            let refused = responses(query, prompt.into()).expect_err(query);
            assert_eq!(refused, "query[0] does not contain prompts[0] as it is");
        }
    }
}
