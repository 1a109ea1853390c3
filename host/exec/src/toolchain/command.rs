//! Command templates: commands with placeholders for the values of one call.

use serde::Deserialize;

use crate::path;

/// The words of a command; the first is the absolute path of a program in the box.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct CommandTemplate(Vec<String>);

/// The values of the placeholders.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Values<'a> {
    /// The value of `{main}`; without folders and extension, that of `{stem}`.
    pub main: &'a str,
    /// The value of `{out}`.
    pub out: &'a str,
    /// The value of `{options}`, a word that is replaced by any number of words.
    pub options: &'a [String],
    /// The value of `{prepared}`. Without one, words that contain it are left out.
    pub prepared: Option<&'a str>,
}

pub(super) const PLACEHOLDERS: [&str; 5] = ["{main}", "{stem}", "{out}", "{options}", "{prepared}"];

impl CommandTemplate {
    /// The program's path.
    pub fn program(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// The words, with placeholders.
    pub fn words(&self) -> &[String] {
        &self.0
    }

    pub fn names(&self, placeholder: &str) -> bool {
        self.0.iter().any(|word| word.contains(placeholder))
    }

    pub fn expand(&self, values: &Values<'_>) -> Vec<String> {
        let mut words = Vec::with_capacity(self.0.len() + values.options.len());
        for word in &self.0 {
            if word == "{options}" {
                words.extend_from_slice(values.options);
                continue;
            }
            if word.contains("{prepared}") && values.prepared.is_none() {
                continue;
            }
            words.push(
                word.replace("{prepared}", values.prepared.unwrap_or_default())
                    .replace("{out}", values.out)
                    .replace("{stem}", path::stem(values.main))
                    .replace("{main}", values.main),
            );
        }
        words
    }

    /// Checks the command; only some placeholders are allowed.
    pub(super) fn check(&self, key: &str, allowed: &[&str]) -> Result<(), String> {
        if !self.program().starts_with('/') {
            return Err(format!("`{key}`: its first word must be a program's absolute path"));
        }
        for word in &self.0 {
            if word.contains('\0') {
                return Err(format!("`{key}`: a word contains a NUL character: remove it"));
            }
            for found in placeholders(word) {
                if !PLACEHOLDERS.contains(&found) {
                    return Err(format!(
                        "`{key}`: there is no placeholder {found}; there are {}",
                        PLACEHOLDERS.join(", ")
                    ));
                }
                if !allowed.contains(&found) {
                    return Err(format!(
                        "`{key}`: the placeholder {found} is not allowed here; allowed: {}",
                        if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") }
                    ));
                }
            }
            if word.contains("{options}") && word != "{options}" {
                return Err(format!("`{key}`: {{options}} must be a word of its own"));
            }
        }
        Ok(())
    }
}

/// The placeholders of a word: lower-case words in braces. Other braces belong to the command.
fn placeholders(word: &str) -> impl Iterator<Item = &str> {
    word.match_indices('{').filter_map(|(start, _)| {
        let name = word[start + 1..].split_once('}')?.0;
        let letters = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
        letters.then(|| &word[start..start + name.len() + 2])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(words: &[&str], values: &Values<'_>) -> Vec<String> {
        CommandTemplate(words.iter().map(ToString::to_string).collect()).expand(values)
    }

    #[test]
    fn placeholders_are_replaced() {
        let options = ["-DA".to_owned(), "{main}".to_owned()];
        let values = Values {
            main: "a/B.java",
            out: "o",
            options: &options,
            prepared: Some("/toolchains/x"),
        };
        assert_eq!(
            expand(&["/c", "-I{prepared}/i", "{options}", "-o{out}", "{main}", "{stem}"], &values),
            ["/c", "-I/toolchains/x/i", "-DA", "{main}", "-oo", "a/B.java", "B"]
        );
        assert_eq!(expand(&["/c", "-I{prepared}", "x"], &Values::default()), ["/c", "x"]);
    }

    #[test]
    fn other_braces_are_left_alone() {
        let words = ["/bin/sh", "-c", "f() { echo ${A_B} {}; }; f", "{main}"];
        let command = CommandTemplate(words.iter().map(ToString::to_string).collect());
        assert_eq!(command.check("x", &["{main}"]), Ok(()));
        assert_eq!(
            expand(&words, &Values { main: "m", ..Values::default() })[2],
            "f() { echo ${A_B} {}; }; f"
        );
    }
}
