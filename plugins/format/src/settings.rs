//! The settings that a run may choose, checked as a whole before a text is read.

use std::collections::BTreeSet;

use assay_plugin::{Error, settings_as};
use serde::Deserialize;

const SECTIONS_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 32;
const CUTS_MAX: usize = 16;
const CUT_BYTES_MAX: usize = 1_024;

pub(crate) const SCHEMA: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "sections": {
      "type": "array", "minItems": 1, "maxItems": 16,
      "items": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,31}$"},
      "default": ["think", "answer"],
      "description": "names of the tags, in the order in which their sections stand"
    },
    "starts_after": {"type": "string", "maxLength": 1024, "default": "", "description": "text after whose last occurrence the response begins"},
    "cut": {
      "type": "array", "maxItems": 16, "items": {"type": "string", "minLength": 1, "maxLength": 1024}, "default": [],
      "description": "texts that are removed from the end, such as <|im_end|>"
    },
    "other_text": {"type": "boolean", "default": false, "description": "whether text may stand outside of the sections"}
  }
}"#;

/// README.md tells what each is.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub sections: Vec<String>,
    pub starts_after: String,
    pub cut: Vec<String>,
    pub other_text: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            sections: vec!["think".into(), "answer".into()],
            starts_after: String::new(),
            cut: Vec::new(),
            other_text: false,
        }
    }
}

impl Settings {
    pub fn read(settings: &str) -> Result<Self, Error> {
        let settings: Self = settings_as(settings)?;
        match settings.fault() {
            Some(fault) => Err(Error::BadSettings(fault)),
            None => Ok(settings),
        }
    }

    /// The fault of the settings, for the person who chose them.
    fn fault(&self) -> Option<String> {
        let count = self.sections.len();
        if !(1..=SECTIONS_MAX).contains(&count) {
            return Some(format!("sections must name 1 to {SECTIONS_MAX} tags, not {count}"));
        }
        if let Some(name) = self.sections.iter().find(|name| !is_name(name)) {
            return Some(format!(
                "`{name}` cannot be a tag: use a letter, then up to 31 letters, digits, `_` or `-`"
            ));
        }
        if self.sections.iter().collect::<BTreeSet<_>>().len() < count {
            return Some("sections names a tag twice".into());
        }
        if self.cut.len() > CUTS_MAX {
            return Some(format!("cut has more than {CUTS_MAX} texts"));
        }
        if self.cut.iter().any(|text| text.is_empty() || text.len() > CUT_BYTES_MAX) {
            return Some(format!("a text of cut must have 1 to {CUT_BYTES_MAX} bytes"));
        }
        if self.starts_after.len() > CUT_BYTES_MAX {
            return Some(format!("starts_after has more than {CUT_BYTES_MAX} bytes"));
        }
        None
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES_MAX
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(settings: &str, fault: Option<&str>) {
        match (Settings::read(settings), fault) {
            (Ok(_), None) => {}
            (Err(Error::BadSettings(told)), Some(fault)) if told.contains(fault) => {}
            (read, _) => panic!("{settings} is {read:?}"),
        }
    }

    #[test]
    fn settings_are_checked() {
        check("{}", None);
        check(r#"{"sections": ["plan", "code-1"], "cut": ["</s>"], "other_text": true}"#, None);
        check(r#"{"sections": []}"#, Some("1 to 16 tags"));
        check(r#"{"sections": ["a>b"]}"#, Some("cannot be a tag"));
        check(r#"{"sections": ["1st"]}"#, Some("cannot be a tag"));
        check(r#"{"sections": ["a", "a"]}"#, Some("twice"));
        check(r#"{"cut": [""]}"#, Some("1 to 1024 bytes"));
        check(r#"{"tags": ["a"]}"#, Some("tags"));
    }
}
