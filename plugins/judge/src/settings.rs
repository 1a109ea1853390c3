//! The settings that a run may choose, checked as a whole before anything is sent.

use assay_plugin::{Error, settings_as};
use serde::Deserialize;

/// The bounds of scales and weights: beyond them sums would not be exact enough, or infinite.
const SCALE_MAX: f64 = 1e6;
const WEIGHT_MIN: f64 = 1e-6;
const WEIGHT_MAX: f64 = 1e6;
const CRITERIA_MAX: usize = 16;
const SAMPLES_MAX: u32 = 8;
const TRIES_MAX: u32 = 8;
const TEXT_BYTES_MAX: usize = 32 << 10;
const ANSWER_TOKENS_MAX: u32 = 32_768;
const TIMEOUT_MS_MAX: u32 = 110_000;
const RESPONSE_BYTES_MAX: usize = 1 << 20;

pub(crate) const SCHEMA: &str = r#"{
  "type": "object",
  "required": ["url", "model", "criteria"],
  "additionalProperties": false,
  "properties": {
    "url": {"type": "string", "description": "base of an OpenAI-compatible interface, such as https://api.example.com/v1"},
    "model": {"type": "string", "minLength": 1},
    "secret": {"type": ["string", "null"], "description": "name of an operator's secret, which the platform puts on the requests"},
    "criteria": {
      "type": "array", "minItems": 1, "maxItems": 16,
      "items": {
        "type": "object", "required": ["name", "description"], "additionalProperties": false,
        "properties": {
          "name": {"type": "string", "pattern": "^[a-z0-9_-]{1,32}$"},
          "description": {"type": "string", "minLength": 1},
          "weight": {"type": "number", "exclusiveMinimum": 0, "default": 1}
        }
      }
    },
    "instructions": {"type": "string", "default": ""},
    "scale": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2, "default": [0, 10]},
    "samples": {"type": "integer", "minimum": 1, "maximum": 8, "default": 1},
    "tries": {"type": "integer", "minimum": 1, "maximum": 8, "default": 4},
    "temperature": {"type": "number", "minimum": 0, "maximum": 2, "default": 0},
    "max_tokens": {"type": "integer", "minimum": 1, "maximum": 32768, "default": 1024},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 110000, "default": 30000},
    "json_mode": {"type": "boolean", "default": true},
    "response_bytes_max": {"type": "integer", "minimum": 1, "maximum": 1048576, "default": 65536}
  }
}"#;

/// README.md tells what each is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub url: String,
    pub model: String,
    pub secret: Option<String>,
    pub criteria: Vec<Criterion>,
    pub instructions: String,
    /// The least and the best score of a criterion.
    pub scale: (f64, f64),
    pub samples: u32,
    pub tries: u32,
    pub temperature: f64,
    pub max_tokens: u32,
    pub timeout_ms: u32,
    pub json_mode: bool,
    pub response_bytes_max: usize,
}

/// One thing that is scored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    pub name: String,
    pub description: String,
    #[serde(default = "one")]
    pub weight: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            url: String::new(),
            model: String::new(),
            secret: None,
            criteria: Vec::new(),
            instructions: String::new(),
            scale: (0.0, 10.0),
            samples: 1,
            tries: 4,
            temperature: 0.0,
            max_tokens: 1_024,
            timeout_ms: 30_000,
            json_mode: true,
            response_bytes_max: 64 << 10,
        }
    }
}

impl Settings {
    /// Reads and checks them; the error names the setting.
    pub fn read(text: &str) -> Result<Self, Error> {
        let settings: Self = settings_as(text)?;
        settings.check().map_err(Error::bad_settings)?;
        Ok(settings)
    }

