//! The size of a schema with every `$ref` replaced by its target, within limits.

use std::collections::HashMap;

use assay_core::limits;
use serde_json::{Map, Value};

use crate::mismatch::shown;

/// The drafts of JSON Schema that are understood, by `$schema`.
const DRAFTS: &[(&str, jsonschema::Draft)] = &[
    ("https://json-schema.org/draft/2020-12/schema", jsonschema::Draft::Draft202012),
    ("https://json-schema.org/draft/2019-09/schema", jsonschema::Draft::Draft201909),
    ("http://json-schema.org/draft-07/schema", jsonschema::Draft::Draft7),
    ("http://json-schema.org/draft-06/schema", jsonschema::Draft::Draft6),
];

/// How often its part of a value is visited by a schema with `unevaluatedProperties`: once for itself, and
/// up to twice to find what the rest of it evaluated.
const UNEVALUATED_VISITS: u64 = 3;

/// A text is read by a pattern at the cost of this many steps a byte.
const PATTERN_STEPS: u64 = 256;

/// The size of a schema, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SchemaSize {
    /// JSON values.
    pub nodes: u64,
    pub patterns: u64,
    /// Other rules that read a whole text.
    pub text_rules: u64,
    /// Rules that may compare every part of a value with every other one.
    pub pair_rules: u64,
    /// Levels.
    pub depth: usize,
}

impl SchemaSize {
    /// The steps of validating a value of so many parts and bytes, at the most.
    pub(crate) fn steps(&self, parts: u64, bytes: u64) -> u64 {
        let per_byte = 1 + self.text_rules + self.patterns * PATTERN_STEPS;
        let pairs = parts.saturating_mul(parts).saturating_mul(self.pair_rules);
        parts
            .saturating_mul(self.nodes)
            .saturating_add(bytes.saturating_mul(per_byte))
            .saturating_add(pairs)
    }

    fn add(&mut self, part: Self) {
        self.nodes = self.nodes.saturating_add(part.nodes);
        self.patterns = self.patterns.saturating_add(part.patterns);
        self.text_rules = self.text_rules.saturating_add(part.text_rules);
        self.pair_rules = self.pair_rules.saturating_add(part.pair_rules);
        self.depth = self.depth.max(part.depth + 1);
    }

    fn times(self, factor: u64) -> Self {
        Self {
            nodes: self.nodes.saturating_mul(factor),
            patterns: self.patterns.saturating_mul(factor),
            text_rules: self.text_rules.saturating_mul(factor),
            pair_rules: self.pair_rules.saturating_mul(factor),
            depth: self.depth,
        }
    }
}

/// The draft of a schema. `$schema` and `$id` are taken off it: nothing may refer to them.
pub(crate) fn take_draft(schema: &mut Value) -> Result<jsonschema::Draft, String> {
    let Value::Object(object) = schema else { return Ok(jsonschema::Draft::Draft202012) };
    object.remove("$id");
    let Some(named) = object.remove("$schema") else { return Ok(jsonschema::Draft::Draft202012) };
    let uri = named.as_str().unwrap_or_default().trim_end_matches('#');
    let known = DRAFTS.iter().find(|(known, _)| *known == uri);
    known.map(|(_, draft)| *draft).ok_or_else(|| {
        format!(
            "`$schema` is {}; leave it out, or name draft 2020-12, 2019-09, 7 or 6",
            shown(&named.to_string())
        )
    })
}

/// The size of a schema; the error says which limit it is over, and what to do.
pub(crate) fn measure(schema: &Value) -> Result<SchemaSize, String> {
    let size = Walk { root: schema, known: HashMap::new() }.value(schema, 1)?;
    if size.depth > limits::SCHEMA_DEPTH_MAX {
        return Err(too_deep());
    }
    for (what, count, max) in [
        ("JSON values", size.nodes, limits::SCHEMA_NODES_MAX),
        ("patterns", size.patterns, limits::SCHEMA_PATTERNS_MAX),
    ] {
        if count > max {
            return Err(format!(
                "it has more than {max} {what} with every `$ref` replaced by its target; describe less \
                 of the value, and let the plugin check the rest"
            ));
        }
    }
    Ok(size)
}

