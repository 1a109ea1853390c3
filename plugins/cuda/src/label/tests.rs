//! Labels that are taken, and every way in which one is refused.

use assay_plugin::gpu::{Arg, Dim3};
use serde_json::{Value, json};

use super::*;

fn label() -> Value {
    json!({
        "task": "scale",
        "buffers": {
            "x": {"dtype": "fp32", "shape": ["n", 2], "role": "input", "init": {"uniform": [-1, 1]}},
            "count": {"dtype": "i32", "shape": [16], "role": "inout", "init": "zeros"},
            "y": {"dtype": "fp16", "shape": ["n * 2"], "role": "output"},
        },
        "scalars": {"n": "i32", "alpha": "fp32"},
        "arguments": ["x", "count", "y", "n", "alpha"],
        "tensors": {"arguments": ["x", "count", "alpha"], "returns": ["y"]},
        "sizes": [{"n": 8, "alpha": 0.5}, {"n": 1000, "alpha": 2}],
        "held_out": [{"n": 7, "alpha": -1}],
        "entry": "scale",
        "launch": {"grid": ["ceil_div(n, 256)", 2], "block": [256], "shared_bytes": "4 * n"},
        "reference": {"source": "...", "entry": "reference"},
    })
}

fn read(label: &Value) -> Result<Task, Error> {
    Task::read(&Request::new("", "", &label.to_string()))
}

#[test]
fn a_label_becomes_sizes() {
    let task = read(&label()).expect("a label");
    let sizes = task.checked();
    let shown: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["size 1 (alpha=0.5, n=8)", "size 2 (alpha=2, n=1000)", "a held-out size"]);
    // By name: count, x, y.
    assert_eq!(sizes[1].shapes, [vec![16], vec![1_000, 2], vec![2_000]]);
    assert_eq!((sizes[1].count(1), sizes[1].bytes(&task, 2)), (2_000, 4_000));
    assert_eq!(sizes[1].scalars["alpha"].to_arg(), Arg::Fp32(2.0));
    let launch = task.launch.as_ref().expect("a launch");
    let shape = sizes[1].launch(launch);
    assert_eq!((shape.grid, shape.shared_bytes), (Dim3 { x: 4, y: 2, z: 1 }, 4_000));
    assert_eq!(task.timed().shapes, sizes[1].shapes, "the last of the stated sizes");
    assert_eq!(task.timed().to_string(), "the timed size");
}

#[test]
fn the_schema_names_every_key() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let mut unknown = label();
    unknown["?"] = json!(1);
    let Err(Error::BadRequest(problem)) = read(&unknown) else { panic!("it was taken") };
    let mut known: Vec<&str> = problem.split('`').skip(1).step_by(2).skip(1).collect();
    known.sort_unstable();
    let properties = schema["properties"].as_object().expect("an object");
    assert_eq!(properties.keys().map(String::as_str).collect::<Vec<_>>(), known);
    for name in schema["required"].as_array().expect("names") {
        let mut without = label();
        without.as_object_mut().expect("an object").remove(name.as_str().expect("a name"));
        assert!(matches!(read(&without), Err(Error::BadRequest(_))), "{name}");
    }
}

/// A label in which the value at this place is another one.
fn check(place: &str, value: Value, reason: &str) {
    let mut label = label();
    match label.pointer_mut(place) {
        Some(there) => *there = value,
        None => {
            let (parent, key) = place.rsplit_once('/').expect("a place");
            label.pointer_mut(parent).expect("an object")[key] = value;
        }
    }
    match read(&label) {
        Err(Error::BadRequest(problem)) => {
            assert!(
                problem.starts_with("label: ") && problem.contains(reason),
                "{place}: {problem}"
            );
        }
        other => panic!("{place}: {other:?}"),
    }
}

#[test]
fn malformed_parts_are_named() {
    check("/buffers/x/dtype", json!("float"), "unknown variant `float`");
    check("/buffers/x/role", json!("in"), "unknown variant `in`");
    check("/buffers/x/init", json!({"poisson": [1]}), "poisson");
    check("/buffers/x/size", json!(1), "unknown field `size`");
    check("/scalars/n", json!("u8"), "unknown variant `u8`");
    check("/task", json!(""), "task: 1 to 128 bytes");
    check("/entry", json!("a b"), "entry: `a b` is not a name");
    check("/reference/entry", json!("1a"), "reference: entry: `1a` is not a name");
    check("/reference/source", json!(""), "reference: source: 1 to");
    check("/baseline", json!({"source": "", "entry": "a"}), "baseline: source");
    check("/baseline_ns", json!({"a GPU": 0}), "baseline_ns: a time is 1 nanosecond or more");
    check("/sizes", json!([]), "sizes: 1 to 16 are needed, not 0");
    let many: serde_json::Map<String, Value> = (0..49)
        .map(|at| (format!("b{at}"), json!({"dtype": "i8", "shape": [1], "role": "output"})))
        .collect();
    let mut wide = label();
    wide["buffers"] = json!(many);
    wide["sizes"] = json!(vec![json!({"n": 1, "alpha": 1}); 4]);
    let Err(Error::BadRequest(problem)) = read(&wide) else { panic!("it was taken") };
    assert!(problem.contains("at most 240 over all sizes and held_out, not 245"), "{problem}");
    check("/held_out", json!(vec![json!({"n": 1, "alpha": 1}); 17]), "held_out: 0 to 16");
}

