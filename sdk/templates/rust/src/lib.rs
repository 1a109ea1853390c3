//! 1 when the text after the last `Answer:` is the label, else 0.

use assay_plugin::{
    Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, export, log,
};

pub struct Exact;

export!(Exact);

impl Plugin for Exact {
    fn describe() -> Description {
        Description::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
            .summary("1 when the text after the last `Answer:` is the label")
            .stage(Stage::cpu("score").timeout_ms(1_000))
            .label_schema(r#"{"type": "string"}"#)
    }

    fn run_stage(
        stage: &str,
        _settings: &str,
        request: &Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        match stage {
            "score" => score(request),
            _ => Err(Error::unknown_stage(stage)),
        }
    }
}

/// An `Err` is never a reward: it says that the data or the plugin is at fault, not the model.
fn score(request: &Request) -> Result<Outcome, Error> {
    let label: String = request.label_as()?;
    let Some((_, answer)) = request.response.rsplit_once("Answer:") else {
        return Ok(Scored::new(0.0, "no_answer").explain("the response has no `Answer:`").into());
    };
    let answer = answer.trim();
    log::info(&format!("the answer has {} bytes", answer.len()));
    Ok(match answer == label {
        true => Scored::new(1.0, "success").into(),
        false => Scored::new(0.0, "wrong").explain(format!("expected {label}")).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &str, reward: f64, verdict: &str) {
        let request = Request::new("What is 6 * 7?", response, r#""42""#);
        let outcome = Exact::run_stage("score", "{}", &request, None).expect("an outcome");
        let scored = outcome.scored().expect("a reward");
        assert_eq!((scored.reward, scored.verdict.as_str()), (reward, verdict), "{response}");
    }

    #[test]
    fn scores_the_text_after_the_last_answer_mark() {
        check("Answer: 42", 1.0, "success");
        check("Answer: 41. No. Answer:  42 \n", 1.0, "success");
        check("Answer: 41", 0.0, "wrong");
        check("It is 42.", 0.0, "no_answer");
    }

    #[test]
    fn a_missing_label_is_no_reward() {
        let request = Request::new("", "Answer: 42", "null");
        let result = Exact::run_stage("score", "{}", &request, None);
        assert!(matches!(result, Err(Error::BadRequest(_))));
    }
}
