//! Long responses, for the plugins that read them: a part that comes again and again. The input is a byte that chooses
//! the plugin, one that says how much of the text comes before that part, one that says how much comes after it, and the
//! text.
//!
//! Each has an outcome within the time for an input; a reader whose time grows with the square of the length takes longer.

#![no_main]

use std::collections::BTreeMap;

use assay_plugin::{Error, Outcome, Plugin, Request};
use assay_plugin_cuda::run_stage as compile_kernel;
use assay_plugin_format::Format;
use assay_plugin_math::Math;
use libfuzzer_sys::fuzz_target;

#[path = "code/world.rs"]
mod code_world;
// The made-up compiler of the plugin's own tests.
#[allow(dead_code)]
#[rustfmt::skip]
#[path = "../../plugins/cuda/tests/native/world.rs"]
mod cuda_world;

use code_world::{Files, Refusing};
use cuda_world::World;

const RESPONSE_BYTES: usize = 256 << 10;
const CODE_LABEL: &str = r#"{"tests": [{"input": "1\n", "output": "1\n"}]}"#;
const CUDA_LABEL: &str = r#"{
    "task": "relu",
    "buffers": {
        "x": {"dtype": "fp32", "shape": ["n"], "role": "input", "init": "zeros"},
        "y": {"dtype": "fp32", "shape": ["n"], "role": "output"}
    },
    "arguments": ["x", "y"],
    "tensors": {"arguments": ["x"], "returns": ["y"]},
    "sizes": [{"n": 8}],
    "entry": "f",
    "reference": {"source": "__global__ void f() {}", "entry": "f"}
}"#;

fuzz_target!(|input: &[u8]| {
    let [plugin, head, tail, text @ ..] = input else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let response = &stretched(text, *head, *tail);
    match plugin % 6 {
        0 => drop(score::<Math>(response, "\"42\"")),
        1 => drop(score::<Format>(response, "null")),
        2 => {
            let request = Request::new("", response, CODE_LABEL);
            let world = (&Refusing, &Files(BTreeMap::new()));
            drop(assay_plugin_code::run_stage(world, "extract", "{}", &request, None));
        }
        3 => judge_kernel(response),
        4 => judge_kernel(&format!("```cuda\n{response}\n```\n")),
        _ => judge_kernel(&format!("```python\n{response}\n```\n")),
    }
});

fn score<P: Plugin>(response: &str, label: &str) -> Result<Outcome, Error> {
    P::run_stage("score", "{}", &Request::new("", response, label), None)
}

fn judge_kernel(response: &str) {
    let request = Request::new("", response, CUDA_LABEL);
    let ended = compile_kernel(&World::default(), "compile", "{}", &request, None);
    ended.expect("a response makes no error of the platform");
}

/// The text, of which the part in the middle comes so often that it has [`RESPONSE_BYTES`].
fn stretched(text: &str, head: u8, tail: u8) -> String {
    let part = |share: u8| text.len() * usize::from(share) / 256;
    let begin = text.floor_char_boundary(part(head));
    let end = text.floor_char_boundary(text.len() - part(tail)).max(begin);
    let middle = &text[begin..end];
    let times = RESPONSE_BYTES.saturating_sub(text.len()) / middle.len().max(1);
    [&text[..begin], &middle.repeat(times + 1), &text[end..]].concat()
}
