//! One item of a submission: its checks, and the bytes that are stored and sent to workers.

use std::collections::HashMap;
use std::fmt;

use assay_api::request::SubmitItem;
use assay_core::limits;
use assay_wire::proto;
use prost::Message as _;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::name::check_text;
use super::object;

/// The length of the reason why an item cannot be read.
const PROBLEM_CHARS_MAX: usize = 1_000;

/// A valid item, ready to be stored.
pub(crate) struct Item {
    pub(crate) key: String,
    pub(crate) group: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) expected_ms: Option<u32>,
}

impl From<SubmitItem> for Item {
    fn from(item: SubmitItem) -> Self {
        let body = encode(item.prompt, item.response, item.label, item.metadata);
        Self { key: item.key, group: item.group, body, expected_ms: item.expected_ms }
    }
}

/// Parses an item and checks its sizes; the error is its key, if it could be read, and the reason.
pub(crate) fn read(json: &[u8]) -> Result<SubmitItem, (String, String)> {
    if json.len() > limits::ITEM_BYTES_MAX {
        return Err((String::new(), too_long()));
    }
    let item: SubmitItem = object::read(json).map_err(|error| unreadable(json, &error))?;
    match check(&item) {
        Ok(()) => Ok(item),
        Err(detail) => Err((shown(&item.key), detail)),
    }
}

/// The key of an item that cannot be read, and the text that is at fault, such as a prompt that is null or has half of a
/// surrogate pair; as far as they can be told.
fn unreadable(json: &[u8], error: &serde_json::Error) -> (String, String) {
    // A name in it may be as long as the item.
    let brief = |why: String| why.chars().take(PROBLEM_CHARS_MAX).collect::<String>();
    let detail = brief(format!("the item is not readable: {error}"));
    let Ok(fields) = object::read::<HashMap<String, &RawValue>>(json) else {
        return (String::new(), detail);
    };
    let text = |name| fields.get(name).map(|value| serde_json::from_str::<String>(value.get()));
    let key = text("key").and_then(Result::ok).unwrap_or_default();
    let fault = ["key", "prompt", "response"].into_iter().find_map(|name| {
        let problem = text(name)?.err()?;
        Some(brief(format!("{name} is not readable: {problem}")))
    });
    (shown(&key), fault.unwrap_or(detail))
}

fn shown(key: &str) -> String {
    key.chars().take(limits::KEY_BYTES_MAX).collect()
}

pub(crate) fn too_long() -> String {
    format!("the item has more than {} bytes", limits::ITEM_BYTES_MAX)
}

fn check(item: &SubmitItem) -> Result<(), String> {
    check_text("key", &item.key, limits::KEY_BYTES_MAX)?;
    if let Some(group) = &item.group {
        check_text("group", group, limits::GROUP_BYTES_MAX)?;
    }
    if let Some(expected) = item.expected_ms.filter(|ms| *ms > limits::EXPECTED_MS_MAX) {
        return Err(format!(
            "expected_ms is {expected}, the limit is {} (a day)",
            limits::EXPECTED_MS_MAX
        ));
    }
    check_fields(&item.prompt, &item.response, item.label.as_deref(), item.metadata.as_deref())
}

/// Checks the sizes of the fields that the plugin gets.
pub(crate) fn check_fields(
    prompt: &str,
    response: &str,
    label: Option<&RawValue>,
    metadata: Option<&RawValue>,
) -> Result<(), String> {
    let json = |value: Option<&RawValue>| value.map_or(0, |value| value.get().len());
    for (what, bytes, bytes_max) in [
        ("prompt", prompt.len(), limits::PROMPT_BYTES_MAX),
        ("response", response.len(), limits::RESPONSE_BYTES_MAX),
        ("label", json(label), limits::LABEL_BYTES_MAX),
        ("metadata", json(metadata), limits::METADATA_BYTES_MAX),
    ] {
        if bytes > bytes_max {
            return Err(format!("{what} has {bytes} bytes, the limit is {bytes_max}"));
        }
    }
    check_readable("label", label)?;
    check_readable("metadata", metadata)
}

