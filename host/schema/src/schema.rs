//! Compiled schemas: what a plugin's version declares for its settings and labels.

use assay_core::limits;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

use crate::bounds::{self, SchemaSize};
use crate::mismatch::{Mismatch, shown};

/// A text of this many bytes takes as much memory as a JSON value.
const TEXT_BYTES_A_NODE: u64 = 64;

/// Why a schema cannot be used, for the plugin's author; it names the field and says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {why}")]
pub struct SchemaRefused {
    /// `settings-schema` or `label-schema`.
    pub field: &'static str,
    why: String,
}

/// The work of a validation, estimated from the size of the value's text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValidationWork {
    /// At most `SCHEMA_QUICK_STEPS_MAX`: it may be done at once.
    Quick,
    /// It takes a thread of its own.
    Long,
}

/// The compiled schemas of one version of a plugin; a schema that is not declared is absent.
#[derive(Debug, Default)]
pub struct PluginSchemas {
    /// The schema of a run's settings.
    pub settings: Option<Schema>,
    /// The schema of a request's label.
    pub label: Option<Schema>,
}

impl PluginSchemas {
    /// Compiles the two schemas of a description; an empty text is none.
    pub fn compile(settings: &str, label: &str) -> Result<Self, SchemaRefused> {
        let compile = |field, text: &str| {
            let schema = (!text.is_empty()).then(|| Schema::compile(text)).transpose();
            schema.map_err(|why| SchemaRefused { field, why })
        };
        Ok(Self {
            settings: compile("settings-schema", settings)?,
            label: compile("label-schema", label)?,
        })
    }

    /// The JSON values of both with every `$ref` replaced by its target: what they take in memory.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        [&self.settings, &self.label].into_iter().flatten().map(|schema| schema.size.nodes).sum()
    }
}

/// A compiled schema.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
    size: SchemaSize,
}

impl Schema {
    /// Measures a schema, then compiles it; the error says what to do.
    pub fn compile(text: &str) -> Result<Self, String> {
        if text.len() > limits::SCHEMA_BYTES_MAX {
            let (bytes, max) = (text.len(), limits::SCHEMA_BYTES_MAX);
            return Err(format!("it has {bytes} bytes, the limit is {max}"));
        }
        let mut schema: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let draft = bounds::take_draft(&mut schema)?;
        let size = bounds::measure(&schema)?;
        let patterns = PatternOptions::regex()
            .size_limit(limits::SCHEMA_PATTERN_BYTES_MAX)
            .dfa_size_limit(limits::SCHEMA_PATTERN_BYTES_MAX);
        let validator = jsonschema::options()
            .with_draft(draft)
            .offline()
            .with_pattern_options(patterns)
            .should_validate_formats(false)
            .build(&schema)
            .map_err(|error| not_valid(&error))?;
        Ok(Self { validator, size })
    }

    /// The work of a value, at the most.
    #[must_use]
    pub fn work(&self, json: &str) -> ValidationWork {
        // Each value or name but the first comes after one of these; more of them are in texts.
        let marks = json.bytes().filter(|byte| b",:[{".contains(byte)).count();
        let steps = self.size.steps(marks as u64 + 1, json.len() as u64);
        if steps <= limits::SCHEMA_QUICK_STEPS_MAX {
            ValidationWork::Quick
        } else {
            ValidationWork::Long
        }
    }

    /// Validates a value. A value that would take too long passes: the plugin reads it next.
    pub fn validate(&self, json: &str) -> Result<(), Mismatch> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| Mismatch::not_readable(&error))?;
        let parts = count(&value);
        if self.size.steps(parts.nodes, json.len() as u64) > limits::SCHEMA_STEPS_MAX
            || self.validator.is_valid(&value)
        {
            return Ok(());
        }
        // Every form that failed keeps its errors, and each error a copy of the part that it is about.
        if parts.copied.saturating_mul(self.size.nodes) > limits::SCHEMA_COPIES_MAX {
            return Err(Mismatch::somewhere());
        }
        let found = self.validator.validate(&value);
        Err(found.err().map_or_else(Mismatch::somewhere, |error| Mismatch::of(&error)))
    }
}

/// The numbers of parts of a JSON value, by which the cost of its validation is estimated.
#[derive(Debug, Clone, Copy, Default)]
struct ValueParts {
    /// JSON values and names.
    nodes: u64,
    /// The same with long texts counted by their length: the size of a copy.
    size: u64,
    /// The size of a copy of every part within it.
    copied: u64,
}

impl ValueParts {
    fn add(&mut self, part: Self) {
        self.nodes += part.nodes;
        self.size += part.size;
        self.copied += part.copied;
    }

    fn add_text(&mut self, text: &str) {
        self.nodes += 1;
        self.size += 1 + text.len() as u64 / TEXT_BYTES_A_NODE;
    }
}

fn count(value: &Value) -> ValueParts {
    let mut parts = ValueParts { nodes: 1, size: 1, copied: 0 };
    match value {
        Value::Array(items) => items.iter().for_each(|item| parts.add(count(item))),
        Value::Object(object) => {
            for (name, value) in object {
                parts.add_text(name);
                parts.add(count(value));
            }
        }
        Value::String(text) => parts.add_text(text),
        _ => {}
    }
    parts.copied += parts.size;
    parts
}

fn not_valid(error: &ValidationError<'_>) -> String {
    let at = shown(error.instance_path().as_str());
    let pattern = match error.kind() {
        ValidationErrorKind::Format { format } => format == "regex",
        ValidationErrorKind::Pattern { .. } => true,
        _ => false,
    };
    if pattern {
        let max = limits::SCHEMA_PATTERN_BYTES_MAX;
        return format!(
            "the pattern at `{at}` cannot be used: {}; write one without lookaround and \
             back-references that compiles to {max} bytes at the most",
            shown(&error.to_string())
        );
    }
    format!("it is not a valid JSON schema at `{at}`: {}; correct it", shown(&error.to_string()))
}

#[cfg(test)]
mod tests;
