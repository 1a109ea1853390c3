//! Responses from which the code judge takes a program, and its labels and settings. The input is the settings, a NUL,
//! the label, a NUL and the response; without a NUL it is a response to a plain problem.
//!
//! The program has no NUL and no more bytes than are allowed. A response whose program is not found has a short
//! reason. The stage does the same when it is repeated.

#![no_main]

use std::collections::BTreeMap;

use assay_plugin::{Outcome, Request};
use assay_plugin_code::run_stage;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

#[path = "code/world.rs"]
mod world;

use world::{Files, Refusing};

const LABEL: &str = r#"{"tests": [{"input": "1\n", "output": "1\n"}]}"#;
const SOURCE_BYTES_MAX: usize = 256 << 10;
const EXPLANATION_BYTES_MAX: usize = 8 << 10;

fuzz_target!(|input: &str| {
    let parts: Vec<&str> = input.splitn(3, '\0').collect();
    let (settings, label, response) = match parts[..] {
        [settings, label, response] => (settings, label, response),
        _ => ("{}", LABEL, input),
    };
    let request = Request::new("", response, label);
    let world = (&Refusing, &Files(BTreeMap::new()));
    let outcome = run_stage(world, "extract", settings, &request, None);
    let again = run_stage(world, "extract", settings, &request, None);
    assert_eq!(format!("{outcome:?}"), format!("{again:?}"));
    match outcome {
        Ok(Outcome::Next(artifact)) => {
            let program: Value = artifact.as_json().expect("the stage wrote it");
            let code = program["code"].as_str().expect("a program has code");
            assert!(code.len() <= SOURCE_BYTES_MAX && !code.contains('\0'));
        }
        Ok(Outcome::Scored(scored)) => {
            assert_eq!(scored.verdict, "extraction_failed");
            assert!(scored.explanation.len() <= EXPLANATION_BYTES_MAX);
        }
        Err(_) => {}
    }
});
