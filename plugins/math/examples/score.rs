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
    let started = Clock::start();
    let outcomes: Vec<_> = requests
        .iter()
        .map(|(request, settings)| Math::run_stage("score", settings, request, None))
        .collect();
    let seconds = started.seconds();
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

/// Processor time of this process where Linux tells it; elsewhere wall time, which is the same for one thread that
/// never waits and has a core.
struct Clock {
    wall: Instant,
    processor: Option<u64>,
}

impl Clock {
    fn start() -> Self {
        Self { wall: Instant::now(), processor: processor_nanoseconds() }
    }

    fn seconds(&self) -> f64 {
        match (self.processor, processor_nanoseconds()) {
            (Some(before), Some(after)) if after > before => (after - before) as f64 / 1e9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

fn processor_nanoseconds() -> Option<u64> {
    let times = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    times.split_whitespace().next()?.parse().ok()
}