#[test]
fn names_must_be_known_once_and_enough() {
    check("/arguments", json!(["x", "y", "z"]), "arguments: there is no buffer or scalar `z`");
    check("/arguments", json!(["x", "x", "y", "count"]), "arguments: `x` comes twice");
    check("/arguments", json!(["x", "count"]), "arguments: the output `y` is missing");
    check("/tensors/returns", json!([]), "tensors: the output `y` is missing");
    check(
        "/tensors",
        json!({"arguments": ["x", "y"], "returns": ["count"]}),
        "`count` is not an output",
    );
    check("/tensors/arguments", json!(["x", "count", "y"]), "tensors: `y` comes twice");
    check("/scalars/x", json!("i32"), "`x` is a buffer and a scalar");
    let input = json!({"x": {"dtype": "fp32", "shape": [1], "role": "input", "init": "zeros"}});
    check("/buffers", input, "there is no buffer or scalar `count`");
}

#[test]
fn inits_fit_their_types() {
    check("/buffers/y/init", json!("zeros"), "buffers.y: an output is poisoned");
    check("/buffers/x/init", json!(null), "buffers.x: it needs an `init`");
    check("/buffers/count/init", json!({"normal": [0, 1]}), "integers are made by");
    check(
        "/buffers/count/init",
        json!({"integers": [0, 1_i64 << 31]}),
        "must be -2147483648 to 2147483647",
    );
    check("/buffers/count/init", json!({"integers": [2, 1]}), "the lower number first");
    check("/buffers/x/init", json!({"uniform": [1, 1]}), "the lower one first");
    check("/buffers/x/init", json!({"normal": [0, 0]}), "a deviation above 0");
    let bytes = json!({"dtype": "i8", "shape": [129], "role": "inout", "init": "permutation"});
    check("/buffers/count", bytes, "count: the permutation does not fit");
}

#[test]
fn sizes_make_sense() {
    check("/sizes/1", json!({"n": 5}), "at {n=5}: `alpha` is missing");
    check("/held_out/0", json!({"alpha": 5}), "at {alpha=5}: `n` is missing");
    check("/sizes/0/n", json!(0), "x: a dimension must be at least 1, not 0");
    check("/sizes/0/n", json!(1.5), "`n` does not fit its type");
    check("/sizes/0/n", json!(1_i64 << 31), "`n` does not fit its type");
    check("/sizes/0/n", json!(i64::from(i32::MAX)), "the buffers take more than 8589934592 bytes");
    check("/sizes/0/alpha", json!(1e300), "`alpha` does not fit its type");
    check("/timed", json!({"alpha": 1}), "`n` is missing");
    check("/buffers/x/shape", json!(["n *"]), "x: `n *`, at character 4: it ends too early");
    check("/buffers/x/shape", json!(["alpha"]), "the size gives no integer `alpha`");
    check("/buffers/x/shape", json!([1, 1, 1, 1, 1, 1, 1, 1, 1]), "buffers.x: shape: 0 to 8");
    check("/buffers/x/shape", json!([i64::MAX, i64::MAX, 4]), "the buffers take more than");
}

#[test]
fn launches_and_tolerances_make_sense() {
    check("/launch/grid", json!([]), "launch: grid: one to three numbers");
    check("/launch/grid", json!([0]), "launch: grid: 0 is out of range");
    check("/launch/block", json!([1024, 2]), "launch: block: at most 1024 threads");
    check("/launch/shared_bytes", json!(-1), "launch: shared_bytes: -1 is out of range");
    check("/launch/shared_bytes", json!("m"), "launch: shared_bytes: `m`, at character 1");
    check("/reference/launch", json!({"grid": ["n / 0"], "block": [1]}), "division by zero");
    check("/tolerance", json!({"absolute": -1}), "must not be negative");
    check("/tolerance", json!({"matched_ratio": 0}), "matched_ratio must be above 0");
    check("/tolerance", json!({"ratio": 1}), "unknown field `ratio`");
}
