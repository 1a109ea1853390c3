//! Values that trainers write in several forms, such as a prompt as a text or as messages.
//!
//! A list of small messages takes many times the memory of its JSON, so messages and their parts are counted when they
//! are read, and only their texts are kept.

use std::fmt;

use assay_core::limits;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A text, or messages whose texts it is.
#[derive(Debug, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = TrainerPrompt)]
pub(super) enum Prompt {
    Text(String),
    #[schema(value_type = Vec<Message>)]
    Messages(String),
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = TrainerMessage)]
pub(super) struct Message {
    #[serde(default)]
    pub role: String,
    #[serde(default, rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub content: Content,
}

/// A text, or parts among which texts are.
#[derive(Debug, Default, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = TrainerContent)]
pub(super) enum Content {
    #[default]
    Absent,
    Text(String),
    #[schema(value_type = Vec<Part>)]
    Parts(String),
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = TrainerContentPart)]
pub(super) struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Prompt {
    /// The text, or those of all messages with an empty line between them.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Messages(text) => text,
        }
    }
}

impl Default for Prompt {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl<'de> Deserialize<'de> for Prompt {
    fn deserialize<D: Deserializer<'de>>(prompt: D) -> Result<Self, D::Error> {
        prompt.deserialize_any(PromptVisitor)
    }
}

struct PromptVisitor;

impl<'de> Visitor<'de> for PromptVisitor {
    type Value = Prompt;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of messages, whose `content` is a text or a list of parts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Prompt, E> {
        Ok(Prompt::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Prompt, E> {
        Ok(Prompt::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, messages: A) -> Result<Prompt, A::Error> {
        let (mut texts, mut separator) = (String::new(), "");
        each(messages, limits::COMPAT_MESSAGES_MAX, "messages", |message: Message| {
            texts.push_str(separator);
            texts.push_str(&message.content.into_text());
            separator = "\n\n";
        })?;
        Ok(Prompt::Messages(texts))
    }
}

impl Content {
    /// The text, or those of all parts together.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) | Self::Parts(text) => text,
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(content: D) -> Result<Self, D::Error> {
        content.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts, which may have a `text`")
    }

    fn visit_unit<E: Error>(self) -> Result<Content, E> {
        Ok(Content::Absent)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
        Ok(Content::Text(text.to_owned()))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Content, E> {
        Ok(Content::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
        let mut texts = String::new();
        each(parts, limits::COMPAT_PARTS_MAX, "parts", |part: Part| {
            texts.push_str(part.text.as_deref().unwrap_or_default());
        })?;
        Ok(Content::Parts(texts))
    }
}

/// Reads `max` items at most, one after another; the error calls them `what`.
fn each<'de, A, T>(
    mut list: A,
    max: usize,
    what: &str,
    mut read: impl FnMut(T),
) -> Result<(), A::Error>
where
    A: SeqAccess<'de>,
    T: Deserialize<'de>,
{
    let mut count = 0;
    while let Some(item) = list.next_element()? {
        if count == max {
            return Err(A::Error::custom(format!("more than {max} {what}")));
        }
        count += 1;
        read(item);
    }
    Ok(())
}

/// A label that is there; `null` is none.
pub(super) fn label(label: Option<Box<RawValue>>) -> Option<Box<RawValue>> {
    label.filter(|label| label.get() != "null")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<String, String> {
        let prompt: Result<Prompt, _> = serde_json::from_str(json);
        prompt.map(Prompt::into_text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_prompt_is_a_text_or_messages() {
        let check = |json: &str, text: &str| assert_eq!(read(json), Ok(text.to_owned()), "{json}");
        check(r#""6 * 7?""#, "6 * 7?");
        check(r#""6\n7""#, "6\n7");
        check("[]", "");
        check(r#"[{"role":"user","content":"6 * 7?"}]"#, "6 * 7?");
        check(r#"[{"content":null},{},{"content":"a","name":["b"]}]"#, "\n\n\n\na");
        let parts = r#"[{"content":[{"text":"a"},{"image":"b"},{"text":null},{"text":"c"}]}]"#;
        check(parts, "ac");
        for (json, expected) in [
            ("7", "expected a text, or a list of messages"),
            ("null", "expected a text, or a list of messages"),
            (r#"{"content":"a"}"#, "expected a text, or a list of messages"),
            (r#"[{"content":7}]"#, "expected a text, or a list of parts"),
            (r#"[{"content":{}}]"#, "expected a text, or a list of parts"),
        ] {
            let refused = read(json).expect_err(json);
            assert!(refused.contains(expected), "{json}: {refused}");
        }
    }

    /// Each would take many times the memory of its JSON.
    #[test]
    fn too_many_messages_and_parts_are_refused() {
        let list = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        let parts = |count: usize| format!(r#"[{{"content":{}}}]"#, list(count));
        let (messages_max, parts_max) = (limits::COMPAT_MESSAGES_MAX, limits::COMPAT_PARTS_MAX);
        assert!(read(&list(messages_max)).is_ok() && read(&parts(parts_max)).is_ok());
        let refused = read(&list(messages_max + 1)).expect_err("too many messages");
        assert!(refused.starts_with("more than 4096 messages"), "{refused}");
        let refused = read(&parts(parts_max + 1)).expect_err("too many parts");
        assert!(refused.starts_with("more than 4096 parts"), "{refused}");
    }
}
