//! HumanEval as its data set has it: every canonical solution passes as a body; of a quarter of the
//! rows, it passes as a function, and doing nothing does not. The file lies beside the checkout, or
//! under `ASSAY_SHARED`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::world::World;
use flate2::read::GzDecoder;
use serde_json::Value;

fn rows() -> Option<Vec<Value>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let shared = std::env::var_os("ASSAY_SHARED").map_or_else(beside, PathBuf::from);
    let path = shared.join("data/HumanEval.jsonl.gz");
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("SKIPPED: there is no {}; set ASSAY_SHARED", path.display());
        return None;
    };
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let row = |line: std::io::Result<String>| serde_json::from_str(&line.expect("text"));
    Some(lines.map(row).collect::<Result<_, _>>().expect("rows"))
}

/// A quarter of them, for what all of them would only repeat.
fn some_rows() -> Option<Vec<Value>> {
    Some(rows()?.into_iter().step_by(4).collect())
}

fn text<'a>(row: &'a Value, key: &str) -> &'a str {
    row[key].as_str().expect("a text")
}

/// The ids of rows whose verdict for the response made of them is another one.
fn different(rows: &[Value], verdict: &str, response: impl Fn(&Value) -> String) -> Vec<String> {
    let world = World::default();
    let judge = |row: &Value| {
        let settings = r#"{"limits": {"cpu_ms": 10000}}"#;
        let scored = world.judge(&response(row), &row.to_string(), settings).expect("a reward");
        let id = text(row, "task_id");
        (scored.verdict != verdict).then(|| format!("{id}: {}", scored.explanation))
    };
    rows.iter().filter_map(judge).collect()
}

#[test]
fn canonical_solutions_pass_as_bodies() {
    let Some(rows) = rows() else { return };
    assert_eq!(rows.len(), 164);
    let response = |row: &Value| text(row, "canonical_solution").to_owned();
    assert_eq!(different(&rows, "success", response), Vec::<String>::new());
}

#[test]
fn canonical_solutions_pass_as_functions() {
    let Some(rows) = some_rows() else { return };
    let response = |row: &Value| {
        let (prompt, body) = (text(row, "prompt"), text(row, "canonical_solution"));
        let head = format!("def {}(", text(row, "entry_point"));
        let start = prompt.rfind(&head).expect("the function's head");
        format!("Sure.\n```python\n{}{body}```\nDone.", &prompt[start..])
    };
    assert_eq!(different(&rows, "success", response), Vec::<String>::new());
}

#[test]
fn doing_nothing_never_passes() {
    let Some(rows) = some_rows() else { return };
    let passed = |row: &Value| {
        let world = World::default();
        let scored = world.judge("    pass\n", &row.to_string(), "{}").expect("a reward");
        scored.reward != 0.0
    };
    let ids: Vec<&str> =
        rows.iter().filter(|row| passed(row)).map(|row| text(row, "task_id")).collect();
    assert_eq!(ids, Vec::<&str>::new());
}
