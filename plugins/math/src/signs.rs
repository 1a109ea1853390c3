//! The values of what holds `\pm`: every combination of plus and minus, up to the members that sets are compared with.
//! What would have more is left as it is.

use crate::expression::Expression;
use crate::limits;
use crate::value::{Scalar, Value};

/// The same with all values of what holds `\pm`.
pub(crate) fn spread(items: Vec<Value>) -> Vec<Value> {
    items.into_iter().flat_map(|item| values(&item).unwrap_or_else(|| vec![item])).collect()
}

/// All values of one that holds `\pm`.
fn values(item: &Value) -> Option<Vec<Value>> {
    let scalars = |scalar: &Scalar| {
        let all = signs(&scalar.expression)?.into_iter();
        Some(all.map(|expression| Scalar { expression, ..scalar.clone() }).collect::<Vec<_>>())
    };
    match item {
        Value::Scalar(scalar) => Some(scalars(scalar)?.into_iter().map(Value::Scalar).collect()),
        Value::Equation { left, right } => {
            let all = scalars(right)?.into_iter();
            Some(all.map(|right| Value::Equation { left: left.clone(), right }).collect())
        }
        // `(\pm 3, 0)` is two points.
        Value::Sequence { open, close, items } => {
            let scalar = |item: &Value| matches!(item, Value::Scalar(_));
            let mut all = vec![Vec::new()];
            for item in items {
                let one = vec![item.clone()];
                let members = if scalar(item) { values(item).unwrap_or(one) } else { one };
                all = combined(&all, &members, |before, member| {
                    before.iter().chain([member]).cloned().collect()
                })?;
            }
            let sequence = |items| Value::Sequence { open: *open, close: *close, items };
            (all.len() > 1).then(|| all.into_iter().map(sequence).collect())
        }
        Value::Named { name, value } => {
            let all = values(value)?.into_iter().map(Box::new);
            Some(all.map(|value| Value::Named { name: name.clone(), value }).collect())
        }
        _ => None,
    }
}

/// The expression with every combination of signs; `None` where there is no `\pm`, or where they are too many.
fn signs(expression: &Expression) -> Option<Vec<Expression>> {
    let signed = expression.any(&|inner| matches!(inner, Expression::PlusMinus(_)));
    if signed { combinations(expression) } else { None }
}

fn combinations(expression: &Expression) -> Option<Vec<Expression>> {
    let mut operands = vec![Vec::new()];
    for operand in expression.children().into_iter().flatten() {
        operands = combined(&operands, &combinations(operand)?, |before, operand| {
            before.iter().chain([operand]).cloned().collect()
        })?;
    }
    let whole = |operands: Vec<Expression>| {
        let mut operands = operands.into_iter();
        expression.with_operands(&mut |old| operands.next().unwrap_or_else(|| old.clone()))
    };
    let all = operands.into_iter().map(whole);
    let Expression::PlusMinus(_) = expression else { return Some(all.collect()) };
    let plus: Vec<_> = all
        .filter_map(|signed| match signed {
            Expression::PlusMinus(inner) => Some(*inner),
            _ => None,
        })
        .collect();
    let minus = plus.iter().map(|inner| Expression::Negate(Box::new(inner.clone())));
    let both: Vec<_> = plus.iter().cloned().chain(minus).collect();
    (both.len() <= limits::SET_MAX).then_some(both)
}

/// Every pair of one of `left` and one of `right`.
fn combined<L, R, P>(left: &[L], right: &[R], pair: impl Fn(&L, &R) -> P) -> Option<Vec<P>> {
    (left.len() * right.len() <= limits::SET_MAX).then(|| {
        left.iter().flat_map(|l| right.iter().map(|r| pair(l, r)).collect::<Vec<_>>()).collect()
    })
}
