//! One opinion of the judge's: asks, waits and asks again, within its tries. Pure but for what it is
//! handed: how to ask and how to wait.

use assay_plugin::Error;
use assay_plugin::http::{Answer, Error as NoAnswer};

use crate::answer::{Opinion, read};
use crate::prompt::Mark;
use crate::settings::Settings;

/// The first wait between two tries, doubled each time up to the most; a server that names a time is
/// believed up to the same.
const WAIT_MS: u32 = 500;
const WAIT_MS_MAX: u32 = 30_000;
/// Answers that cannot be read: a judge that cannot keep to the form twice does not learn it.
const UNREADABLE_MAX: u32 = 2;
/// By one of these, servers say that they refuse the text that is to be judged: it is too long, or filtered.
const TEXT_REFUSED: &[&str] =
    &["context_length_exceeded", "maximum context length", "content_filter"];

/// The result of one try.
pub enum TryResult {
    Judged(Opinion),
    /// A failure that another try may mend, and the wait before it in milliseconds.
    Later(String, u32),
    Unreadable(String),
}

/// Asks until there is an opinion. `ask` sends the question with this mark, `wait` waits (ms); the first
/// question is `question`, and each further one is the next.
pub fn judge(
    settings: &Settings,
    question: u32,
    mut ask: impl FnMut(u32) -> (Mark, Result<Answer, NoAnswer>),
    mut wait: impl FnMut(u32),
) -> Result<Opinion, Error> {
    let mut unreadable = 0;
    let mut last = String::new();
    for attempt in 0..settings.tries {
        let (mark, answer) = ask(question + attempt);
        match heard(answer, settings, mark, attempt)? {
            TryResult::Judged(judged) => return Ok(judged),
            TryResult::Later(problem, wait_ms) => {
                last = problem;
                if attempt + 1 < settings.tries {
                    wait(wait_ms);
                }
            }
            TryResult::Unreadable(problem) => {
                last = format!("the judge's answer cannot be read: {problem}");
                unreadable += 1;
                if unreadable == UNREADABLE_MAX {
                    break;
                }
            }
        }
    }
    Err(Error::Unavailable(last))
}

/// Sorts a judge's answer: a failure that another try may mend is tried again, a mistake in the settings is
/// reported at once. No text of the judge's server is passed on, because it may hold the secret that was
/// sent to it.
fn heard(
    answer: Result<Answer, NoAnswer>,
    settings: &Settings,
    mark: Mark,
    attempt: u32,
) -> Result<TryResult, Error> {
    let backoff = WAIT_MS.saturating_mul(1 << attempt.min(8)).min(WAIT_MS_MAX);
    let answer = match answer {
        Ok(answer) => answer,
        Err(NoAnswer::Unavailable(problem)) => {
            return Ok(TryResult::Later(format!("the judge does not answer: {problem}"), backoff));
        }
        Err(error) => return Err(error.into()),
    };
    let status = answer.status;
    match status {
        200 => Ok(read(&answer.body, settings, mark)
            .map_or_else(TryResult::Unreadable, TryResult::Judged)),
        408 | 409 | 425 | 429 | 500..=599 => {
            let named = answer.header("retry-after").and_then(|text| text.trim().parse().ok());
            let wait_ms = named.map_or(backoff, |seconds: u32| seconds.saturating_mul(1_000));
            Ok(TryResult::Later(
                format!("the judge answers with status {status}"),
                wait_ms.min(WAIT_MS_MAX),
            ))
        }
        401 | 403 => Err(Error::bad_settings(format!(
            "the judge refuses the credentials (status {status}): `secret` names the wrong one, or none"
        ))),
        404 => Err(Error::bad_settings(
            "the judge knows no such endpoint or model (status 404): check `url` and `model`",
        )),
        413 => Err(refused_text(status)),
        400 | 422 if refuses_text(&answer.body) => Err(refused_text(status)),
        300..=399 => Err(Error::bad_settings(format!(
            "the judge lives elsewhere (status {status}); redirects are not followed: correct `url`"
        ))),
        _ => Err(Error::bad_settings(format!("the judge refuses the request (status {status})"))),
    }
}

fn refuses_text(body: &[u8]) -> bool {
    let body = String::from_utf8_lossy(body);
    TEXT_REFUSED.iter().any(|mark| body.contains(mark))
}

