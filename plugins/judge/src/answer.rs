//! Reading what the judge said, strictly: the whole of it is one JSON object with the mark, a number
//! within the scale for each criterion, and nothing else. Whatever is otherwise is no score.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};

use crate::prompt::Mark;
use crate::settings::Settings;

const REASON_BYTES_MAX: usize = 2_048;

/// One opinion of the judge's.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// The scores by criterion, each within the scale.
    pub scores: BTreeMap<String, f64>,
    pub reason: String,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Option<String>,
    #[serde(default)]
    refusal: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    mark: String,
    #[serde(default)]
    reason: String,
    scores: Scores,
}

struct Scores(BTreeMap<String, f64>);

/// A name that comes twice is refused: which of them counted would be the parser's choice.
impl<'de> Deserialize<'de> for Scores {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Scores;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of scores")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Scores, M::Error> {
                let mut scores = BTreeMap::new();
                while let Some((name, score)) = map.next_entry::<String, f64>()? {
                    if scores.insert(name, score).is_some() {
                        return Err(M::Error::custom("a score comes twice"));
                    }
                }
                Ok(Scores(scores))
            }
        }
        deserializer.deserialize_map(Once)
    }
}

/// Reads a completion's body. The error says what is wrong, without the judge's words.
pub fn read(body: &[u8], settings: &Settings, mark: Mark) -> Result<Opinion, String> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|_| "it is no chat completion".to_owned())?;
    let [choice] = &completion.choices[..] else {
        return Err(format!("it has {} choices", completion.choices.len()));
    };
    if choice.message.refusal.is_some() {
        return Err("the judge refused".into());
    }
    if choice.finish_reason.as_deref().is_some_and(|reason| reason != "stop") {
        return Err("the judge's answer was cut short; `max_tokens` may be too small".into());
    }
    let said = choice.message.content.as_deref().ok_or("the judge said nothing")?;
    let verdict: Verdict = serde_json::from_str(unfenced(said)).map_err(|_| {
        "the judge's answer is not the JSON object that it was asked for".to_owned()
    })?;
    if verdict.mark != mark.to_string() {
        return Err("the judge's answer lacks the mark".into());
    }
    check(&verdict.scores.0, settings)?;
    let mut reason: String = verdict.reason.chars().filter(|c| !c.is_control()).collect();
    reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
    Ok(Opinion { scores: verdict.scores.0, reason })
}

fn check(scores: &BTreeMap<String, f64>, settings: &Settings) -> Result<(), String> {
    let (least, best) = settings.scale;
    for criterion in &settings.criteria {
        let name = &criterion.name;
        match scores.get(name) {
            None => return Err(format!("the judge gave no score for `{name}`")),
            Some(score) if !(least..=best).contains(score) => {
                return Err(format!("the judge's score for `{name}` is not {least} to {best}"));
            }
            Some(_) => {}
        }
    }
    if scores.len() != settings.criteria.len() {
        return Err("the judge scored what it was not asked for".into());
    }
    Ok(())
}

/// The text without white space and without the fence that many models put around JSON.
fn unfenced(said: &str) -> &str {
    let said = said.trim();
    let inside = said.strip_prefix("```json").or_else(|| said.strip_prefix("```"));
    inside.and_then(|inside| inside.strip_suffix("```")).map_or(said, str::trim)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn settings() -> Settings {
        Settings::read(
            r#"{"url": "https://a.example", "model": "m", "criteria": [
            {"name": "right", "description": "x"}, {"name": "clear", "description": "x"}]}"#,
        )
        .expect("valid")
    }

    const MARK: Mark = Mark(0xabc);

    fn said(content: &str) -> Result<Opinion, String> {
        let message = json!({"role": "assistant", "content": content});
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        read(body.to_string().as_bytes(), &settings(), MARK)
    }

    fn verdict(scores: &str) -> String {
        format!(r#"{{"mark": "{MARK}", "reason": "good\nenough", "scores": {scores}}}"#)
    }

    #[test]
    fn a_plain_answer_is_read() {
        let plain = verdict(r#"{"right": 10, "clear": 2.5}"#);
        let judged = said(&plain).expect("read");
        assert_eq!((judged.scores["right"], judged.scores["clear"]), (10.0, 2.5));
        assert_eq!(judged.reason, "goodenough");
        assert_eq!(said(&format!("```json\n{plain}\n```\n")), Ok(judged));
    }

    #[test]
    fn whatever_is_otherwise_is_no_score() {
        for (content, says) in [
            ("10".to_owned(), "JSON object"),
            (String::new(), "JSON object"),
            (format!("Sure! {}", verdict(r#"{"right": 1, "clear": 1}"#)), "JSON object"),
            (verdict(r#"{"right": 1}"#), "no score for `clear`"),
            (verdict(r#"{"right": 11, "clear": 1}"#), "`right` is not 0 to 10"),
            (verdict(r#"{"right": -1, "clear": 1}"#), "`right` is not 0 to 10"),
            (verdict(r#"{"right": "10", "clear": 1}"#), "JSON object"),
            (verdict(r#"{"right": null, "clear": 1}"#), "JSON object"),
            (verdict(r#"{"right": 1e999, "clear": 1}"#), "JSON object"),
            (verdict(r#"{"right": 1, "right": 10, "clear": 1}"#), "JSON object"),
            (verdict(r#"{"right": 1, "clear": 1, "style": 10}"#), "not asked for"),
            (verdict(r#"{"right": 1, "clear": 1}"#).replace("abc", "abd"), "lacks the mark"),
            (r#"{"reason": "", "scores": {"right": 10, "clear": 10}}"#.into(), "JSON object"),
        ] {
            let problem = said(&content).expect_err("refused");
            assert!(problem.contains(says), "{content}: {problem}");
        }
    }

    #[test]
    fn a_completion_that_did_not_end_well_is_no_score() {
        let body = |choices: serde_json::Value| {
            let body = json!({"choices": choices}).to_string();
            read(body.as_bytes(), &settings(), MARK).expect_err("refused")
        };
        let content = verdict(r#"{"right": 1, "clear": 1}"#);
        let message = json!({"content": content});
        assert!(body(json!([])).contains("0 choices"));
        assert!(body(json!([{"message": {"content": null}}])).contains("nothing"));
        assert!(
            body(json!([{"message": {"content": content, "refusal": "no"}}])).contains("refused")
        );
        assert!(
            body(json!([{"message": message, "finish_reason": "length"}])).contains("cut short")
        );
        assert!(read(b"<html>", &settings(), MARK).expect_err("refused").contains("completion"));
    }

    proptest! {
        /// Whatever is read lies within the scale.
        #[test]
        fn a_score_is_never_out_of_the_scale(text in ".{0,60}", score in any::<f64>()) {
            let _ = said(&text);
            let scores = json!({"right": score, "clear": 1}).to_string();
            if let Ok(judged) = said(&verdict(&scores)) {
                prop_assert!((0.0..=10.0).contains(&judged.scores["right"]));
            }
        }
    }
}
