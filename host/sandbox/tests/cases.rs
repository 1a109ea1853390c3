//! Golden cases pass when the plugin does as they say, and say what differs when it does not.

use assay_sandbox::cases::GoldenCase;
use assay_sandbox::pipeline::{LocalPipeline, end};

use crate::guests::liar;

fn check(text: &str) -> Result<(), String> {
    let plugin = liar();
    let description = &plugin.compiled.description;
    let (sandbox, loaded) = (&plugin.sandbox, &plugin.loaded);
    let whole =
        LocalPipeline { sandbox, plugin: loaded, description, capabilities: None, time_max: None };
    let case = GoldenCase::parse(text)?;
    let ran = case.run(&whole);
    let timeout_reward = description.timeout_reward;
    let compared = case.compare(end(&ran), timeout_reward);
    // An update expects whatever came.
    let updated = case.updated(text, end(&ran), timeout_reward);
    GoldenCase::parse(&updated).expect("a case still").compare(end(&ran), timeout_reward)?;
    compared
}

#[test]
fn a_case_runs_every_stage() {
    let text = "name: both stages\nrequest: {response: two_stages}\nexpect: {outcome: scored, reward: 0.75, verdict: success}\n";
    assert_eq!(check(text), Ok(()));
    let early =
        "name: early exit\nrequest: {response: count}\nexpect: {outcome: scored, reward: 1}\n";
    assert_eq!(check(early), Ok(()));
}

#[test]
fn any_value_is_a_label() {
    let text = "
name: all fields
settings: {knob: 1}
request:
  prompt: p
  response: seen
  label: {answer: [1, 2.5, x]}
  metadata: null
  group: g
  seed: 3
expect: {outcome: scored, reward: 1.0, tolerance: 0.1}
";
    assert_eq!(check(text), Ok(()));
}

#[test]
fn what_differs_is_said() {
    let case = |expect: &str, response: &str| {
        check(&format!("name: a\nrequest: {{response: {response}}}\nexpect: {{{expect}}}\n"))
    };
    assert_eq!(case("outcome: error, code: bad_request", "bad_request"), Ok(()));
    assert_eq!(case("outcome: timed_out, reward: -1", "spin"), Ok(()));
    for (expect, response, problem) in [
        ("outcome: scored, reward: 0.5", "count", "the reward 0.5"),
        ("outcome: scored, verdict: failure", "count", "the verdict `failure`"),
        ("outcome: error", "count", "expected Error"),
        ("outcome: error, code: plugin_trap", "bad_request", "`plugin_trap`"),
        ("outcome: wonderful", "count", "wonderful"),
        ("outcome: scored, rewards: 1", "count", "rewards"),
    ] {
        let said = case(expect, response).expect_err("differs");
        assert!(said.contains(problem), "{said}");
    }
}
