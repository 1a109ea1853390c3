//! Publication refuses schemas that are slow, deep or large, and those that pass are none of it.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// Far more than any of these takes, far less than an exponential one would.
const PATIENCE: Duration = Duration::from_secs(30);

fn compiled(schema: &Value) -> Schema {
    Schema::compile(&schema.to_string()).unwrap_or_else(|why| panic!("{schema}: {why}"))
}

fn refused(schema: &Value) -> String {
    match Schema::compile(&schema.to_string()) {
        Ok(_) => panic!("{schema} must be refused"),
        Err(why) => why,
    }
}

fn problem(schema: &Value, value: &Value) -> String {
    match compiled(schema).validate(&value.to_string()) {
        Ok(()) => panic!("{value} matches {schema}"),
        Err(mismatch) => mismatch.about("label"),
    }
}

#[test]
fn a_chain_of_refs_that_doubles_is_refused_at_once() {
    let started = Instant::now();
    let mut parts = serde_json::Map::new();
    for at in 0..25 {
        let next = json!({ "$ref": format!("#/$defs/part{}", at + 1) });
        parts.insert(format!("part{at}"), json!({ "allOf": [next, next] }));
    }
    parts.insert("part25".into(), json!({ "type": "string" }));
    let why = refused(&json!({ "$defs": parts, "$ref": "#/$defs/part0" }));
    assert!(why.contains("levels") || why.contains("JSON values"), "{why}");
    // A chain of few levels with many targets each.
    let mut parts = serde_json::Map::new();
    for at in 0..6 {
        let next = json!({ "$ref": format!("#/$defs/part{}", at + 1) });
        parts.insert(format!("part{at}"), json!({ "anyOf": vec![next; 12] }));
    }
    parts.insert("part6".into(), json!({ "type": "string" }));
    let why = refused(&json!({ "$defs": parts, "$ref": "#/$defs/part0" }));
    assert!(why.contains("more than 8192 JSON values"), "{why}");
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn a_schema_that_leads_back_to_itself_is_refused() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "properties": { "child": { "$ref": "#" } } }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
        json!({ "$defs": { "tree": { "items": { "$ref": "#/$defs/tree" } } }, "$ref": "#/$defs/tree" }),
    ] {
        let why = refused(&schema);
        assert!(why.contains("leads back to itself"), "{schema}: {why}");
    }
}

#[test]
fn what_is_elsewhere_is_refused_and_never_fetched() {
    for target in ["https://example.com/a.json", "other.json", "file:///etc/passwd", "#name"] {
        let why = refused(&json!({ "$ref": target }));
        assert!(why.contains(target) && why.contains("nothing is fetched"), "{why}");
    }
    assert!(refused(&json!({ "$ref": "#/$defs/missing" })).contains("has nothing there"));
    for name in ["$id", "$schema", "$dynamicRef", "$recursiveRef"] {
        let why = refused(&json!({ "items": { name: "https://example.com/" } }));
        assert!(why.contains(name), "{why}");
    }
    let why = refused(&json!({ "$schema": "http://json-schema.org/draft-04/schema#" }));
    assert!(why.contains("2020-12"), "{why}");
    // A schema may not pose as the one that schemas are checked by.
    let posing = json!({
        "$id": "https://json-schema.org/draft/2020-12/schema", "$ref": "#/$defs/a", "$defs": { "a": true },
    });
    assert_eq!(compiled(&posing).validate("1"), Ok(()));
}

#[test]
fn a_pattern_must_suit_an_engine_without_backtracking() {
    for pattern in ["(?=a)a", r"(a)\1", "(", "(a{1000}){1000}"] {
        let why = refused(&json!({ "properties": { "name": { "pattern": pattern } } }));
        assert!(why.contains("/properties/name/pattern"), "{why}");
    }
    let why = refused(&json!({ "patternProperties": { "(?!a)b": true } }));
    assert!(why.contains("pattern"), "{why}");
    let started = Instant::now();
    let schema = compiled(&json!({ "pattern": "^(a+)+$" }));
    let text = Value::from(format!("{}!", "a".repeat(50_000))).to_string();
    assert!(schema.validate(&text).is_err());
    assert!(started.elapsed() < PATIENCE);
    let many: Vec<Value> = (0..40).map(|at| json!({ "pattern": format!("a{at}") })).collect();
    assert!(refused(&json!({ "anyOf": many })).contains("patterns"));
}

