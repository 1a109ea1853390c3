//! Arithmetic and comparisons of known values.

use ruff_python_ast::{CmpOp, Operator};

use super::value::Value;

/// Numbers as Python computes them; nothing where it raises an error or leaves 64 bits.
pub(super) fn of_integers(operator: Operator, left: i64, right: i64) -> Option<Value> {
    let whole = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Sub => left.checked_sub(right),
        Operator::Mult => left.checked_mul(right),
        Operator::FloorDiv => floor_division(left, right),
        Operator::Mod => floor_division(left, right)
            .and_then(|whole| left.checked_sub(whole.checked_mul(right)?)),
        Operator::Pow if right >= 0 => left.checked_pow(u32::try_from(right).ok()?),
        Operator::LShift => u32::try_from(right)
            .ok()
            .filter(|by| *by < 63)
            .and_then(|by| left.checked_mul(1_i64 << by)),
        Operator::RShift => u32::try_from(right).ok().map(|by| left >> by.min(63)),
        Operator::BitOr => Some(left | right),
        Operator::BitAnd => Some(left & right),
        Operator::BitXor => Some(left ^ right),
        Operator::Div | Operator::Pow | Operator::MatMult => {
            return of_reals(operator, left as f64, right as f64);
        }
    };
    whole.map(Value::Int)
}

fn floor_division(left: i64, right: i64) -> Option<i64> {
    let whole = left.checked_div(right)?;
    let exact = left.checked_rem(right)? == 0;
    Some(if exact || (left < 0) == (right < 0) { whole } else { whole - 1 })
}

pub(super) fn of_reals(operator: Operator, left: f64, right: f64) -> Option<Value> {
    let found = match operator {
        Operator::Add => left + right,
        Operator::Sub => left - right,
        Operator::Mult => left * right,
        Operator::Div if right != 0.0 => left / right,
        Operator::FloorDiv if right != 0.0 => (left / right).floor(),
        Operator::Mod if right != 0.0 => left - (left / right).floor() * right,
        Operator::Pow => left.powf(right),
        _ => return None,
    };
    Some(Value::Real(found))
}

/// A comparison, where both sides are known.
pub(super) fn compared(operator: CmpOp, left: &Value, right: &Value) -> Option<bool> {
    use std::cmp::Ordering::{Greater, Less};
    let order = || left.as_real()?.partial_cmp(&right.as_real()?);
    match operator {
        CmpOp::Eq => equal(left, right),
        CmpOp::NotEq => equal(left, right).map(|equal| !equal),
        CmpOp::Is | CmpOp::IsNot => {
            let same = match (left, right) {
                (Value::Unknown(_), _) | (_, Value::Unknown(_)) => return None,
                (Value::None, right) => matches!(right, Value::None),
                (left, Value::None) => matches!(left, Value::None),
                (left, right) => equal(left, right)?,
            };
            Some(same == (operator == CmpOp::Is))
        }
        CmpOp::Lt => Some(order()? == Less),
        CmpOp::LtE => Some(order()? != Greater),
        CmpOp::Gt => Some(order()? == Greater),
        CmpOp::GtE => Some(order()? != Less),
        CmpOp::In | CmpOp::NotIn => {
            let is_in = match right {
                Value::Dictionary(entries) => entries.borrow().get(left)?.is_some(),
                Value::Text(text) => text.contains(left.as_text()?),
                right => {
                    let values = right.sequence()?;
                    let found = values.iter().map(|one| equal(left, one));
                    found.collect::<Option<Vec<_>>>()?.contains(&true)
                }
            };
            Some(is_in == (operator == CmpOp::In))
        }
    }
}

fn equal(left: &Value, right: &Value) -> Option<bool> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Some(left == right),
        (Value::Library(left), Value::Library(right)) => Some(left == right),
        (Value::None, Value::None) => Some(true),
        (Value::List(_), Value::List(_)) | (Value::Tuple(_), Value::Tuple(_)) => {
            let (left, right) = (left.sequence()?, right.sequence()?);
            if left.len() != right.len() {
                return Some(false);
            }
            let pairs = left.iter().zip(right.iter());
            let same = pairs.map(|(left, right)| equal(left, right)).collect::<Option<Vec<_>>>()?;
            Some(!same.contains(&false))
        }
        // A device, for one, is called by several names.
        (Value::Library(_), Value::Text(_)) | (Value::Text(_), Value::Library(_)) => None,
        (left, right) => match (left.as_real(), right.as_real()) {
            (Some(left), Some(right)) => Some(left == right),
            // Values of different kinds are not equal, as long as both are known.
            _ => left.truth().zip(right.truth()).map(|_| false),
        },
    }
}