/// Refuses what JSON's grammar allows and no plugin can read: half of a surrogate pair, a number beyond a double, and more than
/// 127 levels.
fn check_readable(what: &str, value: Option<&RawValue>) -> Result<(), String> {
    let Some(value) = value else { return Ok(()) };
    serde_json::from_str::<Readable>(value.get())
        .map(drop)
        .map_err(|error| format!("{what} is not readable: {error}"))
}

/// Any value, read to its end and forgotten. `IgnoredAny` would pass over its texts and numbers unread.
struct Readable;

impl<'de> Deserialize<'de> for Readable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Readable {
    type Value = Self;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self, A::Error> {
        while fields.next_entry::<Self, Self>()?.is_some() {}
        Ok(self)
    }
}

/// The bytes that are stored and sent to workers.
pub(crate) fn encode(
    prompt: String,
    response: String,
    label: Option<Box<RawValue>>,
    metadata: Option<Box<RawValue>>,
) -> Vec<u8> {
    let json =
        |value: Option<Box<RawValue>>| value.map(Box::<str>::from).unwrap_or_default().into();
    proto::Body { prompt, response, label: json(label), metadata: json(metadata) }.encode_to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_keeps_its_label_as_json_text() {
        let item = read(br#"{"key":"a","response":"x","label":{"answer": 4}}"#);
        let item = Item::from(item.unwrap_or_else(|(_, detail)| panic!("{detail}")));
        let body = proto::Body::decode(&item.body[..]).expect("encoded here");
        assert_eq!(body.label, r#"{"answer": 4}"#);
        assert_eq!(body.metadata, "");
    }

    #[test]
    fn an_unreadable_text_is_named_with_its_item() {
        for (json, detail) in [
            (
                r#"{"key":"a","response":"x","prompt":null}"#,
                "prompt is not readable: invalid type: null",
            ),
            (r#"{"key":"a","response":"x\ud800"}"#, "response is not readable: "),
            (r#"{"key":"a","response":"x","label":"\ude00"}"#, "label is not readable: "),
            (r#"{"key":"a","response":"x","metadata":["\ud800"]}"#, "metadata is not readable: "),
            (r#"{"key":"a","response":"x","label":1e999}"#, "label is not readable: number out"),
            (r#"{"key":"a","response":"x","metadata":{"a":-2e308}}"#, "metadata is not readable: "),
            (r#"{"key":"a","response":7}"#, "response is not readable: invalid type: integer"),
            (r#"{"key":"a","response":"x","group":7}"#, "the item is not readable: invalid type"),
        ] {
            let Err((key, told)) = read(json.as_bytes()) else { panic!("{json}") };
            assert_eq!(key, "a");
            assert!(told.starts_with(detail), "{told}");
        }
    }

    #[test]
    fn a_label_of_any_kind_is_readable_to_its_127th_level() {
        let label = |json: &str| {
            let item = format!(r#"{{"key":"a","response":"x","label":{json}}}"#);
            read(item.as_bytes()).map(drop).map_err(|(_, told)| told)
        };
        for json in ["true", "-7", "1.5e300", r#""\ud83d\ude00""#, r#"{"a":[null,{"b":18}]}"#] {
            assert_eq!(label(json), Ok(()), "{json}");
        }
        let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
        assert_eq!(label(&nested(127)), Ok(()));
        let told = label(&nested(128)).expect_err("it is too deep");
        assert!(told.starts_with("label is not readable: recursion limit exceeded"), "{told}");
    }

    #[test]
    fn a_bad_item_is_named_by_what_is_wrong() {
        let detail = |json: &str| read(json.as_bytes()).err().map(|(_, detail)| detail);
        assert!(detail("{").is_some_and(|detail| detail.contains("not readable")));
        assert!(
            detail(r#"{"key":"","response":""}"#)
                .is_some_and(|detail| detail.contains("key is empty"))
        );
        assert!(detail(r#"{"key":"a"}"#).is_some_and(|detail| detail.contains("response")));
        assert!(
            detail(r#"{"key":"a\u0000","response":""}"#)
                .is_some_and(|detail| detail.contains("control"))
        );
        assert!(
            detail(r#"{"key":"a","response":"","expected_ms":86400001}"#)
                .is_some_and(|detail| detail.contains("the limit is 86400000"))
        );
        assert!(
            detail(r#"{"key":"a","response":"","answr":1}"#)
                .is_some_and(|detail| detail.contains("answr"))
        );
    }
}
