//! Two stages: `extract` finds the answer in the response, `score` compares it with the label as
//! leniently as the run's settings say.

use assay_plugin::{
    Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, export, log, settings_as,
};
use serde::{Deserialize, Serialize};

pub struct Staged;

export!(Staged);

/// The settings that a run may choose.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Settings {
    ignore_case: bool,
}

/// The artifact that `extract` returns and `score` reads, perhaps on another worker.
#[derive(Debug, Serialize, Deserialize)]
struct Extracted {
    answer: String,
    /// How often the response answered.
    answers: usize,
}

impl Plugin for Staged {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .summary("1 when the text after the last `Answer:` is the label, in two stages")
            .stage(Stage::cpu("extract").timeout_ms(500))
            .stage(Stage::cpu("score").timeout_ms(1_000))
            .label_schema(r#"{"type": "string"}"#)
            .settings_schema(
                r#"{"type": "object", "properties": {"ignore_case": {"type": "boolean"}}}"#,
            )
    }

    fn run_stage(
        stage: &str,
        settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        match (stage, input) {
            ("extract", None) => extract(request),
            ("score", Some(input)) => score(&settings_as(settings)?, request, &input.as_json()?),
            _ => Err(Error::unknown_stage(stage)),
        }
    }
}

/// A response without an answer ends here, and costs no second stage.
fn extract(request: &Request) -> Result<Outcome, Error> {
    let Some((_, answer)) = request.response.rsplit_once("Answer:") else {
        return Ok(Scored::new(0.0, "no_answer").explain("the response has no `Answer:`").into());
    };
    let answers = request.response.matches("Answer:").count();
    log::info(&format!("{answers} answers, the last has {} bytes", answer.len()));
    Ok(Artifact::json(&Extracted { answer: answer.trim().into(), answers })?.into())
}

fn score(settings: &Settings, request: &Request, found: &Extracted) -> Result<Outcome, Error> {
    let label: String = request.label_as()?;
    let equal = match settings.ignore_case {
        true => found.answer.to_lowercase() == label.to_lowercase(),
        false => found.answer == label,
    };
    let (reward, verdict) = if equal { (1.0, "success") } else { (0.0, "wrong") };
    let scored = Scored::new(reward, verdict).component("answers", found.answers as f64);
    Ok(scored.explain(format!("the answer is `{}`", found.answer)).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(settings: &str, response: &str, label: &str) -> Result<Outcome, Error> {
        let request = Request::new("Which city?", response, label);
        match Staged::run_stage("extract", settings, &request, None)? {
            Outcome::Next(found) => Staged::run_stage("score", settings, &request, Some(found)),
            scored => Ok(scored),
        }
    }

    fn check(settings: &str, response: &str, reward: f64, verdict: &str) {
        let outcome = run(settings, response, r#""Paris""#).expect("an outcome");
        let scored = outcome.scored().expect("a reward");
        assert_eq!((scored.reward, scored.verdict.as_str()), (reward, verdict), "{response}");
    }

    #[test]
    fn the_last_answer_counts() {
        check("{}", "Answer: Rome. No. Answer: Paris", 1.0, "success");
        check("{}", "Answer: paris", 0.0, "wrong");
        check(r#"{"ignore_case": true}"#, "Answer: paris", 1.0, "success");
        check("{}", "It is Paris.", 0.0, "no_answer");
    }

    #[test]
    fn what_is_wrong_with_the_data_is_no_reward() {
        assert!(matches!(run("{}", "Answer: Paris", "null"), Err(Error::BadRequest(_))));
        let odd = run(r#"{"ignore": 1}"#, "Answer: Paris", r#""Paris""#);
        assert!(matches!(odd, Err(Error::BadSettings(_))));
    }
}
