//! Responses of the plugin cuda whose program is Python: its parser and what runs `ModelNew` over shapes. The input is the
//! program.
//!
//! A response has a verdict or goes on to the next stage, twice the same; no text of a response makes an error of the
//! platform.

#![no_main]

use std::sync::LazyLock;

use assay_plugin::{Outcome, Request};
use assay_plugin_cuda::run_stage;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

// The made-up compiler of the plugin's own tests.
#[allow(dead_code)]
#[rustfmt::skip]
#[path = "../../plugins/cuda/tests/native/world.rs"]
mod world;

use world::World;

static LABEL: LazyLock<String> = LazyLock::new(|| {
    let task = include_str!("../../plugins/cuda/tasks/conv_swish_mean/task.json");
    let mut label: Value = serde_json::from_str(task).expect("a task");
    let reference = label["reference"].as_object_mut().expect("a reference");
    reference.remove("file");
    reference.insert("source".into(), json!("__global__ void f() {}"));
    label.to_string()
});

fuzz_target!(|input: &[u8]| {
    let Ok(program) = std::str::from_utf8(input) else { return };
    let response = format!("```python\n{program}\n```\n");
    assert_eq!(judged(&response), judged(&response), "it is not the same twice");
});

/// What became of the response, as text.
fn judged(response: &str) -> String {
    let request = Request::new("", response, &LABEL);
    match run_stage(&World::default(), "compile", "{}", &request, None) {
        Ok(Outcome::Scored(scored)) => format!("{} {}", scored.verdict, scored.explanation),
        Ok(Outcome::Next(artifact)) => format!("{:?}", artifact.bytes),
        Err(error) => panic!("a response made an error of the platform: {error:?}"),
    }
}