fn refused_text(status: u16) -> Error {
    Error::bad_request(format!(
        "the judge refuses the text that it is asked about (status {status}): it is too long, or filtered"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const MARK: Mark = Mark(1);

    fn settings() -> Settings {
        Settings::read(
            r#"{"url": "https://a.example", "model": "m",
            "criteria": [{"name": "right", "description": "x"}]}"#,
        )
        .expect("valid")
    }

    fn status(status: u16) -> Result<Answer, NoAnswer> {
        Ok(Answer { status, headers: Vec::new(), body: Vec::new() })
    }

    fn good() -> Result<Answer, NoAnswer> {
        let content = json!({"mark": MARK.to_string(), "scores": {"right": 5}}).to_string();
        let body = json!({"choices": [{"message": {"content": content}}]}).to_string();
        Ok(Answer { status: 200, headers: Vec::new(), body: body.into() })
    }

    /// The result, the waits between the tries in milliseconds, and the number of answers that were left.
    fn run(mut answers: Vec<Result<Answer, NoAnswer>>) -> (Result<f64, Error>, Vec<u32>, usize) {
        let mut waits = Vec::new();
        answers.reverse();
        let judged = judge(
            &settings(),
            0,
            |_| (MARK, answers.pop().expect("asked too often")),
            |ms| waits.push(ms),
        );
        (judged.map(|judged| judged.scores["right"]), waits, answers.len())
    }

    #[test]
    fn what_another_try_may_mend_is_tried_again() {
        let mut busy = status(429);
        if let Ok(answer) = &mut busy {
            answer.headers.push(("retry-after".into(), b"3".to_vec()));
        }
        let down = || Err(NoAnswer::Unavailable("refused".into()));
        let (judged, waits, _) = run(vec![busy, status(500), down(), good()]);
        assert_eq!(judged, Ok(5.0));
        assert_eq!(waits, [3_000, 1_000, 2_000]);
        let (judged, waits, left) = run(vec![down(), status(503), down(), status(529)]);
        assert!(matches!(judged, Err(Error::Unavailable(_))), "{judged:?}");
        assert_eq!((waits.len(), left), (3, 0));
    }

    #[test]
    fn an_unreadable_answer_is_never_a_number() {
        let (judged, waits, left) = run(vec![status(200), status(200), good()]);
        assert!(matches!(judged, Err(Error::Unavailable(_))), "{judged:?}");
        assert_eq!((waits.len(), left), (0, 1));
        assert_eq!(run(vec![status(200), good()]).0, Ok(5.0));
    }

    #[test]
    fn wrong_settings_are_said_at_once() {
        for code in [301, 400, 401, 403, 404, 422] {
            let (judged, _, left) = run(vec![status(code), good()]);
            assert!(matches!(judged, Err(Error::BadSettings(_))), "{code}: {judged:?}");
            assert_eq!(left, 1);
        }
        let (judged, ..) = run(vec![Err(NoAnswer::Denied("no".into()))]);
        assert!(matches!(judged, Err(Error::BadSettings(_))), "{judged:?}");
    }

    #[test]
    fn a_text_that_the_judge_refuses_is_no_fault_of_the_settings() {
        let refused = |code, body: &str| {
            run(vec![Ok(Answer { status: code, headers: Vec::new(), body: body.into() }), good()]).0
        };
        for (code, body) in [
            (400, r#"{"error": {"code": "context_length_exceeded", "message": "x"}}"#),
            (
                400,
                r#"{"message": "This model's maximum context length is 4096 tokens.", "code": 400}"#,
            ),
            (400, r#"{"error": {"code": "content_filter"}}"#),
            (413, ""),
        ] {
            let judged = refused(code, body);
            assert!(matches!(judged, Err(Error::BadRequest(_))), "{body}: {judged:?}");
        }
        let judged = refused(400, r#"{"error": {"code": "unsupported_parameter"}}"#);
        assert!(matches!(judged, Err(Error::BadSettings(_))), "{judged:?}");
    }

    #[test]
    fn no_server_makes_it_wait_for_ever() {
        let mut busy = status(503);
        if let Ok(answer) = &mut busy {
            answer.headers.push(("retry-after".into(), b"4000000".to_vec()));
        }
        assert_eq!(run(vec![busy, good()]).1, [WAIT_MS_MAX]);
    }
}
