//! The alert rules and the Grafana dashboard in `deploy` ask for metrics that a server has.

use std::collections::{BTreeMap, BTreeSet};

use assay_api::request::Reward;
use assay_tests::{Answers, Host, HostOptions, Http, checkout, item, until_good};
use serde_json::{Value, json};

/// Labels that Prometheus adds to what it reads.
const ADDED: [&str; 2] = ["job", "instance"];

/// The labels of each metric with their values.
type Series = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

#[tokio::test]
async fn rules_and_panels_ask_for_what_there_is() {
    let host = Host::start(HostOptions {
        workers: vec!["cpu=0..2".into()],
        arguments: vec!["--period-s".into(), "1".into()],
        ..HostOptions::default()
    });
    let plugin = host.publish("trivial").await;
    let http = Http::new(&host);
    let call = json!({ "plugin": plugin, "response": "xx" });
    let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
    assert_eq!(reward.outcome.reward(), Some(1.0));
    let (client, items) = (host.client(), [item("a", "xx", "null")]);
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    answers.finish(&client, &items).await;

    let expressions = [rules(), panels()].concat();
    assert!(expressions.len() > 25, "only {} expressions", expressions.len());
    // The first heartbeat of a worker comes after two seconds.
    let missing = async || {
        let page = series(&http.get("/metrics").await.text());
        expressions.iter().filter_map(|expression| lacks(&page, expression)).collect::<Vec<_>>()
    };
    until_good("every metric is there", missing, Vec::is_empty).await;
}

fn read(path: &str) -> String {
    std::fs::read_to_string(checkout().join("deploy").join(path)).expect("the file is there")
}

fn rules() -> Vec<String> {
    let rules: Value = serde_saphyr::from_str(&read("prometheus/assay.rules.yml")).expect("YAML");
    let groups = rules["groups"].as_array().expect("groups");
    let rules = groups.iter().flat_map(|group| group["rules"].as_array().expect("rules"));
    let expression = |rule: &Value| {
        for text in [&rule["alert"], &rule["annotations"]["summary"], &rule["labels"]["severity"]] {
            assert!(text.is_string(), "{rule:#}");
        }
        rule["expr"].as_str().expect("an expression").to_owned()
    };
    rules.map(expression).collect()
}

fn panels() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("grafana/assay.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets.map(|target| target["expr"].as_str().expect("an expression").to_owned()).collect()
}

/// The metrics of a page in Prometheus' format.
fn series(page: &str) -> Series {
    let mut series = Series::new();
    // A metric by tenant has no line while nobody waits.
    let named = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    for name in named {
        series.entry(name.to_owned()).or_default();
    }
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_at(line.find(['{', ' ']).unwrap_or(line.len()));
        let found = series.entry(name.to_owned()).or_default();
        for (label, _, value) in labels(rest) {
            found.entry(label.to_owned()).or_default().insert(value.to_owned());
        }
    }
    series
}

/// The labels in braces at the beginning of a text, each with its operator and its value.
fn labels(text: &str) -> Vec<(&str, &str, &str)> {
    let Some((inside, _)) = text.strip_prefix('{').and_then(|text| text.split_once('}')) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut rest = inside;
    while let Some((label, after)) = rest.split_once('"') {
        let (value, after) = after.split_once('"').expect("a quoted value ends");
        let label = label.trim_start_matches([',', ' ']);
        let (name, operator) = label.split_at(label.find(['=', '!']).expect("an operator"));
        found.push((name, operator, value));
        rest = after;
    }
    found
}

/// What an expression selects and the page does not have.
fn lacks(page: &Series, expression: &str) -> Option<String> {
    let mut rest = expression;
    while let Some(start) = rest.find("assay_") {
        let from = &rest[start..];
        let end = from.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        rest = after;
        let Some(known) = page.get(name) else { return Some(format!("{name} in {expression}")) };
        for (label, operator, value) in labels(after) {
            let values: Vec<_> = match operator {
                "=" => vec![value],
                "=~" => value.split('|').collect(),
                _ => panic!("{operator} in {expression}"),
            };
            let all = known.get(label);
            let missing = values.into_iter().find(|&it| !all.is_some_and(|all| all.contains(it)));
            if let Some(value) = missing.filter(|_| !ADDED.contains(&label)) {
                return Some(format!("{name} with {label}={value} in {expression}"));
            }
        }
    }
    None
}

#[test]
fn what_is_missing_is_found() {
    let page = series("# TYPE assay_a counter\nassay_a{kind=\"x\",pool=\"cpu\"} 1\nassay_b 2\n");
    assert_eq!(lacks(&page, "sum(assay_a{kind=\"x\"}) > assay_b"), None);
    assert!(lacks(&page, "rate(assay_c[1m])").is_some());
    assert!(lacks(&page, "assay_a{kind=~\"x|y\"}").is_some());
    assert!(lacks(&page, "assay_b{kind=\"x\"}").is_some());
}