#[test]
fn depth_is_bounded_with_refs_followed() {
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }));
    assert!(refused(&nested(limits::SCHEMA_DEPTH_MAX)).contains("64 levels"));
    let deepest = compiled(&nested(limits::SCHEMA_DEPTH_MAX - 1));
    let value = (0..120).fold(json!(1), |inner, _| json!([inner]));
    // On a stack of the size that the server's threads have.
    let check = move || deepest.validate(&value.to_string());
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(check).expect("a thread");
    assert_eq!(thread.join().expect("no overflow"), Ok(()));
    // Each definition is flat, and their chain is deep.
    let mut parts = serde_json::Map::new();
    for at in 0..40 {
        let next = json!({ "items": { "$ref": format!("#/$defs/part{}", at + 1) } });
        parts.insert(format!("part{at}"), next);
    }
    parts.insert("part40".into(), json!({}));
    assert!(refused(&json!({ "$defs": parts })).contains("64 levels"));
}

#[test]
fn rules_that_look_back_count_several_times() {
    let nested = (0..12)
        .fold(json!({}), |inner, _| json!({ "allOf": [inner], "unevaluatedProperties": false }));
    assert!(refused(&nested).contains("JSON values"));
}

#[test]
fn what_is_no_schema_is_refused_with_its_place() {
    let why = refused(&json!({ "properties": { "size": { "type": "nonsense" } } }));
    assert!(why.contains("/properties/size/type"), "{why}");
    assert!(refused(&json!({ "required": "name" })).contains("/required"));
    assert!(Schema::compile("{").is_err_and(|why| why.contains("not JSON")));
    assert!(Schema::compile("7").is_err());
    let long = format!(r#"{{"title": "{}"}}"#, "a".repeat(limits::SCHEMA_BYTES_MAX));
    assert!(Schema::compile(&long).is_err_and(|why| why.contains("limit")));
    let error = PluginSchemas::compile("", r#"{"type": 5}"#).expect_err("refused");
    assert_eq!(error.field, "label-schema");
    assert!(error.to_string().starts_with("label-schema: "), "{error}");
    let error = PluginSchemas::compile(r#"{"type": 5}"#, "").expect_err("refused");
    assert_eq!(error.field, "settings-schema");
}

#[test]
fn an_error_names_the_field_the_rule_and_the_kind() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["tests"],
        "$defs": { "case": { "type": "object", "required": ["input"], "properties": {
            "input": { "type": "string", "maxLength": 3 } } } },
        "properties": {
            "tests": { "type": "array", "items": { "$ref": "#/$defs/case" } },
            "mode": { "enum": ["exact", "tokens"] },
        },
    });
    for (value, expected) in [
        (json!([]), "label must be of type object; it is an array (rule `type`)"),
        (json!({}), "label lacks \"tests\"; it is an object (rule `required`)"),
        (
            json!({ "tests": [{ "input": "a" }, { "input": 5 }] }),
            "label at `/tests/1/input` must be of type string; it is a number (rule `type`)",
        ),
        (
            json!({ "tests": [{ "input": "long" }] }),
            "label at `/tests/0/input` must have at most 3 characters; it is a string (rule `maxLength`)",
        ),
        (
            json!({ "tests": [], "mode": null }),
            "label at `/mode` must be one of [\"exact\",\"tokens\"]; it is null (rule `enum`)",
        ),
        (
            json!({ "tests": [], "tset": 1 }),
            "label has \"tset\", which the schema does not know; it is an object (rule `additionalProperties`)",
        ),
    ] {
        assert_eq!(problem(&schema, &value), expected);
    }
}

