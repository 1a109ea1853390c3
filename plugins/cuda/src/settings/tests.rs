//! The schema beside the code, nonsense by name, and what speed is worth.

use super::*;

#[test]
fn the_schema_names_every_setting_and_no_other() {
    let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
    let properties = schema["properties"].as_object().expect("an object");
    for name in properties.keys() {
        let unknown = format!(r#"{{"{name}x": 1}}"#);
        let Err(Error::BadSettings(problem)) = Settings::read(&unknown) else {
            panic!("{name}x was taken")
        };
        assert!(problem.contains(&format!("`{name}`")), "{problem}");
        let known = problem.matches('`').count() / 2 - 1;
        assert_eq!(known, properties.len(), "{problem}");
    }
    let defaults: serde_json::Map<_, _> = properties
        .iter()
        .filter_map(|(name, property)| Some((name.clone(), property.get("default")?.clone())))
        .collect();
    assert_eq!(defaults.len(), properties.len() - 1, "all but `rewards`, whose parts have theirs");
    let text = serde_json::Value::Object(defaults).to_string();
    assert_eq!(Settings::read(&text).expect("the schema's defaults"), Settings::default());
    let rewards = properties["rewards"]["properties"].as_object().expect("an object");
    let given: serde_json::Map<_, _> = rewards
        .iter()
        .filter_map(|(name, reward)| Some((name.clone(), reward.get("default")?.clone())))
        .collect();
    let text = serde_json::json!({"rewards": given}).to_string();
    assert_eq!(Settings::read(&text).expect("the schema's rewards"), Settings::default());
}

#[test]
fn nonsense_is_named() {
    let check = |text: &str, part: &str| match Settings::read(text) {
        Err(Error::BadSettings(problem)) => assert!(problem.contains(part), "{text}: {problem}"),
        other => panic!("{text}: {other:?}"),
    };
    check(r#"{"policy": "fast"}"#, "fast");
    check(r#"{"policy": "thresholds"}"#, "needs some");
    check(r#"{"thresholds": [{"speedup": 1, "reward": 1}]}"#, "belong to the policy");
    let steps = |steps: &str| format!(r#"{{"policy": "thresholds", "thresholds": [{steps}]}}"#);
    check(&steps(r#"{"speedup": 2, "reward": 1}, {"speedup": 1, "reward": 0}"#), "ascend");
    check(&steps(r#"{"speedup": 1, "reward": 1}, {"speedup": 1, "reward": 0}"#), "ascend");
    check(&steps(r#"{"speedup": -1, "reward": 1}"#), "at least 0");
    check(&steps(r#"{"speedup": 1, "reward": 1e300}"#), "-1e9 to 1e9");
    check(r#"{"rewards": {"success": 1e300}}"#, "-1e9 to 1e9");
    check(r#"{"rewards": {"sucess": 1}}"#, "sucess");
    check(r#"{"speedup_scale": 0}"#, "speedup_scale");
    check(r#"{"speedup_max": -1}"#, "speedup_max");
    check(r#"{"seeds": 0}"#, "seeds must be 1 to 8");
    check(r#"{"plan_ms": 60000}"#, "plan_ms must be 10 to 30000");
    check(r#"{"trials": 1}"#, "trials must be 10 to 1000");
    check("[]", "object");
}

#[test]
fn speed_is_worth_what_the_policy_says() {
    let read = |text: &str| Settings::read(text).expect("settings");
    let speedup = read(r#"{"policy": "speedup", "speedup_scale": 0.5, "speedup_max": 3}"#);
    let rewards = [0.0, 1.0, 2.0, 100.0].map(|one| speedup.reward_of_speedup(one));
    assert_eq!(rewards, [0.0, 0.5, 1.0, 3.0]);
    let steps = r#"[{"speedup": 1, "reward": 0.5}, {"speedup": 2, "reward": 1}]"#;
    let steps = read(&format!(r#"{{"policy": "thresholds", "thresholds": {steps}}}"#));
    let rewards = [0.99, 1.0, 1.99, 2.0, 50.0].map(|one| steps.reward_of_speedup(one));
    assert_eq!(rewards, [0.0, 0.5, 0.5, 1.0, 1.0]);
    assert_eq!(read(r#"{"rewards": {"success": 2}}"#).reward_of_speedup(9.0), 2.0);
}

#[test]
fn the_scale_rises_with_how_far_an_answer_came() {
    let rewards = Rewards::default();
    let ladder = [
        Verdict::GenerationFailed,
        Verdict::CompileFailed,
        Verdict::ExecuteError,
        Verdict::WrongAnswer,
        Verdict::Success,
    ];
    assert!(ladder.map(|verdict| rewards.of(verdict)).is_sorted_by(|one, next| one < next));
    assert_eq!(rewards.of(Verdict::Suspicious), rewards.of(Verdict::WrongAnswer));
    let given = Rewards { suspicious: Some(-2.0), ..rewards };
    assert_eq!(given.of(Verdict::Suspicious), -2.0);
}
