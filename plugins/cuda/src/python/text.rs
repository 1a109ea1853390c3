//! Texts: their methods, and values written into them.

use ruff_python_ast::{FStringPart, InterpolatedStringElement};
use ruff_text_size::TextRange;

use super::call::CallArguments;
use super::run::Run;
use super::scope::Locals;
use super::unsupported;
use super::value::Value;
use crate::limits::SOURCE_BYTES_MAX;
use crate::verdict::Stop;

/// A value as `str` writes it.
pub(super) fn shown(value: &Value) -> Option<String> {
    match value {
        Value::Int(value) => Some(value.to_string()),
        Value::Real(value) => Some(format!("{value:?}")),
        Value::Bool(value) => Some(if *value { "True" } else { "False" }.to_owned()),
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    }
}

fn check_length(text: &str) -> Result<(), Stop> {
    if text.len() > SOURCE_BYTES_MAX {
        return Err(unsupported("a text in its Python is too long").into());
    }
    Ok(())
}

impl Run<'_> {
    pub(super) fn formatted<'b>(
        &mut self,
        parts: impl Iterator<Item = &'b FStringPart>,
        names: &mut Locals,
    ) -> Result<Value, Stop> {
        let mut text = String::new();
        for part in parts {
            match part {
                FStringPart::Literal(literal) => text.push_str(&literal.value),
                FStringPart::FString(string) => {
                    for element in &string.elements {
                        check_length(&text)?;
                        match element {
                            InterpolatedStringElement::Literal(literal) => {
                                text.push_str(&literal.value);
                            }
                            InterpolatedStringElement::Interpolation(inner) => {
                                let value = self.value(&inner.expression, names)?;
                                match shown(&value) {
                                    Some(shown) if inner.format_spec.is_none() => {
                                        text.push_str(&shown);
                                    }
                                    _ => return Ok(Value::unknown(&self.source(inner.range))),
                                }
                            }
                        }
                    }
                }
            }
            check_length(&text)?;
        }
        self.text(&text)
    }

    pub(super) fn text_method(
        &mut self,
        text: &str,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let argument = |place: usize| taken.values.get(place).and_then(shown);
        let known = |found: bool| Ok(Value::Bool(found));
        match (name, argument(0), argument(1)) {
            ("strip", None, _) => self.text(text.trim()),
            ("lower", ..) => self.text(&text.to_lowercase()),
            ("upper", ..) => self.text(&text.to_uppercase()),
            ("startswith", Some(begin), _) => known(text.starts_with(&begin)),
            ("endswith", Some(end), _) => known(text.ends_with(&end)),
            ("replace", Some(from), Some(to))
                if !from.is_empty() && replaced_bytes(text, &from, &to) <= SOURCE_BYTES_MAX =>
            {
                self.text(&text.replace(&from, &to))
            }
            ("join", ..) => {
                let parts = taken.values.first().and_then(Value::sequence);
                let bytes = |part: &Value| match part {
                    Value::Text(text) => text.len(),
                    _ => 0,
                };
                // Before each of them is copied.
                let parts =
                    parts.filter(|all| all.iter().map(bytes).sum::<usize>() <= SOURCE_BYTES_MAX);
                let parts = parts.and_then(|all| all.iter().map(shown).collect::<Option<Vec<_>>>());
                let length = |parts: &Vec<String>| {
                    parts.iter().map(|part| part.len() + text.len()).sum::<usize>()
                };
                match parts.filter(|parts| length(parts) <= SOURCE_BYTES_MAX) {
                    Some(parts) => self.text(&parts.join(text)),
                    None => Ok(Value::unknown(&self.source(range))),
                }
            }
            ("format", ..) => match filled(text, taken) {
                Some(found) => self.text(&found),
                None => Ok(Value::unknown(&self.source(range))),
            },
            ("substitute" | "safe_substitute", ..) => match substituted(text, taken) {
                Some(found) => self.text(&found),
                None => Ok(Value::unknown(&self.source(range))),
            },
            _ => Ok(Value::unknown(&self.source(range))),
        }
    }

    /// `template % values`, of whole numbers and texts.
    pub(super) fn percent(
        &mut self,
        template: &str,
        values: &Value,
    ) -> Result<Option<Value>, Stop> {
        let mut values = values.sequence().unwrap_or_else(|| vec![values.clone()]).into_iter();
        let mut found = String::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('%') {
            found.push_str(before);
            let mut letters = after.chars();
            match letters.next() {
                Some('%') => found.push('%'),
                Some('d' | 's' | 'i') => match values.next().as_ref().and_then(shown) {
                    Some(shown) => found.push_str(&shown),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            }
            rest = letters.as_str();
            if found.len() > SOURCE_BYTES_MAX {
                return Ok(None);
            }
        }
        found.push_str(rest);
        match values.next() {
            None => self.text(&found).map(Some),
            Some(_) => Ok(None),
        }
    }
}

/// `"{} {name}".format(...)` without formats of its own; nothing where a value is not known.
fn filled(template: &str, taken: &CallArguments) -> Option<String> {
    let mut found = String::new();
    let mut next = 0;
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        found.push_str(&rest[..at]);
        let (brace, after) = rest[at..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            found.push_str(brace);
            rest = after;
            continue;
        }
        let (name, after) = after.split_once('}').filter(|_| brace == "{")?;
        let value = match name.parse::<usize>() {
            Ok(place) => taken.values.get(place),
            Err(_) if name.is_empty() => {
                next += 1;
                taken.values.get(next - 1)
            }
            Err(_) => taken.named(name),
        };
        found.push_str(&shown(value?)?);
        rest = after;
        if found.len() > SOURCE_BYTES_MAX {
            return None;
        }
    }
    found.push_str(rest);
    Some(found)
}

/// The most bytes of a text in which one text was replaced by another. A plugin's numbers of bytes have 32 bits.
fn replaced_bytes(text: &str, from: &str, to: &str) -> usize {
    text.matches(from).count().saturating_mul(to.len()).saturating_add(text.len())
}

/// `string.Template(text).substitute(NAME=value)`; longer names first, so that none is taken for another.
fn substituted(template: &str, taken: &CallArguments) -> Option<String> {
    let mut names: Vec<&(String, Value)> = taken.named.iter().collect();
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    let mut found = template.to_owned();
    for (name, value) in names {
        let value = shown(value)?;
        for written in [format!("${{{name}}}"), format!("${name}")] {
            if replaced_bytes(&found, &written, &value) > SOURCE_BYTES_MAX {
                return None;
            }
            found = found.replace(&written, &value);
        }
    }
    Some(found)
}