    /// The address of the server's chat completions.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("{}/chat/completions", self.url.trim_end_matches('/'))
    }

    fn check(&self) -> Result<(), String> {
        let url = &self.url;
        if !url.starts_with("https://") && !url.starts_with("http://") {
            return Err(
                "url must be the base of an interface, such as https://api.example.com/v1".into()
            );
        }
        if url.contains(['?', '#', '@', ' ']) {
            return Err("url holds no parameters, no user and no password: name a `secret`".into());
        }
        let texts = [url, &self.model, &self.instructions];
        if self.model.is_empty() || texts.iter().any(|text| text.len() > TEXT_BYTES_MAX) {
            return Err(format!(
                "model must be named, and no text has over {TEXT_BYTES_MAX} bytes"
            ));
        }
        let (least, best) = self.scale;
        let usual = -SCALE_MAX..=SCALE_MAX;
        if !(usual.contains(&least) && usual.contains(&best) && least < best) {
            return Err("scale must be two numbers, the lesser first".into());
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err("temperature must be 0 to 2".into());
        }
        let bytes_max = u32::try_from(self.response_bytes_max).unwrap_or(u32::MAX);
        for (what, value, max) in [
            ("samples", self.samples, SAMPLES_MAX),
            ("tries", self.tries, TRIES_MAX),
            ("max_tokens", self.max_tokens, ANSWER_TOKENS_MAX),
            ("timeout_ms", self.timeout_ms, TIMEOUT_MS_MAX),
            ("response_bytes_max", bytes_max, RESPONSE_BYTES_MAX as u32),
        ] {
            if !(1..=max).contains(&value) {
                return Err(format!("{what} must be 1 to {max}"));
            }
        }
        self.check_criteria()
    }

    fn check_criteria(&self) -> Result<(), String> {
        let count = self.criteria.len();
        if count == 0 || count > CRITERIA_MAX {
            return Err(format!("criteria must be 1 to {CRITERIA_MAX}, not {count}"));
        }
        for (at, criterion) in self.criteria.iter().enumerate() {
            let name = &criterion.name;
            let plain =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
            if name.is_empty() || name.len() > 32 || !name.chars().all(plain) {
                return Err(
                    "a criterion's name is 1 to 32 lower-case letters, digits, `-`, `_`".into()
                );
            }
            if self.criteria[..at].iter().any(|other| other.name == *name) {
                return Err(format!("two criteria are called `{name}`"));
            }
            let length = criterion.description.len();
            if length == 0 || length > TEXT_BYTES_MAX {
                return Err(format!("the criterion `{name}` must be described"));
            }
            if !(WEIGHT_MIN..=WEIGHT_MAX).contains(&criterion.weight) {
                return Err(format!(
                    "the weight of `{name}` must be above 0, at most {WEIGHT_MAX}"
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: &str = r#"{"url": "https://a.example/v1/", "model": "m",
        "criteria": [{"name": "right", "description": "is it right?"}]}"#;

    #[test]
    fn defaults_fill_what_is_not_said() {
        let settings = Settings::read(LEAST).expect("valid");
        assert_eq!(settings.endpoint(), "https://a.example/v1/chat/completions");
        assert_eq!((settings.scale, settings.samples), ((0.0, 10.0), 1));
    }

    #[test]
    fn each_mistake_is_named() {
        let with = |key: &str, value: &str| {
            let mut settings: serde_json::Value = serde_json::from_str(LEAST).expect("JSON");
            settings[key] = serde_json::from_str(value).expect("JSON");
            match Settings::read(&settings.to_string()) {
                Err(Error::BadSettings(problem)) => problem,
                other => panic!("{key}: {other:?}"),
            }
        };
        for (key, value, says) in [
            ("url", "\"a.example\"", "url must be"),
            ("url", "\"https://user:key@a.example\"", "name a `secret`"),
            ("model", "\"\"", "model"),
            ("scale", "[1, 1]", "scale"),
            ("samples", "9", "samples must be 1 to 8"),
            ("temperature", "3", "temperature"),
            ("criteria", "[]", "1 to 16"),
            ("criteria", r#"[{"name": "A", "description": "x"}]"#, "lower-case"),
            ("criteria", r#"[{"name": "a", "description": "x", "weight": 0}]"#, "above 0"),
            ("api_key", "\"sk\"", "api_key"),
        ] {
            let problem = with(key, value);
            assert!(problem.contains(says), "{key} {value}: {problem}");
        }
    }

    #[test]
    fn the_schema_knows_every_setting() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
        let known = schema["properties"].as_object().expect("an object");
        let problem = Settings::read(r#"{"no_such": 1}"#).expect_err("refused");
        let Error::BadSettings(problem) = problem else { panic!("{problem:?}") };
        for name in known.keys() {
            assert!(problem.contains(&format!("`{name}`")), "{name}: {problem}");
        }
    }
}
