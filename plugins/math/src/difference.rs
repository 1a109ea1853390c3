//! Why two values are not equal, for the person who reads an explanation. Decides nothing.

use crate::value::Value;

/// Why two values are not equal, in words.
pub(crate) fn difference(left: &Value, right: &Value) -> String {
    let members = |left: &[Value], right: &[Value]| match left.len() == right.len() {
        true => "a member differs".to_owned(),
        false => format!("{} members are not {}", right.len(), left.len()),
    };
    match (left, right) {
        (Value::Given { value, .. }, other) => difference(value, other),
        (other, Value::Given { value, .. }) => difference(other, value),
        (Value::Scalar(left), Value::Scalar(right)) => match (&left.unit, &right.unit) {
            (Some(here), Some(there)) if here.dimension != there.dimension => {
                "the units measure different things".into()
            }
            _ => "the values differ".into(),
        },
        (Value::Set(left), Value::Set(right)) | (Value::Union(left), Value::Union(right)) => {
            members(left, right)
        }
        (
            Value::Sequence { items, open, close },
            Value::Sequence { items: there, open: open_there, close: close_there },
        ) => match (open, close) == (open_there, close_there) {
            true => members(items, there),
            false => "the brackets differ".into(),
        },
        (Value::Matrix(left), Value::Matrix(right)) => {
            match left.len() == right.len()
                && left.first().map(Vec::len) == right.first().map(Vec::len)
            {
                true => "an entry differs".into(),
                false => "the sizes differ".into(),
            }
        }
        _ if std::mem::discriminant(left) == std::mem::discriminant(right) => "they differ".into(),
        _ => format!("{} is not {}", right.kind(), left.kind()),
    }
}
