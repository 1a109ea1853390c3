//! JSON schemas and the values that they are applied to: a plugin's author and a tenant write them, the server
//! evaluates them. The input is a schema, a NUL and a value.
//!
//! A schema that is compiled is within the limits. A schema of the common rules refuses the same values as a naive
//! reading of these rules does. An error is short, whatever the value holds.

#![no_main]

use assay_core::limits::{SCHEMA_BYTES_MAX, SCHEMA_NODES_MAX};
use assay_schema::{PluginSchemas, Schema};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};

const ERROR_BYTES_MAX: usize = 8 << 10;

fuzz_target!(|input: &str| {
    let (schema, value) = input.split_once('\0').unwrap_or((input, "{}"));
    let compiled = match Schema::compile(schema) {
        Ok(compiled) => compiled,
        Err(why) => {
            assert!(why.len() <= ERROR_BYTES_MAX, "{} bytes", why.len());
            return;
        }
    };
    assert!(schema.len() <= SCHEMA_BYTES_MAX);
    let both = PluginSchemas::compile(schema, "").expect("it was compiled before");
    assert!((1..=SCHEMA_NODES_MAX).contains(&both.nodes()));
    let _ = compiled.work(value);
    let validated = compiled.validate(value);
    if let Err(mismatch) = &validated {
        let told = mismatch.about("label");
        assert!(told.len() <= ERROR_BYTES_MAX, "{} bytes", told.len());
    }
    let Ok(value) = serde_json::from_str(value) else {
        assert!(validated.is_err(), "a text that is no JSON was taken");
        return;
    };
    let schema: Value = serde_json::from_str(schema).expect("it was compiled");
    if let Some(fits) = fits(&schema, &value) {
        assert_eq!(validated.is_ok(), fits, "{schema} and {value}");
    }
});

/// Whether a value fits a schema, by reading its rules one by one; `None` where it has other rules.
fn fits(schema: &Value, value: &Value) -> Option<bool> {
    let rules = match schema {
        Value::Bool(all) => return Some(*all),
        Value::Object(rules) => rules,
        _ => return None,
    };
    let mut every = true;
    for (name, rule) in rules {
        every &= fits_rule(rules, name, rule, value)?;
    }
    Some(every)
}

fn fits_rule(rules: &Map<String, Value>, name: &str, rule: &Value, value: &Value) -> Option<bool> {
    let object = value.as_object();
    Some(match name {
        "title" | "description" | "default" | "$comment" => true,
        "type" => match rule {
            Value::Array(kinds) => kinds.iter().any(|kind| is(kind, value)),
            kind => is(kind, value),
        },
        "required" => object.is_none_or(|object| {
            rule.as_array()
                .into_iter()
                .flatten()
                .all(|name| object.contains_key(name.as_str().unwrap_or_default()))
        }),
        "properties" => {
            let mut every = true;
            for (name, part) in rule.as_object()? {
                // Every part is read, so that one with other rules is found.
                let value = object.and_then(|object| object.get(name));
                every &= fits(part, value.unwrap_or(&Value::Null))? || value.is_none();
            }
            every
        }
        "additionalProperties" => {
            if rules.contains_key("patternProperties") {
                return None;
            }
            let known = rules.get("properties").and_then(Value::as_object);
            let mut every = fits(rule, &Value::Null).is_some();
            if !every {
                return None;
            }
            for (name, value) in object.into_iter().flatten() {
                every &= known.is_some_and(|known| known.contains_key(name)) || fits(rule, value)?;
            }
            every
        }
        "minItems" | "maxItems" => {
            let (limit, items) = (rule.as_u64()?, value.as_array().map(|items| items.len() as u64));
            items.is_none_or(
                |items| if name == "minItems" { items >= limit } else { items <= limit },
            )
        }
        "anyOf" | "allOf" => {
            let mut fitting = 0;
            let forms = rule.as_array()?;
            for form in forms {
                fitting += usize::from(fits(form, value)?);
            }
            if name == "allOf" { fitting == forms.len() } else { fitting > 0 }
        }
        "not" => !fits(rule, value)?,
        _ => return None,
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}
