//! The sample's own judgement, which owes nothing to the plugin, on every row.

use std::collections::BTreeMap;

use assay_plugin::{Plugin, Request};
use assay_plugin_math::Math;

#[derive(serde::Deserialize)]
struct Row {
    key: String,
    group: String,
    prompt: String,
    response: String,
    label: String,
    expected: f64,
}

#[test]
fn agrees_with_every_row() {
    let text = include_str!("../sample.jsonl");
    let mut groups: BTreeMap<String, u32> = BTreeMap::new();
    let mut different = Vec::new();
    for line in text.lines() {
        let row: Row = serde_json::from_str(line).expect("a row");
        let label = serde_json::to_string(&row.label).expect("JSON");
        let request = Request::new(&row.prompt, &row.response, &label);
        let outcome = Math::run_stage("score", "{}", &request, None).expect("an outcome");
        let scored = outcome.scored().expect("one stage");
        if scored.reward != row.expected {
            let explanation = &scored.explanation;
            different.push(format!("{} {:?}: {explanation}", row.key, row.response));
        }
        *groups.entry(row.group).or_default() += 1;
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
    assert_eq!(groups.len(), 84);
    assert!(groups.values().all(|rows| *rows == 4));
}
