//! The cost of a label or of settings on the way in, and of compiling schemas when they are first used.

use std::hint::black_box;

use assay_schema::{PluginSchemas, Schema};
use criterion::{Criterion, criterion_group, criterion_main};

/// As the plugin `math` declares it.
const MATH_LABEL: &str =
    r#"{"type": ["string", "number", "array"], "items": {"type": ["string", "number"]}}"#;
const CODE_LABEL: &str = include_str!("../../../plugins/code/src/schema/label.json");
const CODE_SETTINGS: &str = include_str!("../../../plugins/code/src/schema/settings.json");

fn code_label() -> String {
    let test = r#"{"input": "1 2 3 4 5 6 7 8\n", "output": "36\n"}"#;
    format!(r#"{{"tests": [{}], "language": "python"}}"#, vec![test; 20].join(", "))
}

fn validate(c: &mut Criterion) {
    let mut group = c.benchmark_group("validate");
    let math = Schema::compile(MATH_LABEL).expect("valid");
    let code = Schema::compile(CODE_LABEL).expect("valid");
    for (name, schema, label) in [
        ("math label, a text", &math, r#""\\frac{1}{2}""#.to_owned()),
        ("math label, four answers", &math, r#"["1/2", "0.5", 0.5, "50\\%"]"#.to_owned()),
        ("code label, 20 tests", &code, code_label()),
        ("math label, refused", &math, r#"{"answer": 4}"#.to_owned()),
    ] {
        group.bench_function(name, |b| b.iter(|| schema.validate(black_box(&label)).is_ok()));
    }
    group.finish();
}

fn compile(c: &mut Criterion) {
    c.bench_function("compile the schemas of code", |b| {
        b.iter(|| PluginSchemas::compile(black_box(CODE_SETTINGS), black_box(CODE_LABEL)).is_ok());
    });
}

criterion_group!(benches, validate, compile);
criterion_main!(benches);
