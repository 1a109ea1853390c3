//! Golden cases: requests with the outcome that a plugin's author expects, one YAML document each.

use std::fmt::{self, Write as _};

use assay_core::outcome::{ErrorCode, StageEnd};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Request;
use crate::pipeline::{LocalPipeline, StageRecord};

/// The largest difference between a reward and the expected one when a case names no tolerance.
const TOLERANCE: f64 = 1e-9;

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GoldenCase {
    pub name: String,
    #[serde(default)]
    settings: Option<serde_json::Map<String, Value>>,
    request: CaseRequest,
    /// The expected outcome; absent in a case that its author has yet to fill in.
    #[serde(default)]
    expect: Option<Expect>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseRequest {
    #[serde(default)]
    prompt: String,
    response: String,
    #[serde(default)]
    label: Value,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    seed: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    outcome: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tolerance: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
    /// The code of an error, as in the REST interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeKind {
    Scored,
    TimedOut,
    Error,
}

impl OutcomeKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Scored => "scored",
            Self::TimedOut => "timed_out",
            Self::Error => "error",
        }
    }
}

impl GoldenCase {
    /// Reads one document.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())
    }

    /// The settings of its run as JSON.
    #[must_use]
    pub fn settings(&self) -> String {
        let settings = self.settings.as_ref();
        settings.map_or_else(|| "{}".into(), |settings| Value::Object(settings.clone()).to_string())
    }

    /// The label as JSON, if it has one.
    #[must_use]
    pub fn label(&self) -> Option<String> {
        Some(&self.request.label).filter(|label| !label.is_null()).map(Value::to_string)
    }

    /// Runs every stage in order.
    #[must_use]
    pub fn run(&self, pipeline: &LocalPipeline<'_>) -> Vec<StageRecord> {
        let settings = self.settings();
        let (label, metadata) = (self.request.label.to_string(), self.request.metadata.to_string());
        let request = Request {
            id: &self.name,
            group: self.request.group.as_deref(),
            prompt: &self.request.prompt,
            response: &self.request.response,
            label: &label,
            metadata: &metadata,
            attempt: 1,
            seed: self.request.seed,
        };
        pipeline.run(&settings, &request)
    }

    /// Compares an end with the expected one; the error names the difference.
    pub fn compare(&self, end: &StageEnd, timeout_reward: f64) -> Result<(), String> {
        match &self.expect {
            Some(expect) => expect.compare(end, timeout_reward),
            None => Err("the case expects nothing: run it with --update to fill that in".into()),
        }
    }

    #[must_use]
    pub fn expected(&self) -> Option<&Expect> {
        self.expect.as_ref()
    }

    /// The case's document with what came as what is expected: all else stays as it is but comments
    /// at the ends of the lines that are replaced.
    #[must_use]
    pub fn updated(&self, text: &str, end: &StageEnd, timeout_reward: f64) -> String {
        let mut expect = Expect::of(end, timeout_reward);
        expect.tolerance = self
            .expect
            .as_ref()
            .and_then(|expect| expect.tolerance)
            .filter(|_| expect.reward.is_some());
        replace_expect(text, &expect.yaml())
    }
}

impl Expect {
    /// The expectation that an end meets.
    #[must_use]
    pub fn of(end: &StageEnd, timeout_reward: f64) -> Self {
        let (outcome, reward, verdict, code) = match end {
            StageEnd::Scored(scored) => {
                (OutcomeKind::Scored, Some(scored.reward), Some(scored.verdict.clone()), None)
            }
            StageEnd::TimedOut => (OutcomeKind::TimedOut, Some(timeout_reward), None, None),
            StageEnd::Failed(error) => (OutcomeKind::Error, None, None, Some(error.code)),
            // The last stage may not, and the sandbox sees to it.
            StageEnd::Next(_) => (OutcomeKind::Error, None, None, Some(ErrorCode::BadOutcome)),
        };
        let code = code.map(|code| code.as_str().to_owned());
        Self { outcome, reward, tolerance: None, verdict, code }
    }

