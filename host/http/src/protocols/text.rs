//! Values that trainers write in several forms, such as a prompt as a text or as messages.

use serde::Deserialize;
use serde_json::value::RawValue;

/// A text, or messages whose texts it is.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(
    untagged,
    expecting = "expected a text, or a list of messages, whose `content` is a text or a list of parts"
)]
#[schema(as = TrainerPrompt)]
pub(super) enum Prompt {
    Text(String),
    Messages(Vec<Message>),
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
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(untagged, expecting = "expected a text, or a list of parts, which may have a `text`")]
#[schema(as = TrainerContent)]
pub(super) enum Content {
    #[default]
    Absent,
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = TrainerContentPart)]
pub(super) struct Part {
    #[serde(default)]
    text: Option<String>,
}

impl Prompt {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Messages(messages) => {
                let texts: Vec<String> =
                    messages.into_iter().map(|it| it.content.into_text()).collect();
                texts.join("\n\n")
            }
        }
    }
}

impl Default for Prompt {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Content {
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Absent => String::new(),
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

/// A label that is there; `null` is none.
pub(super) fn label(label: Option<Box<RawValue>>) -> Option<Box<RawValue>> {
    label.filter(|label| label.get() != "null")
}
