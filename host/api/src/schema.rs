//! The OpenAPI schemas of the core's types, which do not depend on OpenAPI: the same fields under the same
//! names. Only their schemas are used; the tests below compare them with the core's own JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// The end of a request, as a trainer gets it. An error never has a reward.
#[derive(Serialize, ToSchema)]
#[schema(as = Outcome)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum OutcomeSchema {
    /// The plugin gave a reward.
    Scored(ScoredSchema),
    /// A stage timed out; the reward is the one that the plugin gives for timeouts (the paper's
    /// negative reward).
    TimedOut {
        /// Name of the stage.
        stage: String,
        /// The plugin's reward for timeouts.
        reward: f64,
    },
    /// The request ended without a reward.
    Error {
        /// Stable code of the error.
        code: ErrorCodeSchema,
        /// Description for people.
        message: String,
        /// Whether the same request may succeed if it is sent again.
        retryable: bool,
        /// Number of attempts.
        attempts: u32,
    },
}

/// A reward as the plugin gave it; always finite.
#[derive(Serialize, ToSchema)]
#[schema(as = Scored)]
pub(crate) struct ScoredSchema {
    /// The reward.
    reward: f64,
    /// The plugin's word for the result, such as `correct_exact`.
    verdict: String,
    /// Named parts of the reward.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<String, f64>,
    /// The plugin's explanation for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    explanation: String,
}

/// The reason why there is no reward.
#[derive(Serialize, ToSchema)]
#[schema(as = ErrorCode)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) enum ErrorCodeSchema {
    /// The plugin trapped or panicked.
    PluginTrap,
    /// The plugin reported a failure of its own (`error.internal`).
    PluginError,
    /// The plugin exceeded its memory or table limit.
    OutOfMemory,
    StackOverflow,
    /// The plugin returned an invalid outcome.
    BadOutcome,
    /// The plugin refused the request (`error.bad-request`).
    BadRequest,
    /// The plugin refused the run's settings (`error.bad-settings`).
    BadSettings,
    /// A capability was unavailable (`error.unavailable`).
    Unavailable,
    /// The plugin could not be loaded on the worker.
    PluginUnloadable,
    /// The workers that ran the request died.
    WorkerLost,
    /// The stage exceeded its deadline, and its worker was killed.
    LeaseExpired,
    /// The batch was cancelled or expired before the request ended.
    Cancelled,
}

/// One stage of a plugin: `stage` of `assay:reward/types`.
#[derive(Serialize, ToSchema)]
#[schema(as = Stage)]
pub(crate) struct StageSchema {
    name: String,
    /// Pool on which the stage runs: `cpu`, `gpu`, or one of the operator's own.
    pool: String,
    timeout_ms: u32,
    memory_bytes_max: u64,
    retries_max: u32,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use assay_core::outcome::{ErrorCode, Outcome, Scored};
    use assay_core::plugin::Stage;
    use serde_json::{Value, json};
    use utoipa::PartialSchema;

    use super::*;

    fn schema<T: PartialSchema>() -> Value {
        serde_json::to_value(T::schema()).expect("plain data")
    }

    fn json<T: Serialize>(value: &T) -> Value {
        serde_json::to_value(value).expect("plain data")
    }

    fn names<'a>(names: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        names.into_iter().cloned().collect()
    }

    /// The names of an object's fields, and of those that it always has.
    fn fields(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(fields);
            return parts.reduce(|(a, b), (c, d)| (&a | &c, &b | &d)).unwrap_or_default();
        }
        if schema["$ref"] == "#/components/schemas/Scored" {
            return fields(&self::schema::<ScoredSchema>());
        }
        let required = schema["required"].as_array().into_iter().flatten();
        let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
        (names(schema["properties"].as_object().into_iter().flat_map(|all| all.keys())), required)
    }

    /// `full` has every field, `least` only those that are always there.
    fn check(schema: &Value, full: &Value, least: &Value) {
        let keys = |value: &Value| names(value.as_object().expect("an object").keys());
        assert_eq!(fields(schema), (keys(full), keys(least)), "{schema}");
    }

    fn scored(components: &[(&str, f64)], explanation: &str) -> Scored {
        Scored {
            reward: 0.5,
            verdict: "partial".into(),
            components: components.iter().map(|(name, value)| ((*name).into(), *value)).collect(),
            explanation: explanation.into(),
        }
    }

    #[test]
    fn a_score_has_the_fields_of_its_schema() {
        let (full, least) = (scored(&[("format", 1.0)], "half right"), scored(&[], ""));
        check(&schema::<ScoredSchema>(), &json(&full), &json(&least));
    }

    #[test]
    fn each_outcome_has_the_fields_and_the_tag_of_its_schema() {
        let timed_out = Outcome::TimedOut { stage: "execute".into(), reward: -1.0 };
        let error = Outcome::Error {
            code: ErrorCode::WorkerLost,
            message: "the worker died".into(),
            retryable: true,
            attempts: 3,
        };
        let samples = [
            (
                Outcome::Scored(scored(&[("format", 1.0)], "half right")),
                Outcome::Scored(scored(&[], "")),
            ),
            (timed_out.clone(), timed_out),
            (error.clone(), error),
        ];
        let schema = schema::<OutcomeSchema>();
        let variants = schema["oneOf"].as_array().expect("an enumeration");
        assert_eq!(variants.len(), samples.len());
        for (variant, (full, least)) in variants.iter().zip(&samples) {
            let own = variant["allOf"].get(1).unwrap_or(variant);
            assert_eq!(own["properties"]["kind"]["enum"], json!([full.kind()]));
            assert_eq!(json(full)["kind"], full.kind());
            check(variant, &json(full), &json(least));
        }
    }

    #[test]
    fn the_codes_of_errors_are_those_of_the_schema() {
        assert_eq!(schema::<ErrorCodeSchema>()["enum"], json!(ErrorCode::ALL));
    }

    #[test]
    fn a_stage_has_the_fields_of_its_schema() {
        let stage = Stage {
            name: "execute".into(),
            pool: "cpu".into(),
            timeout_ms: 1_000,
            memory_bytes_max: 1 << 20,
            retries_max: 1,
        };
        check(&schema::<StageSchema>(), &json(&stage), &json(&stage));
    }
}
