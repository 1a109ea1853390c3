//! Expressions: numbers, texts, lists, names and their parts.

use std::rc::Rc;

use ruff_python_ast::{
    BoolOp, Expr, ExprAttribute, ExprBoolOp, ExprCompare, ExprListComp, ExprSubscript, FStringPart,
    InterpolatedStringElement, Number, Operator, UnaryOp,
};
use ruff_text_size::{Ranged as _, TextRange};

use super::arithmetic::{compared, of_integers, of_reals};
use super::run::{Locals, Run};
use super::unsupported;
use super::value::{Object, Value};
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
                // What Python itself has, such as `len`.
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
                self.list(values)?
            }
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
            Expr::ListComp(list) => self.comprehension(list, names)?,
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

    pub(super) fn elements(&self, list: &Value, range: TextRange) -> Result<Vec<Value>, Stop> {
        match list {
            Value::List(values) => Ok(values.borrow().clone()),
            Value::Text(text) => {
                Ok(text.chars().map(|letter| Value::text(&letter.to_string())).collect())
            }
            Value::Tensor(_) => Err(self.pytorch(range)),
            _ => {
                let what = self.source(range);
                Err(unsupported(format!("the elements of `{what}` are not known")).into())
            }
        }
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
                // What anything else is told, such as a context, changes nothing.
                if matches!(owner, Value::Layer(_)) {
                    return Err(self.not_run(target.range()));
                }
                if let Value::Object(object) = owner {
                    let name = attribute.attr.as_str();
                    let value = match value {
                        Value::NewParameter => Value::Parameter(name.into()),
                        Value::Layer(layer) => {
                            layer.name.replace(name.to_owned());
                            Value::Layer(layer)
                        }
                        value => value,
                    };
                    object.attributes.borrow_mut().insert(name.to_owned(), value);
                }
            }
            Expr::Tuple(_) | Expr::List(_) => {
                let targets = match target {
                    Expr::Tuple(tuple) => &tuple.elts,
                    Expr::List(list) => &list.elts,
                    _ => return Ok(()),
                };
                let values = self.elements(&value, target.range())?;
                if values.len() != targets.len() {
                    let what = self.source(target.range());
                    let count = values.len();
                    return Err(unsupported(format!("`{what}` cannot take {count} values")).into());
                }
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value, names)?;
                }
            }
            Expr::Subscript(subscript) => match self.value(&subscript.value, names)? {
                Value::Tensor(_) => return Err(self.pytorch(target.range())),
                Value::List(list) => {
                    let index = self.value(&subscript.slice, names)?;
                    let length = list.borrow().len();
                    match index.as_int().and_then(|index| place(index, length)) {
                        Some(index) if !matches!(value, Value::List(_)) => {
                            list.borrow_mut()[index] = value;
                        }
                        _ => return Err(self.unknown_place(subscript)),
                    }
                }
                _ => {}
            },
            other => return Err(self.not_run(other.range())),
        }
        Ok(())
    }

    fn unknown_place(&self, subscript: &ExprSubscript) -> Stop {
        let what = self.source(subscript.range());
        unsupported(format!("there is no `{what}`, or it is not known which one that is")).into()
    }

    fn formatted<'b>(
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
            if text.len() > SOURCE_BYTES_MAX {
                return Err(unsupported("a text in its Python is too long").into());
            }
        }
        self.text(&text)
    }

    fn attribute(&mut self, attribute: &ExprAttribute, names: &mut Locals) -> Result<Value, Stop> {
        let owner = self.value(&attribute.value, names)?;
        let name = attribute.attr.as_str();
        Ok(match owner {
            Value::Library(owner) => Value::library(&format!("{owner}.{name}")),
            Value::Object(object) => {
                let own = object.attributes.borrow().get(name).cloned();
                let found = match own {
                    Some(value) => Some(value),
                    None => self.class_attribute(&object, name)?,
                };
                match found {
                    Some(value) => self.at_this_size(value)?,
                    None => Value::unknown(&self.source(attribute.range())),
                }
            }
            Value::Layer(layer) => match layer.attribute(name) {
                Some(value) => self.at_this_size(value)?,
                None => Value::unknown(&self.source(attribute.range())),
            },
            Value::Extension(number) => Value::Compiled(number, name.into()),
            Value::Tensor(tensor) => self.of_tensor(tensor, name),
            Value::List(list) => Value::OfList(list, name.into()),
            Value::Text(text) => Value::OfText(text, name.into()),
            Value::Class(class) => match self.function_of(&class, name)? {
                Some(function) => Value::Function(function),
                // Of `torch.autograd.Function`: what its `forward` does.
                None if name == "apply" => match self.function_of(&class, "forward")? {
                    Some(function) => Value::Method(self.object(&class)?, function),
                    None => Value::unknown(&self.source(attribute.range())),
                },
                None => Value::unknown(&self.source(attribute.range())),
            },
            _ => Value::unknown(&self.source(attribute.range())),
        })
    }

    /// A method, or what is true of every module.
    fn class_attribute(&mut self, object: &Rc<Object>, name: &str) -> Result<Option<Value>, Stop> {
        if name == "training" {
            return Ok(Some(Value::Bool(true)));
        }
        let Some(function) = self.function_of(&object.class, name)? else { return Ok(None) };
        let is_static = function.decorator_list.iter().any(
            |one| matches!(&one.expression, Expr::Name(name) if name.id.as_str() == "staticmethod"),
        );
        Ok(Some(match is_static {
            true => Value::Function(function),
            false => Value::Method(object.clone(), function),
        }))
    }

    /// A parameter is one of the task's buffers where there is a size.
    fn at_this_size(&self, value: Value) -> Result<Value, Stop> {
        match (&value, &self.at) {
            (Value::Parameter(name), Some(_)) => match self.task.parameter(name) {
                Some(buffer) => Ok(self.named(buffer)),
                None => {
                    let reason = format!("the task's module has no parameter `{name}`");
                    Err(unsupported(reason).into())
                }
            },
            _ => Ok(value),
        }
    }

    fn subscript(&mut self, subscript: &ExprSubscript, names: &mut Locals) -> Result<Value, Stop> {
        let owner = self.value(&subscript.value, names)?;
        match (&owner, &*subscript.slice) {
            (Value::Tensor(_), _) => Err(self.pytorch(subscript.range())),
            (Value::List(list), Expr::Slice(slice)) => {
                let list = list.borrow().clone();
                let mut bound = |bound: &Option<Box<Expr>>, absent: usize| match bound {
                    None => Ok(Some(absent)),
                    Some(bound) => self.value(bound, names).map(|value| {
                        let value = value.as_int()?;
                        let from = if value < 0 { list.len() as i64 } else { 0 };
                        Some(usize::try_from(from + value).unwrap_or(0).min(list.len()))
                    }),
                };
                match (bound(&slice.lower, 0)?, bound(&slice.upper, list.len())?) {
                    (Some(begin), Some(end)) if slice.step.is_none() => {
                        let kept = list.get(begin..end.max(begin)).unwrap_or_default();
                        self.list(kept.to_vec())
                    }
                    _ => Err(self.unknown_place(subscript)),
                }
            }
            (Value::List(list), index) => {
                let index = self.value(index, names)?;
                let list = list.borrow();
                let found = index.as_int().and_then(|index| place(index, list.len()));
                found.map(|at| list[at].clone()).ok_or_else(|| self.unknown_place(subscript))
            }
            _ => Ok(Value::unknown(&self.source(subscript.range()))),
        }
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
            (Value::List(left), Value::List(right)) if operator == Operator::Add => {
                let joined = [left.borrow().clone(), right.borrow().clone()].concat();
                match joined.len() <= PYTHON_ELEMENTS_MAX {
                    true => Some(self.list(joined)?),
                    false => None,
                }
            }
            (Value::List(list), count) if operator == Operator::Mult => {
                let length = list.borrow().len();
                let count = count.as_int().and_then(|count| usize::try_from(count).ok());
                let count =
                    count.filter(|count| count.saturating_mul(length) <= PYTHON_ELEMENTS_MAX);
                let repeated = count.map(|count| vec![list.borrow().clone(); count].concat());
                repeated.map(|values| self.list(values)).transpose()?
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

    fn comprehension(&mut self, list: &ExprListComp, names: &mut Locals) -> Result<Value, Stop> {
        let [generator] = &list.generators[..] else {
            return Ok(Value::unknown(&self.source(list.range())));
        };
        let mut found = Vec::new();
        let values = self.value(&generator.iter, names)?;
        'values: for value in self.elements(&values, generator.iter.range())? {
            self.assign(&generator.target, value, names)?;
            for test in &generator.ifs {
                if !self.condition(test, names)? {
                    continue 'values;
                }
            }
            found.push(self.value(&list.elt, names)?);
        }
        self.list(found)
    }
}

pub(super) fn place(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    (0..length).contains(&index).then_some(usize::try_from(index).ok()?)
}

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