    fn yaml(&self) -> String {
        let mut text = format!("expect:\n  outcome: {}\n", self.outcome.as_str());
        let mut line = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                writeln!(text, "  {name}: {value}").expect("a text takes text");
            }
        };
        line("reward", self.reward.map(|reward| reward.to_string()));
        line("tolerance", self.tolerance.map(|tolerance| tolerance.to_string()));
        line("verdict", self.verdict.as_deref().map(quoted));
        line("code", self.code.as_deref().map(quoted));
        text
    }

    fn compare(&self, end: &StageEnd, timeout_reward: f64) -> Result<(), String> {
        let (kind, reward, verdict, code) = match end {
            StageEnd::Scored(scored) => {
                (OutcomeKind::Scored, Some(scored.reward), scored.verdict.as_str(), None)
            }
            StageEnd::TimedOut => (OutcomeKind::TimedOut, Some(timeout_reward), "timed_out", None),
            StageEnd::Failed(error) => {
                (OutcomeKind::Error, None, error.code.as_str(), Some(error.code.as_str()))
            }
            StageEnd::Next(_) => return Err("the last stage ended in `next`".into()),
        };
        if kind != self.outcome {
            return Err(format!("expected {:?}, got {end:?}", self.outcome));
        }
        if let Some(expected) = self.reward {
            let tolerance = self.tolerance.unwrap_or(TOLERANCE);
            let near = reward.is_some_and(|reward| (reward - expected).abs() <= tolerance);
            if !near {
                let got = reward.map_or_else(|| "none".into(), |reward| reward.to_string());
                return Err(format!("expected the reward {expected} ± {tolerance}, got {got}"));
            }
        }
        if let Some(expected) = &self.verdict
            && expected != verdict
        {
            return Err(format!("expected the verdict `{expected}`, got `{verdict}`"));
        }
        if let Some(expected) = &self.code
            && Some(expected.as_str()) != code
        {
            let got = code.unwrap_or("none");
            return Err(format!("expected the error code `{expected}`, got `{got}`"));
        }
        Ok(())
    }
}

/// In one line, such as `scored, reward 1, verdict wrong`.
impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.outcome.as_str())?;
        if let Some(reward) = self.reward {
            write!(f, ", reward {reward}")?;
        }
        if let Some(tolerance) = self.tolerance {
            write!(f, " ± {tolerance}")?;
        }
        if let Some(verdict) = &self.verdict {
            write!(f, ", verdict {verdict}")?;
        }
        self.code.iter().try_for_each(|code| write!(f, ", code {code}"))
    }
}

/// A word as it is, and anything else as JSON, which YAML reads.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    // Words that YAML takes for something else.
    let special =
        matches!(text, "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n");
    if !text.is_empty() && text.chars().all(plain) && !special {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

/// The top-level entry `expect` replaced, or added; whole lines of comments in it are kept.
fn replace_expect(text: &str, expect: &str) -> String {
    let (mut before, mut comments, mut after) = (String::new(), String::new(), String::new());
    let (mut found, mut inside) = (false, false);
    for line in text.split_inclusive('\n') {
        if !found && line.starts_with("expect:") {
            (found, inside) = (true, true);
            continue;
        }
        inside &= line.starts_with([' ', '\t', '\n', '\r']);
        match (found, inside) {
            (false, _) => before.push_str(line),
            (true, true) if line.trim_start().starts_with('#') => comments.push_str(line),
            (true, true) => {}
            (true, false) => after.push_str(line),
        }
    }
    if !before.is_empty() && !before.ends_with('\n') {
        before.push('\n');
    }
    let (head, rest) = expect.split_once('\n').expect("the first line is `expect:`");
    format!("{before}{head}\n{comments}{rest}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_replaces_the_expectation_alone() {
        let new = "expect:\n  outcome: scored\n  reward: 1\n";
        for (text, expected) in [
            (
                "# why\nname: a\nexpect: # was 0\n  # not 0\n  outcome: error # yet\n\nrequest: {}\n",
                "# why\nname: a\nexpect:\n  # not 0\n  outcome: scored\n  reward: 1\nrequest: {}\n",
            ),
            ("name: a\nexpect: {outcome: error}", &format!("name: a\n{new}")),
            ("name: a", &format!("name: a\n{new}")),
        ] {
            assert_eq!(replace_expect(text, new), expected);
        }
    }

    #[test]
    fn an_outcome_is_one_line() {
        let text = "name: a\nrequest: {response: a}\nexpect: {outcome: scored, reward: 1, tolerance: 0.5, verdict: good}\n";
        let case = GoldenCase::parse(text).expect("a case");
        let expected = case.expected().expect("it expects something").to_string();
        assert_eq!(expected, "scored, reward 1 ± 0.5, verdict good");
        assert_eq!(Expect::of(&StageEnd::TimedOut, -1.0).to_string(), "timed_out, reward -1");
    }

    #[test]
    fn words_are_read_as_they_were_written() {
        for (word, written) in
            [("wrong_answer", "wrong_answer"), ("no", "\"no\""), ("a: b", "\"a: b\"")]
        {
            assert_eq!(quoted(word), written);
        }
    }
}
