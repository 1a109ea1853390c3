//! The second reading of a text that has two, tried where the first is not equal: a comma as a decimal mark or
//! between members, a list as one value stated several times, `e` as Euler's number, the letters after a number as its
//! unit.

use crate::compare::compare;
use crate::equal::Equal;
use crate::parse::{parse_decimal_comma, parse_mathematics, parse_separated};
use crate::settings::Settings;
use crate::units::{is_known_in_any_case, is_length};
use crate::value::{Scalar, Value};

/// Compares a label with an answer, each as written and as first read.
pub(crate) fn reread(
    label: (&str, &Value),
    answer: (&str, &Value),
    settings: &Settings,
) -> Option<Equal> {
    if settings.strict {
        return None;
    }
    as_decimal_comma(label, answer, settings)
        .or_else(|| as_separated(label, answer, settings))
        .or_else(|| as_alternatives(label.1, answer.1, settings))
        .or_else(|| as_euler(label, answer, settings))
        .or_else(|| as_measured(label, answer, settings))
}

/// The comparison where the one comma of a side is a decimal mark.
fn as_decimal_comma(
    label: (&str, &Value),
    answer: (&str, &Value),
    settings: &Settings,
) -> Option<Equal> {
    let single = |value: &Value| matches!(value, Value::Scalar(_) | Value::Equation { .. });
    let equal = if single(label.1) && matches!(answer.1, Value::Set(_)) {
        compare(label.1, &parse_decimal_comma(answer.0)?, settings)
    } else if single(answer.1) && matches!(label.1, Value::Set(_)) {
        // `1,2` is a list of two, unless the answer says otherwise; `0,5` and `1,25` are numbers.
        let (whole, part) = label.0.split_once(',')?;
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits > 1 || whole.trim_start_matches(['$', '-', ' ']) == "0";
        number.then(|| compare(&parse_decimal_comma(label.0)?, answer.1, settings))?
    } else {
        None
    };
    equal.map(|equal| equal.max(Equal::DecimalComma))
}

/// The comparison where the commas of a single value separate members, as those of the other side do:
/// `153,370,371,407`.
fn as_separated(
    label: (&str, &Value),
    answer: (&str, &Value),
    settings: &Settings,
) -> Option<Equal> {
    let equal = match (label.1, answer.1) {
        (Value::Set(_), Value::Scalar(_)) => {
            compare(label.1, &parse_separated(answer.0)?, settings)
        }
        (Value::Scalar(_), Value::Set(_)) => {
            compare(&parse_separated(label.0)?, answer.1, settings)
        }
        _ => None,
    };
    equal.map(|equal| equal.max(Equal::Separated))
}

/// The comparison where an answer states one value several times: `\frac12 \text{ or } 0.5`. Values that are equal only
/// without a percent sign, under other names or in other units are different answers.
fn as_alternatives(label: &Value, answer: &Value, settings: &Settings) -> Option<Equal> {
    let named = |value: &Value| match value {
        Value::Scalar(scalar) => Some((None, scalar.clone())),
        Value::Equation { left, right } => Some((Some(left.clone()), right.clone())),
        _ => None,
    };
    let Value::Set(items) = answer else { return None };
    let wanted = Value::Scalar(named(label)?.1);
    let values: Vec<_> = items.iter().map(named).collect::<Option<_>>()?;
    let (name, first) = values.first()?;
    let alike = values.iter().all(|(other, scalar)| other == name && scalar.unit == first.unit);
    let equal = items.iter().zip(&values).map(|(item, (_, scalar))| {
        let bare = compare(&wanted, &Value::Scalar(scalar.clone()), settings)?;
        (bare != Equal::Hundredfold).then(|| compare(label, item, settings))?
    });
    alike.then(|| equal.collect::<Option<Vec<_>>>()?.into_iter().max())?
}

/// The comparison where `2e-2` is `2e - 2`, of one side or both.
fn as_euler(label: (&str, &Value), answer: (&str, &Value), settings: &Settings) -> Option<Equal> {
    match (with_euler(label.0), with_euler(answer.0)) {
        (None, None) => None,
        (Some(label), None) => compare(&label, answer.1, settings),
        (None, Some(answer)) => compare(label.1, &answer, settings),
        (Some(label), Some(answer)) => compare(&label, &answer, settings),
    }
}

/// `2e-2` with the `e` as Euler's number, where whole numbers stand round it.
fn with_euler(text: &str) -> Option<Value> {
    let (whole, more) = text.trim_matches(['$', ' ']).split_once('e')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let after = more.strip_prefix(['+', '-']).is_some_and(digits);
    (digits(whole) && after).then(|| parse_mathematics(&format!("{whole} e{more}")).ok())?
}

/// The comparison where the letters in `250mg` and `6ft^2` are a unit and no variables: where the other side has a
/// unit, or is a label without variables.
fn as_measured(
    label: (&str, &Value),
    answer: (&str, &Value),
    settings: &Settings,
) -> Option<Equal> {
    let number =
        |value: &Value| matches!(value, Value::Scalar(scalar) if !scalar.expression.has_symbols());
    let unit = |value: &Value| matches!(value, Value::Scalar(Scalar { unit: Some(_), .. }));
    if number(label.1) {
        compare(label.1, &with_unit(answer.0)?, settings)
    } else if unit(answer.1) {
        compare(&with_unit(label.0)?, answer.1, settings)
    } else {
        None
    }
}

/// `250mg` as 250 milligrams, `6ft^2` as 6 square feet.
fn with_unit(text: &str) -> Option<Value> {
    let text = text.trim_matches(['$', ' ']);
    let (base, power) = text.split_once('^').unwrap_or((text, ""));
    let number = base.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &base[number.len()..];
    let raised = match power {
        "" => true,
        "2" | "3" | "{2}" | "{3}" => is_length(unit),
        _ => false,
    };
    let measured =
        number.ends_with(|c: char| c.is_ascii_digit()) && is_known_in_any_case(unit) && raised;
    let power = &text[base.len()..];
    measured.then(|| parse_mathematics(&format!("{number}\\text{{{unit}}}{power}")).ok())?
}
