//! The tutorial: the smallest plugin with two stages. `extract` finds the answer in the response,
//! `score` compares it with the label. README.md walks through it.
//!
//! It keeps nothing between calls, and must never guess: without an answer there is a verdict,
//! without a label there is an error.

use assay_plugin::{
    Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, export, log,
};

pub struct Hello;

export!(Hello);

impl Plugin for Hello {
    fn describe() -> Description {
        Description::new("hello", env!("CARGO_PKG_VERSION"))
            .summary("The tutorial: 1 when the text after the last `Answer:` is the label")
            .stage(Stage::cpu("extract").timeout_ms(2_000))
            .stage(Stage::cpu("score").timeout_ms(2_000))
            .label_schema(r#"{"type": "string"}"#)
    }

    fn run_stage(
        stage: &str,
        _settings: &str,
        request: &Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        match (stage, input) {
            ("extract", None) => Ok(extract(request)),
            ("score", Some(answer)) => score(request, answer.as_text()?),
            _ => Err(Error::unknown_stage(stage)),
        }
    }
}

/// An early exit is an ordinary end: a response without an answer never reaches `score`.
fn extract(request: &Request) -> Outcome {
    match request.response.rsplit_once("Answer:") {
        Some((_, answer)) => Artifact::text(answer.trim()).into(),
        None => Scored::new(0.0, "no_answer").explain("the response has no `Answer:`").into(),
    }
}

fn score(request: &Request, answer: &str) -> Result<Outcome, Error> {
    let label: String = request.label_as()?;
    log::info(&format!("comparing {} bytes with {}", answer.len(), label.len()));
    let exact = f64::from(u8::from(answer == label));
    let verdict = if answer == label { "success" } else { "wrong" };
    let explanation = format!("the answer is `{answer}`, the label `{label}`");
    Ok(Scored::new(exact, verdict).component("exact", exact).explain(explanation).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(response: &str, label: &str) -> Result<Outcome, Error> {
        let request = Request::new("What is 6 * 7?", response, label);
        match Hello::run_stage("extract", "{}", &request, None)? {
            Outcome::Next(artifact) => Hello::run_stage("score", "{}", &request, Some(artifact)),
            scored => Ok(scored),
        }
    }

    fn check(response: &str, reward: f64, verdict: &str) {
        let outcome = run(response, r#""42""#).expect("an outcome");
        let scored = outcome.scored().expect("a reward");
        assert_eq!((scored.reward, scored.verdict.as_str()), (reward, verdict), "{response}");
    }

    #[test]
    fn scores_the_text_after_the_last_answer_mark() {
        check("Answer: 42", 1.0, "success");
        check("Answer: 41. No. Answer:  42 \n", 1.0, "success");
        check("Answer: 41", 0.0, "wrong");
        check("It is 42.", 0.0, "no_answer");
        check("", 0.0, "no_answer");
    }

    #[test]
    fn a_missing_label_is_no_reward() {
        assert!(matches!(run("Answer: 42", "null"), Err(Error::BadRequest(_))));
    }

    #[test]
    fn an_unknown_stage_is_the_plugins_fault() {
        let request = Request::new("", "", "null");
        let result = Hello::run_stage("polish", "{}", &request, None);
        assert!(matches!(result, Err(Error::Internal(_))));
    }
}
