//! The plugin's one stage: samples of the judge's opinion, averaged.

use std::collections::BTreeMap;

use assay_plugin::http::{self, Answer};
use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, log};
use serde_json::json;

use crate::answer::Opinion;
use crate::conversation::judge;
use crate::prompt::{Mark, messages};
use crate::settings::{self, Settings};

pub struct Judge;

impl Plugin for Judge {
    fn describe() -> Description {
        Description::new("judge", env!("CARGO_PKG_VERSION"))
            .summary("A rubric, scored by a model behind an OpenAI-compatible interface")
            .stage(Stage::cpu("score").timeout_ms(120_000).retries_max(2))
            .settings_schema(settings::SCHEMA)
            .nondeterministic()
    }

    fn run_stage(
        stage: &str,
        settings: &str,
        request: &Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        if stage != "score" {
            return Err(Error::unknown_stage(stage));
        }
        let settings = Settings::read(settings)?;
        let mut opinions = Vec::new();
        for sample in 0..settings.samples {
            let first = sample * settings.tries;
            let ask = |question| ask(&settings, request, question);
            opinions.push(judge(&settings, first, ask, http::sleep_ms)?);
        }
        Ok(scored(&settings, &opinions).into())
    }
}

fn ask(
    settings: &Settings,
    request: &Request,
    question: u32,
) -> (Mark, Result<Answer, http::Error>) {
    // Another attempt of the platform's asks anew.
    let mark =
        Mark::drawn(request.seed, request.attempt.wrapping_mul(1_000).wrapping_add(question));
    let mut body = json!({
        "model": settings.model,
        "messages": messages(settings, request, mark),
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
        "n": 1,
        "stream": false,
    });
    if settings.json_mode {
        body["response_format"] = json!({"type": "json_object"});
    }
    let mut question = http::Request::post(settings.endpoint()).json(&body);
    if let Some(secret) = &settings.secret {
        question = question.secret(secret);
    }
    let answer = question.timeout_ms(settings.timeout_ms).send();
    match &answer {
        Ok(answer) => log::info(&format!("status {}, {} bytes", answer.status, answer.body.len())),
        Err(problem) => log::warn(&format!("no answer: {problem}")),
    }
    (mark, answer)
}

/// The mean over the samples; each criterion as a part from 0 to 1, the reward by their weights.
fn scored(settings: &Settings, opinions: &[Opinion]) -> Scored {
    let (least, best) = settings.scale;
    let count = opinions.len() as f64;
    let parts: BTreeMap<&str, f64> = settings
        .criteria
        .iter()
        .map(|criterion| {
            let sum: f64 = opinions.iter().map(|opinion| opinion.scores[&criterion.name]).sum();
            // Sums of what lies within the scale may round past its ends.
            let part = ((sum / count - least) / (best - least)).clamp(0.0, 1.0);
            (criterion.name.as_str(), part)
        })
        .collect();
    let weights: f64 = settings.criteria.iter().map(|criterion| criterion.weight).sum();
    let weighted = settings.criteria.iter().map(|c| c.weight / weights * parts[c.name.as_str()]);
    let reward = weighted.sum::<f64>().clamp(0.0, 1.0);
    let mut scored = Scored::new(reward, "judged");
    for (name, part) in parts {
        scored = scored.component(name, part);
    }
    scored.explain(opinions.first().map_or_else(String::new, |opinion| opinion.reason.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reward_is_the_weighted_mean() {
        let settings = Settings::read(
            r#"{"url": "https://a.example", "model": "m", "scale": [1, 5], "criteria": [
            {"name": "right", "description": "x", "weight": 3}, {"name": "clear", "description": "x"}]}"#,
        )
        .expect("valid");
        let opinion = |right: f64, clear: f64| Opinion {
            scores: [("right".to_owned(), right), ("clear".to_owned(), clear)].into(),
            reason: "so".into(),
        };
        let scored = scored(&settings, &[opinion(5.0, 1.0), opinion(3.0, 1.0)]);
        assert!((scored.reward - 0.75 * 0.75).abs() < 1e-12, "{scored:?}");
        assert_eq!(scored.explanation, "so");
        assert_eq!(scored.components.len(), 2);
    }

    #[test]
    fn bad_settings_ask_nobody() {
        let request = Request::new("p", "r", "null");
        let refused = Judge::run_stage("score", "{}", &request, None);
        assert!(matches!(refused, Err(Error::BadSettings(_))), "{refused:?}");
    }
}
