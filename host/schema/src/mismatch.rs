//! Why a value does not match its schema, in words of a bounded length.

use std::fmt::Write as _;

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value;

/// The characters of a pointer, name or rule that are shown.
const SHOWN_MAX: usize = 120;

/// The depth of forms within forms to which the wrong part is looked for.
const FORMS_DEPTH_MAX: usize = 16;

/// A value that does not match: the field by its JSON pointer, and the rule that it breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// JSON pointer of the field in the value; empty for the value itself.
    pub pointer: String,
    problem: String,
}

impl Mismatch {
    /// The error about the value called `name`: `settings` or `label`.
    #[must_use]
    pub fn about(&self, name: &str) -> String {
        let Self { pointer, problem } = self;
        let field = if pointer.is_empty() { String::new() } else { format!(" at `{pointer}`") };
        format!("{name}{field} {problem}")
    }

    pub(crate) fn not_readable(error: &serde_json::Error) -> Self {
        let problem = format!("cannot be read, so that it was not validated: {error}");
        Self { pointer: String::new(), problem }
    }

    /// The value is too large to look for the field.
    pub(crate) fn somewhere() -> Self {
        let problem = "does not match the plugin's schema; it is too large to say where".to_owned();
        Self { pointer: String::new(), problem }
    }

    pub(crate) fn of(error: &ValidationError<'_>) -> Self {
        Self::within(error, FORMS_DEPTH_MAX)
    }

    fn within(error: &ValidationError<'_>, depth: usize) -> Self {
        if let Some(form) = meant(error).filter(|_| depth > 0) {
            return Self::within(form, depth - 1);
        }
        let rule = rule(error.kind());
        let keyword = shown(error.kind().keyword());
        let kind = kind(error.instance());
        let pointer = shown(error.instance_path().as_str());
        Self { pointer, problem: format!("{rule}; it is {kind} (rule `{keyword}`)") }
    }
}

/// The error of the alternative that the author meant, where all failed: it got furthest into the value, or
/// it alone has the right type.
fn meant<'a>(error: &'a ValidationError<'_>) -> Option<&'a ValidationError<'static>> {
    use ValidationErrorKind as Kind;
    let (Kind::AnyOf { context } | Kind::OneOfNotValid { context }) = error.kind() else {
        return None;
    };
    let rank = |error: &ValidationError<'_>| {
        let other = matches!(
            error.kind(),
            Kind::Type { .. } | Kind::Enum { .. } | Kind::Constant { .. } | Kind::FalseSchema
        );
        (level(error), !other)
    };
    // A form of another type says nothing by its other errors.
    let best = |form: &'a Vec<ValidationError<'static>>| {
        let other = form.iter().find(|it| rank(it) == (level(error), false));
        other.or_else(|| form.iter().max_by_key(|it| rank(it)))
    };
    let errors: Vec<_> = context.iter().filter_map(best).collect();
    let highest = errors.iter().map(|it| rank(it)).max()?;
    let mut found = errors.into_iter().filter(|it| rank(it) == highest);
    let first = found.next()?;
    let clear = highest.0 > level(error) || (highest.1 && found.next().is_none());
    clear.then_some(first)
}

fn level(error: &ValidationError<'_>) -> usize {
    error.instance_path().as_str().matches('/').count()
}

fn rule(kind: &ValidationErrorKind) -> String {
    use ValidationErrorKind as Kind;
    match kind {
        Kind::Type { kind } => format!("must be of type {}", types(kind)),
        Kind::Required { property } => format!("lacks {}", json(property)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("has {}, which the schema does not know", names(unexpected))
        }
        Kind::AdditionalItems { limit } => format!("must have at most {limit} items"),
        Kind::Enum { options } => format!("must be one of {}", json(options)),
        Kind::Constant { expected_value } => format!("must be {}", json(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {}", json(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", json(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", json(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", json(limit)),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        Kind::UniqueItems => "must not have equal items".into(),
        Kind::Contains => "has no item of the form that it must contain".into(),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", shown(pattern)),
        Kind::PropertyNames { error } => {
            format!("has the name {}, which the schema does not allow", json(error.instance()))
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            format!("matches none of the schema's {} forms", context.len())
        }
        Kind::OneOfMultipleValid { .. } => "matches more than one of the schema's forms".into(),
        Kind::FalseSchema => "must not be given".into(),
        _ => "breaks a rule of the schema".into(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(many) => {
            let names: Vec<String> = many.iter().map(|one| one.to_string()).collect();
            names.join(" or ")
        }
    }
}

fn names(unexpected: &[String]) -> String {
    let Some(first) = unexpected.first() else { return "a name".into() };
    let mut text = json(&Value::from(first.as_str()));
    if unexpected.len() > 1 {
        let _ = write!(text, " and {} more", unexpected.len() - 1);
    }
    text
}

fn json(value: &Value) -> String {
    shown(&value.to_string())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The beginning of a text, with what is invisible escaped.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == SHOWN_MAX {
            shown.push('…');
            break;
        }
        match character {
            '"' | '\'' | '\\' => shown.push(character),
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}
