//! The plugin's one stage.

use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage};

use crate::form::{Form, Verdict, read};
use crate::settings::{self, Settings};

pub struct Format;

impl Plugin for Format {
    fn describe() -> Description {
        Description::new("format", env!("CARGO_PKG_VERSION"))
            .summary("1 when the response consists of the tagged sections that are asked for; needs no label")
            .stage(Stage::cpu("score").timeout_ms(2_000))
            .settings_schema(settings::SCHEMA)
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
        Ok(scored(&settings, read(&request.response, &settings)).into())
    }
}

fn scored(settings: &Settings, form: Form) -> Scored {
    let one = |is: bool| f64::from(u8::from(is));
    let mut scored = Scored::new(one(form.verdict == Verdict::Formatted), form.verdict.as_str());
    for (name, complete) in settings.sections.iter().zip(form.complete) {
        scored = scored.component(name, one(complete));
    }
    scored.explain(form.reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_a_component() {
        let request = Request::new("", "<think>a</think>42", "null");
        let outcome = Format::run_stage("score", "{}", &request, None).expect("a reward");
        let scored = outcome.scored().expect("finished");
        assert_eq!((scored.reward, scored.verdict.as_str()), (0.0, "missing_section"));
        let parts: Vec<_> =
            scored.components.iter().map(|it| (it.name.as_str(), it.value)).collect();
        assert_eq!(parts, [("think", 1.0), ("answer", 0.0)]);
        assert_eq!(scored.explanation, "there is no <answer>");
    }
}