#[test]
fn of_several_forms_the_one_that_was_meant_is_told() {
    let case = json!({ "type": "object", "properties": { "size": { "type": "integer" } } });
    let schema = json!({ "anyOf": [
        { "type": "null" }, { "type": "array", "items": case, "maxItems": 2 }, { "type": "string" },
    ] });
    let told = problem(&schema, &json!([{ "size": 1 }, { "size": "1" }]));
    assert!(told.starts_with("label at `/1/size` must be of type integer"), "{told}");
    let told = problem(&schema, &json!([{}, {}, {}]));
    assert!(told.starts_with("label must have at most 2 items"), "{told}");
    let told = problem(&schema, &json!(5));
    assert!(told.starts_with("label matches none of the schema's 3 forms"), "{told}");
}

#[test]
fn an_error_is_short_and_has_nothing_invisible() {
    let name = "\u{1b}[31m\u{202e}\n".repeat(500);
    let told = problem(&json!({ "additionalProperties": false }), &json!({ name.clone(): 1 }));
    assert!(told.chars().count() < 600 && !told.contains(char::is_control), "{told}");
    assert!(!told.contains('\u{202e}'), "{told}");
    let told =
        problem(&json!({ "additionalProperties": { "type": "string" } }), &json!({ name: 1 }));
    assert!(told.chars().count() < 600 && !told.contains(char::is_control), "{told}");
    let why = refused(&json!({ "$ref": "x\u{7}".repeat(1_000) }));
    assert!(why.chars().count() < 600 && !why.contains(char::is_control), "{why}");
}

#[test]
fn what_cannot_be_read_does_not_match() {
    let schema = compiled(&json!({ "type": "array" }));
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    assert!(schema.validate(&deep).is_err());
    assert!(compiled(&json!({ "type": "number" })).validate("1e999").is_err());
}

#[test]
fn a_large_value_is_validated_without_its_field_and_a_huge_one_not_at_all() {
    let forms: Vec<Value> =
        (0..60).map(|at| json!({ "items": { "type": "string", "minLength": at } })).collect();
    let schema = compiled(&json!({ "anyOf": forms }));
    let value = |items: usize| format!("[{}0]", "0,".repeat(items));
    assert_eq!(schema.work(&value(5)), ValidationWork::Quick);
    let text = Value::from("x".repeat(2_000)).to_string();
    assert_eq!(schema.work(&text), ValidationWork::Quick, "one part, however long");
    let large = value(10_000);
    assert_eq!(schema.work(&large), ValidationWork::Long);
    let told = schema.validate(&large).map_err(|mismatch| mismatch.about("label"));
    assert!(told.is_err_and(|told| told.contains("too large to say where")));
    assert_eq!(schema.validate(&value(400_000)), Ok(()));
}

