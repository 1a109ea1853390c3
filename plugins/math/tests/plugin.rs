//! The plugin as a worker calls it: labels, settings, verdicts, explanations.

use assay_plugin::{Error, Plugin, Request, Scored};
use assay_plugin_math::Math;

fn run(response: &str, label: &str, settings: &str) -> Result<Scored, Error> {
    let request = Request::new("?", response, label);
    let outcome = Math::run_stage("score", settings, &request, None)?;
    Ok(outcome.scored().expect("one stage").clone())
}

#[test]
fn describes_itself_within_the_rules() {
    let description = Math::describe();
    assert!(description.deterministic);
    let names: Vec<_> = description.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["score"]);
    for schema in [&description.settings_schema, &description.label_schema] {
        let schema: serde_json::Value = serde_json::from_str(schema).expect("JSON");
        assert!(schema.is_object());
    }
}

#[test]
fn labels_are_texts_numbers_or_lists() {
    let check = |label: &str, reward: f64| {
        assert_eq!(run("#### 18", label, "{}").expect("scored").reward, reward, "{label}");
    };
    check(r#""18""#, 1.0);
    check("18", 1.0);
    check("18.0", 1.0);
    check(r#"["17", 18]"#, 1.0);
    check(r#"["16", 17]"#, 0.0);
    check(r#""She has 9 * 2 = 18\n#### 18""#, 1.0);
    check(r#""thus $\\boxed{18}$""#, 1.0);
    // Numbers keep their digits.
    let great = |response: &str, reward: f64| {
        let label = "100000000000000000001";
        assert_eq!(run(response, label, "{}").expect("scored").reward, reward, "{response}");
    };
    great("#### 100000000000000000001", 1.0);
    great("#### 100000000000000000000", 0.0);
}

#[test]
fn a_bad_label_is_never_a_reward() {
    for label in
        ["null", "true", "{}", "[]", "[[1]]", r#""""#, r#"" ""#, r#""\\boxed{3""#, "not json"]
    {
        let result = run("#### 18", label, "{}");
        assert!(matches!(result, Err(Error::BadRequest(_))), "{label}: {result:?}");
    }
}

#[test]
fn a_label_that_is_no_mathematics_is_compared_as_text_unless_strict() {
    for label in [r"\\frac{1", "x^", "1 2", r"\\int_0^1 f(x)\\,dx", r"F_n = \\sum_{k=0}^{n} F_k"] {
        let json = format!("\"{label}\"");
        let text: String = serde_json::from_str(&json).expect("JSON");
        let verdict = |response: &str| run(response, &json, "{}").expect("scored").verdict;
        assert_eq!(verdict("#### 18"), "wrong_text", "{label}");
        assert_eq!(verdict(&format!("Answer: ${text}$")), "correct_text", "{label}");
        assert_eq!(verdict(&format!("Answer: ${text}1$")), "wrong_text", "{label}");
        let strict = run("#### 18", &json, r#"{"strict": true}"#);
        assert!(matches!(strict, Err(Error::BadRequest(_))), "{label}: {strict:?}");
    }
}

#[test]
fn settings_are_checked() {
    for settings in [
        r#"{"tolerance": -1}"#,
        r#"{"tolerance": 1}"#,
        r#"{"tolerence": 0.1}"#,
        "[]",
        "",
        r#"{"reward_wrong": 1e300}"#,
        r#"{"decimals": 31}"#,
        r#"{"answer_from": "somewhere"}"#,
        r#"{"profile": "math"}"#,
        r#"{"profile": "gsm8k", "strict": true}"#,
    ] {
        let result = run("#### 18", "18", settings);
        assert!(matches!(result, Err(Error::BadSettings(_))), "{settings}: {result:?}");
    }
    let result = run("#### 17", "18", r#"{"reward_wrong": -0.5, "reward_boxed": 0.1}"#);
    assert_eq!(result.expect("scored").reward, -0.5);
    let result = run(r"\boxed{17}", "18", r#"{"reward_wrong": -0.5, "reward_boxed": 0.25}"#);
    assert_eq!(result.expect("scored").reward, -0.25);
}

#[test]
fn the_verdict_says_how_it_was_decided() {
    let check = |response: &str, label: &str, verdict: &str, explanation: &str| {
        let scored = run(response, label, "{}").expect("scored");
        assert_eq!((scored.verdict.as_str(), scored.explanation.as_str()), (verdict, explanation));
    };
    check(
        r"so \boxed{\frac{1}{2}}",
        "0.5",
        "correct_exact",
        r"took `\frac{1}{2}` from the last \boxed, read as 1/2; the label `0.5` is read as 0.5; their exact values are equal",
    );
    check(
        "The answer is 0.3333333.",
        r#""1/3""#,
        "correct_numeric",
        "took `0.3333333` from the last \"answer is\", read as 0.3333333; the label `1/3` is read as 1/3; their values are equal within the tolerance",
    );
    check(
        "I think it is 12",
        "12",
        "correct_last_number",
        "took `12` from the last number, read as 12; the label `12` is read as 12; both are written alike",
    );
    check(
        "Answer: the box holds 7 of them, or so",
        "7",
        "correct_last_number",
        "took `7` from the last number, read as 7; the label `7` is read as 7; both are written alike",
    );
    check(
        "A: 5",
        "6",
        "wrong",
        "took `5` from the last A:, read as 5; the label `6` is read as 6; the values differ",
    );
    check(
        "A: 5 km",
        r#"["5 hours", "6 hours"]"#,
        "wrong",
        "took `5 km` from the last A:, read as 5 * 1000 m; the label `5 hours` is read as 5 * 3600 s; the units measure different things (nor any of 1 others)",
    );
    check(
        r"\boxed{x \le 3}",
        r#""(-\\infty, 3)""#,
        "wrong",
        r"took `x \le 3` from the last \boxed, read as (-infinity, 3]; the label `(-\infty, 3)` is read as (-infinity, 3); the brackets differ",
    );
    check("no idea", "6", "no_answer", "the response holds no answer");
    check(r"\boxed{1", "1", "no_answer", r"the last \boxed is not closed");
}
