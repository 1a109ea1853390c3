//! Scores JSON lines from standard input natively, for `bench/math`: each has a `response`, a `label` and, where
//! they differ from the first argument, `settings`. Writes one line of JSON for each, and at last the processor
//! seconds of the calls alone.

use std::io::{BufRead, Write};
use std::time::Instant;

use assay_plugin::{Plugin, Request};
use assay_plugin_math::Math;
use serde_json::{Value, json};

fn main() {
    let settings = std::env::args().nth(1).unwrap_or_else(|| "{}".into());
    let rows: Vec<Value> = std::io::stdin()
        .lock()
        .lines()
        .map(|line| serde_json::from_str(&line.expect("readable input")).expect("a JSON line"))
        .collect();
    let requests: Vec<_> = rows
        .iter()
        .map(|row| {
            let response = row["response"].as_str().expect("a response");
            let own = row.get("settings").map_or_else(|| settings.clone(), Value::to_string);
            (Request::new("", response, &row["label"].to_string()), own)
        })
        .collect();
    // One thread that never waits: wall time is processor time, as long as no other process takes the core.
    let started = Instant::now();
    let outcomes: Vec<_> = requests
        .iter()
        .map(|(request, settings)| Math::run_stage("score", settings, request, None))
        .collect();
    let seconds = started.elapsed().as_secs_f64();
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    for outcome in outcomes {
        let line = match outcome.map(|outcome| outcome.scored().cloned()) {
            Ok(Some(scored)) => json!({
                "reward": scored.reward,
                "verdict": scored.verdict,
                "explanation": scored.explanation,
            }),
            Ok(None) => json!({"error": "no reward"}),
            Err(error) => json!({"error": format!("{error:?}")}),
        };
        writeln!(output, "{line}").expect("writable output");
    }
    writeln!(output, "{}", json!({"seconds": seconds})).expect("writable output");
}
