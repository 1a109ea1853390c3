//! Four language models' real answers to 1,319 grade-school questions: the reward must be the data
//! set authors' own judgement on every one. The file lies beside the checkout, or under
//! `ASSAY_SHARED`.

use std::path::PathBuf;

use assay_plugin::{Plugin, Request};
use assay_plugin_math::Math;

#[derive(serde::Deserialize)]
struct Row {
    key: String,
    prompt: String,
    response: String,
    label: String,
    expected: f64,
}

#[test]
fn agrees_with_every_judgement() {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let shared = std::env::var_os("ASSAY_SHARED").map_or_else(beside, PathBuf::from);
    let path = shared.join("data/gsm8k_answers.jsonl");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: there is no {}; set ASSAY_SHARED", path.display());
        return;
    };
    let mut rows = 0;
    let mut different = Vec::new();
    for line in text.lines() {
        let row: Row = serde_json::from_str(line).expect("a row");
        let label = serde_json::to_string(&row.label).expect("JSON");
        let request = Request::new(&row.prompt, &row.response, &label);
        let outcome = Math::run_stage("score", "{}", &request, None).expect("an outcome");
        let scored = outcome.scored().expect("one stage");
        rows += 1;
        if scored.reward != row.expected {
            different.push(format!("{}: {} ({})", row.key, scored.reward, scored.explanation));
        }
    }
    assert_eq!(rows, 5_276);
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}