#[test]
fn equal_hashes_do_not_make_it_slow() {
    // All of these have the same hash, and no two are equal.
    let item = |at: u32| {
        let parts = (0..12).map(|bit| if at >> bit & 1 == 0 { "1,[2]" } else { "[1],2" });
        format!("[{}]", parts.collect::<Vec<_>>().join(","))
    };
    let items: Vec<String> = (0..4_096).map(item).collect();
    let started = Instant::now();
    let schema = compiled(&json!({ "uniqueItems": true }));
    // It is over the limit of steps, and passes as it is.
    assert_eq!(schema.validate(&format!("[{}]", items.join(","))), Ok(()));
    assert!(started.elapsed() < PATIENCE);
    assert!(schema.validate("[1, 2, 1]").is_err());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c]{0,3}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{0,2}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Schemas of the keywords that take schemas, with refs to three definitions.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({ "$ref": "#/$defs/a" })),
        Just(json!({ "$ref": "#/$defs/b" })),
        Just(json!({ "$ref": "#/$defs/c" })),
        Just(json!({ "type": "string", "pattern": "^(a|b)+$" })),
        Just(json!({ "type": ["array", "object"], "uniqueItems": true })),
        Just(json!({ "enum": [1, "a", null, [], {}] })),
        Just(json!(true)),
        Just(json!(false)),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let many = prop::collection::vec(inner.clone(), 1..4);
        let named = prop::collection::btree_map("[a-c]{1,2}", inner.clone(), 1..4);
        prop_oneof![
            many.clone().prop_map(|of| json!({ "anyOf": of })),
            many.clone().prop_map(|of| json!({ "oneOf": of })),
            many.prop_map(|of| json!({ "allOf": of, "unevaluatedProperties": false })),
            inner.clone().prop_map(|of| json!({ "items": of })),
            inner.clone().prop_map(|of| json!({ "not": of })),
            inner.clone().prop_map(|of| json!({ "if": of, "then": of, "else": of })),
            inner.clone().prop_map(|of| json!({ "contains": of })),
            inner.prop_map(|of| json!({ "additionalProperties": of, "propertyNames": of })),
            named.prop_map(|of| json!({ "properties": of, "required": ["a"] })),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_schema_is_slow_and_no_error_is_long(
        root in any_schema(), a in any_schema(), b in any_schema(), c in any_schema(),
        values in prop::collection::vec(any_value(), 1..5),
    ) {
        let schema = json!({ "$defs": { "a": a, "b": b, "c": c }, "allOf": [root] });
        let started = Instant::now();
        match Schema::compile(&schema.to_string()) {
            Err(why) => prop_assert!(why.chars().count() < 600, "{}", why),
            Ok(compiled) => for value in &values {
                if let Err(mismatch) = compiled.validate(&value.to_string()) {
                    let told = mismatch.about("label");
                    prop_assert!(told.chars().count() < 600, "{}", told);
                    let exists = value.pointer(&mismatch.pointer).is_some();
                    prop_assert!(exists, "{} has no {}", value, mismatch.pointer);
                }
            },
        }
        prop_assert!(started.elapsed() < PATIENCE);
    }

    #[test]
    fn a_flat_schema_has_the_size_of_its_text(schema in any_value()) {
        let nodes = |value: &Value| count_plain(value);
        if let Ok(size) = bounds::measure(&schema) {
            prop_assert_eq!(size.nodes, nodes(&schema));
        }
    }
}

fn count_plain(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(count_plain).sum::<u64>(),
        Value::Object(object) => 1 + object.values().map(count_plain).sum::<u64>(),
        _ => 1,
    }
}

#[test]
fn the_schemas_of_the_plugins_that_ship_are_far_from_the_limits() {
    for text in [
        include_str!("../../../../plugins/code/src/schema/label.json"),
        include_str!("../../../../plugins/code/src/schema/settings.json"),
        include_str!("../../../../plugins/cuda/src/schema/label.json"),
        include_str!("../../../../plugins/cuda/src/schema/settings.json"),
        include_str!("../../../../plugins/run/src/schema.json"),
    ] {
        let schema = Schema::compile(text).expect("it can be used");
        assert!(schema.size.nodes * 4 < limits::SCHEMA_NODES_MAX, "{:?}", schema.size);
        assert!(schema.size.depth * 2 < limits::SCHEMA_DEPTH_MAX, "{:?}", schema.size);
    }
}

/// A data set's columns hold null where a row has nothing, and plugins take that for absent.
#[test]
fn labels_of_the_plugins_that_ship_pass() {
    let code = Schema::compile(include_str!("../../../../plugins/code/src/schema/label.json"));
    let cuda = Schema::compile(include_str!("../../../../plugins/cuda/src/schema/label.json"));
    let (code, cuda) = (code.expect("valid"), cuda.expect("valid"));
    let limits = json!({ "cpu_ms": null, "memory_mib": 256 });
    for label in [
        json!({ "tests": "judge/sum", "language": null, "checker": null, "compare": null }),
        json!({ "tests": [{ "input": "1", "output": null }], "limits": limits }),
        json!({ "entry_point": "f", "cases": [{ "expected": 1 }], "prompt": null, "compare": null }),
        json!({ "tests_code": ["assert f(1)"], "entry_point": null, "prompt": null }),
    ] {
        assert_eq!(code.validate(&label.to_string()), Ok(()), "{label}");
    }
    for (schema, rows) in [
        (&code, include_str!("../../../../plugins/code/sample.jsonl")),
        (&cuda, include_str!("../../../../plugins/cuda/sample.jsonl")),
    ] {
        for row in rows.lines() {
            let row: Value = serde_json::from_str(row).expect("JSON a line");
            assert_eq!(schema.validate(&row["label"].to_string()), Ok(()), "{row}");
        }
    }
}
