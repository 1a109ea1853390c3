//! The plugin: one stage, `score`.

use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage};
use serde_json::value::RawValue;

use crate::label::{Label, labels};
use crate::settings::{SCHEMA, Settings};
use crate::verify::verify;

pub struct Math;

impl Plugin for Math {
    fn describe() -> Description {
        Description::new("math", env!("CARGO_PKG_VERSION"))
            .summary("Compares the final answer of a response with the label as mathematics")
            .stage(Stage::cpu("score").timeout_ms(2_000).memory_mib_max(64))
            .settings_schema(SCHEMA)
            .label_schema(
                r#"{"type": ["string", "number", "array"], "items": {"type": ["string", "number"]}}"#,
            )
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
        let label: Box<RawValue> = request.label_as()?;
        let labels = labels(&label)?;
        if settings.strict {
            labels.iter().try_for_each(Label::mathematical)?;
        }
        let verified = verify(&request.response, &labels, &settings);
        let correct = verified.verdict.is_correct();
        let base = if correct { settings.reward_correct } else { settings.reward_wrong };
        let bonus = if verified.boxed { settings.reward_boxed } else { 0.0 };
        Ok(Scored::new(base + bonus, verified.verdict.as_str())
            .component("correct", f64::from(u8::from(correct)))
            .component("boxed", f64::from(u8::from(verified.boxed)))
            .explain(verified.explanation)
            .into())
    }
}
