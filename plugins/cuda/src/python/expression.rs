//! Expressions: numbers, texts, names, operators, and what values are assigned to.

use ruff_python_ast::{BoolOp, Expr, ExprBoolOp, ExprCompare, Number, Operator, UnaryOp};
use ruff_text_size::{Ranged as _, TextRange};

use super::arithmetic::{compared, of_integers, of_reals};
use super::run::Run;
use super::scope::Locals;
use super::unsupported;
use super::value::Value;
use crate::limits::{PYTHON_ELEMENTS_MAX, SOURCE_BYTES_MAX};
use crate::verdict::Stop;

impl Run<'_> {
    pub(super) fn value(&mut self, expression: &Expr, names: &mut Locals) -> Result<Value, Stop> {
        self.step()?;
        Ok(match expression {
            Expr::NoneLiteral(_) => Value::None,
            Expr::BooleanLiteral(literal) => Value::Bool(literal.value),
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(value) => {
                    value.as_i64().map_or_else(|| Value::unknown("a large number"), Value::Int)
                }
                Number::Float(value) => Value::Real(*value),
                Number::Complex { .. } => Value::unknown("a complex number"),
            },
            Expr::StringLiteral(literal) => self.text(literal.value.to_str())?,
            Expr::FString(literal) => self.formatted(literal.value.iter(), names)?,
            Expr::Name(name) => match self.find(&name.id, names) {
                Some(value) => value,
                // A name of Python itself, such as `len`.
                None => Value::library(&name.id),
            },
            Expr::Attribute(attribute) => self.attribute(attribute, names)?,
            Expr::Subscript(subscript) => self.subscript(subscript, names)?,
            Expr::Call(call) => self.call(call, names)?,
            Expr::List(list) => {
                let values = self.values(&list.elts, names)?;
                self.list(values)?
            }
            Expr::Tuple(tuple) => {
                let values = self.values(&tuple.elts, names)?;
                self.tuple(values)?
            }
            Expr::Dict(literal) => self.dictionary_literal(literal, names)?,
            Expr::BinOp(operation) => {
                let left = self.value(&operation.left, names)?;
                let right = self.value(&operation.right, names)?;
                self.binary(operation.op, &left, &right, operation.range())?
            }
            Expr::UnaryOp(operation) => {
                let value = self.value(&operation.operand, names)?;
                self.unary(operation.op, &value, operation.range())?
            }
            Expr::BoolOp(operation) => self.boolean(operation, names)?,
            Expr::Compare(compare) => self.compare(compare, names)?,
            Expr::If(choice) => {
                let holds = self.condition(&choice.test, names)?;
                self.value(if holds { &choice.body } else { &choice.orelse }, names)?
            }
            Expr::ListComp(list) => self.comprehension(&list.elt, &list.generators, names)?,
            Expr::Generator(all) => self.comprehension(&all.elt, &all.generators, names)?,
            Expr::DictComp(all) => {
                let mut entries = Vec::new();
                self.each_turn(&all.generators, names, &mut |run, names| {
                    let key = run.value(&all.key, names)?;
                    entries.push((key, run.value(&all.value, names)?));
                    Ok(())
                })?;
                self.dictionary(entries, all.range())?
            }
            Expr::Named(named) => {
                let value = self.value(&named.value, names)?;
                self.assign(&named.target, value.clone(), names)?;
                value
            }
            other => Value::unknown(&self.source(other.range())),
        })
    }

    /// The elements of a list, with starred ones in their place.
    pub(super) fn values(
        &mut self,
        expressions: &[Expr],
        names: &mut Locals,
    ) -> Result<Vec<Value>, Stop> {
        let mut values = Vec::new();
        for expression in expressions {
            match expression {
                Expr::Starred(starred) => {
                    let list = self.value(&starred.value, names)?;
                    values.extend(self.elements(&list, starred.range())?);
                }
                expression => values.push(self.value(expression, names)?),
            }
            if values.len() > PYTHON_ELEMENTS_MAX {
                return Err(unsupported("a list in its Python is too long").into());
            }
        }
        Ok(values)
    }

    pub(super) fn assign(
        &mut self,
        target: &Expr,
        value: Value,
        names: &mut Locals,
    ) -> Result<(), Stop> {
        match target {
            Expr::Name(name) => {
                let value = match value {
                    // One outside of a class has no name that the task could know.
                    Value::NewParameter => Value::unknown(&name.id),
                    value => value,
                };
                self.set(&name.id, value, names);
            }
            Expr::Attribute(attribute) => {
                let owner = self.value(&attribute.value, names)?;
                self.assign_attribute(&owner, attribute.attr.as_str(), value, target.range())?;
            }
            Expr::Tuple(tuple) => {
                self.assign_several(&tuple.elts, &value, target.range(), names)?
            }
            Expr::List(list) => self.assign_several(&list.elts, &value, target.range(), names)?,
            Expr::Subscript(subscript) => self.assign_part(subscript, value, names)?,
            other => return Err(self.not_run(other.range())),
        }
        Ok(())
    }

    /// `a, *b = values`.
    fn assign_several(
        &mut self,
        targets: &[Expr],
        value: &Value,
        range: TextRange,
        names: &mut Locals,
    ) -> Result<(), Stop> {
        let mut values = match value {
            // Their number is the targets', as long as nothing asks for them.
            Value::Unknown(what) => vec![Value::Unknown(what.clone()); targets.len()],
            value => self.elements(value, range)?,
        };
        let starred = targets.iter().position(|target| matches!(target, Expr::Starred(_)));
        if let (Some(at), Some(count)) = (starred, (values.len() + 1).checked_sub(targets.len())) {
            let rest = values.drain(at..at + count).collect();
            values.insert(at, self.list(rest)?);
        }
        if values.len() != targets.len() {
            let (what, count) = (self.source(range), values.len());
            return Err(unsupported(format!("`{what}` cannot take {count} values")).into());
        }
        for (target, value) in targets.iter().zip(values) {
            match target {
                Expr::Starred(starred) => self.assign(&starred.value, value, names)?,
                target => self.assign(target, value, names)?,
            }
        }
        Ok(())
    }

    pub(super) fn binary(
        &mut self,
        operator: Operator,
        left: &Value,
        right: &Value,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let found = match (left, right) {
            (Value::Tensor(_), _) | (_, Value::Tensor(_)) => return Err(self.pytorch(range)),
            (Value::Text(left), Value::Text(right)) if operator == Operator::Add => {
                let length = left.len() + right.len();
                match length <= SOURCE_BYTES_MAX {
                    true => Some(self.text(&format!("{left}{right}"))?),
                    false => None,
                }
            }
            (Value::Text(template), _) if operator == Operator::Mod => {
                self.percent(template, right)?
            }
            (Value::List(_) | Value::Tuple(_), Value::List(_) | Value::Tuple(_))
                if operator == Operator::Add =>
            {
                let both = left.sequence().zip(right.sequence());
                let joined = both.map(|(left, right)| [left, right].concat());
                let joined = joined.filter(|joined| joined.len() <= PYTHON_ELEMENTS_MAX);
                joined.map(|joined| self.sequence_like(left, joined)).transpose()?
            }
            (Value::List(_) | Value::Tuple(_), count) if operator == Operator::Mult => {
                let count = count.as_int().map(|count| usize::try_from(count).unwrap_or(0));
                let values = left.sequence().unwrap_or_default();
                // Nothing, any number of times, is nothing.
                let count = count.map(|count| if values.is_empty() { 0 } else { count });
                let count =
                    count.filter(|count| count.saturating_mul(values.len()) <= PYTHON_ELEMENTS_MAX);
                let repeated = count.map(|count| vec![values; count].concat());
                repeated.map(|values| self.sequence_like(left, values)).transpose()?
            }
            (left, right) => match (left.as_int(), right.as_int()) {
                (Some(left), Some(right)) => of_integers(operator, left, right),
                _ => {
                    left.as_real().zip(right.as_real()).and_then(|(l, r)| of_reals(operator, l, r))
                }
            },
        };
        Ok(found.unwrap_or_else(|| Value::unknown(&self.source(range))))
    }

    fn sequence_like(&mut self, like: &Value, values: Vec<Value>) -> Result<Value, Stop> {
        match like {
            Value::Tuple(_) => self.tuple(values),
            _ => self.list(values),
        }
    }

    fn unary(&mut self, operator: UnaryOp, value: &Value, range: TextRange) -> Result<Value, Stop> {
        let found = match (operator, value) {
            (UnaryOp::Not, value) => value.truth().map(|truth| Value::Bool(!truth)),
            (_, Value::Tensor(_)) => return Err(self.pytorch(range)),
            (UnaryOp::USub, Value::Real(value)) => Some(Value::Real(-value)),
            (UnaryOp::USub, value) => value.as_int().and_then(i64::checked_neg).map(Value::Int),
            (UnaryOp::UAdd, value) => value.as_real().map(|_| value.clone()),
            (UnaryOp::Invert, value) => value.as_int().map(|value| Value::Int(!value)),
        };
        Ok(found.unwrap_or_else(|| Value::unknown(&self.source(range))))
    }

    fn boolean(&mut self, operation: &ExprBoolOp, names: &mut Locals) -> Result<Value, Stop> {
        let mut last = Value::None;
        for value in &operation.values {
            last = self.value(value, names)?;
            let Some(truth) = last.truth() else {
                return Ok(Value::unknown(&self.source(operation.range())));
            };
            if truth == (operation.op == BoolOp::Or) {
                break;
            }
        }
        Ok(last)
    }

    fn compare(&mut self, compare: &ExprCompare, names: &mut Locals) -> Result<Value, Stop> {
        let mut left = self.value(&compare.left, names)?;
        for (operator, right) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.value(right, names)?;
            match compared(*operator, &left, &right) {
                Some(true) => left = right,
                Some(false) => return Ok(Value::Bool(false)),
                None => return Ok(Value::unknown(&self.source(compare.range()))),
            }
        }
        Ok(Value::Bool(true))
    }
}

pub(super) fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    (0..length).contains(&index).then_some(usize::try_from(index).ok()?)
}