fn too_deep() -> String {
    let max = limits::SCHEMA_DEPTH_MAX;
    format!(
        "it has more than {max} levels with every `$ref` replaced by its target; describe fewer levels, \
         and let the plugin check the rest"
    )
}

/// Reads every object of a schema as if it were a schema, wherever it stands. So nothing depends on which
/// keywords the validator follows, and what is refused too much is data with a text `$ref`.
struct Walk<'a> {
    root: &'a Value,
    /// Objects and arrays that were reached, by address; `None` while one is being measured.
    known: HashMap<*const Value, Option<SchemaSize>>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a Value, level: usize) -> Result<SchemaSize, String> {
        if level > limits::SCHEMA_DEPTH_MAX {
            return Err(too_deep());
        }
        let leaf = SchemaSize { nodes: 1, depth: 1, ..SchemaSize::default() };
        if !value.is_object() && !value.is_array() {
            return Ok(leaf);
        }
        match self.known.get(&std::ptr::from_ref(value)) {
            Some(Some(size)) => return Ok(*size),
            Some(None) => return Err(String::new()),
            None => {}
        }
        self.known.insert(value, None);
        let mut size = leaf;
        match value {
            Value::Array(items) => {
                for item in items {
                    size.add(self.value(item, level + 1)?);
                }
            }
            Value::Object(object) => size = self.object(object, size, level)?,
            _ => {}
        }
        self.known.insert(value, Some(size));
        Ok(size)
    }

    fn object(
        &mut self,
        object: &'a Map<String, Value>,
        mut size: SchemaSize,
        level: usize,
    ) -> Result<SchemaSize, String> {
        for (name, part) in object {
            size.add(self.value(part, level + 1)?);
            match (name.as_str(), part) {
                ("$ref", Value::String(target)) => size.add(self.target(target, level)?),
                ("$id" | "$schema" | "$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                    return Err(format!(
                        "it has `{name}` inside; refer to parts of the schema by `$ref` with \
                         `#/$defs/NAME` alone"
                    ));
                }
                ("pattern", Value::String(_)) => size.patterns += 1,
                ("patternProperties", Value::Object(patterns)) => {
                    size.patterns += patterns.len() as u64;
                }
                ("minLength" | "maxLength" | "contentEncoding" | "contentMediaType", _) => {
                    size.text_rules += 1;
                }
                // Equal items are found by hashes, which somebody can choose to be equal.
                ("uniqueItems", _) => size.pair_rules += 1,
                _ => {}
            }
        }
        let looks_back =
            ["unevaluatedProperties", "unevaluatedItems"].iter().any(|it| object.contains_key(*it));
        Ok(if looks_back { size.times(UNEVALUATED_VISITS) } else { size })
    }

    /// The size of what a `$ref` refers to.
    fn target(&mut self, target: &'a str, level: usize) -> Result<SchemaSize, String> {
        let named = shown(target);
        let pointer = target.strip_prefix('#').filter(|it| it.starts_with('/') || it.is_empty());
        let pointer = pointer.filter(|it| !it.contains('%')).ok_or_else(|| {
            format!(
                "`$ref` is `{named}`, and nothing is fetched; copy what it names into `$defs`, and \
                 refer to it by `#/$defs/NAME`"
            )
        })?;
        let found = self.root.pointer(pointer).ok_or_else(|| {
            format!("`$ref` is `{named}`, and the schema has nothing there; correct it")
        })?;
        self.value(found, level + 1).map_err(|why| {
            if !why.is_empty() {
                return why;
            }
            format!(
                "`$ref` `{named}` leads back to itself; describe as many levels as you need, without \
                 a cycle, and let the plugin check the rest"
            )
        })
    }
}
