//! Lists, tuples and dictionaries: their methods, parts and elements.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::rc::Rc;

use ruff_python_ast::{Comprehension, Expr, ExprDict, ExprSlice, ExprSubscript};
use ruff_text_size::{Ranged as _, TextRange};

use super::call::CallArguments;
use super::expression::place;
use super::run::Run;
use super::scope::{LocalNames, Locals};
use super::unsupported;
use super::value::{SharedList, Value};
use crate::limits::{PYTHON_ELEMENTS_MAX, PYTHON_ENTRIES_MAX, PYTHON_LISTS_MAX, SOURCE_BYTES_MAX};
use crate::verdict::Stop;

/// Entries in the order in which they were made, each with what makes its key equal to another one.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    entries: Vec<(String, Value, Value)>,
}

impl Dictionary {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn keys(&self) -> Vec<Value> {
        self.entries.iter().map(|(_, key, _)| key.clone()).collect()
    }

    pub(super) fn values(&self) -> Vec<Value> {
        self.entries.iter().map(|(_, _, value)| value.clone()).collect()
    }

    /// Nothing where it is not known whether there is such a key.
    pub(super) fn get(&self, key: &Value) -> Option<Option<Value>> {
        let wanted = identity(key)?;
        let found = self.entries.iter().find(|(identity, ..)| *identity == wanted);
        Some(found.map(|(_, _, value)| value.clone()))
    }

    /// Whether the entry could be made.
    fn set(&mut self, key: Value, value: Value) -> bool {
        let Some(wanted) = identity(&key) else { return false };
        match self.entries.iter().position(|(identity, ..)| *identity == wanted) {
            Some(at) => self.entries[at].2 = value,
            None if self.entries.len() < PYTHON_ENTRIES_MAX => {
                self.entries.push((wanted, key, value));
            }
            None => return false,
        }
        true
    }
}

/// A text that equal keys share and others do not; nothing where it is too long.
fn identity(key: &Value) -> Option<String> {
    let mut written = String::new();
    write_identity(key, &mut written)?;
    Some(written)
}

fn write_identity(key: &Value, to: &mut String) -> Option<()> {
    match key {
        Value::None => to.push_str("none"),
        Value::Real(value) if value.fract() != 0.0 || value.abs() > 1e15 => {
            write!(to, "r{value:?}").ok()?;
        }
        Value::Real(value) => write!(to, "i{value:.0}").ok()?,
        Value::Text(text) => write!(to, "t{}:{text}", text.len()).ok()?,
        Value::Library(name) => write!(to, "l{}:{name}", name.len()).ok()?,
        Value::Tuple(values) => {
            to.push('(');
            for value in &**values {
                write_identity(value, to)?;
                to.push(',');
            }
            to.push(')');
        }
        value => write!(to, "i{}", value.as_int()?).ok()?,
    }
    (to.len() <= SOURCE_BYTES_MAX).then_some(())
}

/// The lists and dictionaries inside one another; their elements are changed to no other ones.
pub(super) fn depth(value: &Value) -> usize {
    let deepest = |values: &[Value]| 1 + values.iter().map(depth).max().unwrap_or(0);
    match value {
        Value::List(values) => deepest(&values.borrow()),
        Value::Tuple(values) => deepest(values),
        Value::Dictionary(entries) => deepest(&entries.borrow().values()),
        Value::Bound(owner, _) => depth(owner),
        _ => 0,
    }
}

/// Whether it may be put into a list that is there already, so that nothing ever holds itself.
fn may_be_put(value: &Value) -> bool {
    match value {
        Value::Tuple(_) => depth(value) == 1,
        value => depth(value) == 0,
    }
}

impl Run<'_> {
    /// A list of lists of lists is as deep as it gets: what walks lists descends into them.
    fn checked(&mut self, values: &[Value]) -> Result<(), Stop> {
        self.charge(size_of_val(values))?;
        if values.iter().any(|value| depth(value) >= PYTHON_LISTS_MAX) {
            let reason = format!("lists in its Python are more than {PYTHON_LISTS_MAX} deep");
            return Err(unsupported(reason).into());
        }
        Ok(())
    }

    pub(super) fn list(&mut self, values: Vec<Value>) -> Result<Value, Stop> {
        self.checked(&values)?;
        Ok(Value::list(values))
    }

    pub(super) fn tuple(&mut self, values: Vec<Value>) -> Result<Value, Stop> {
        self.checked(&values)?;
        Ok(Value::Tuple(values.into()))
    }

    pub(super) fn dictionary(
        &mut self,
        entries: Vec<(Value, Value)>,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let values: Vec<Value> = entries.iter().map(|(_, value)| value.clone()).collect();
        self.checked(&values)?;
        let mut found = Dictionary::default();
        for (key, value) in entries {
            if !found.set(key, value) {
                return Err(self.unknown_entry(range));
            }
        }
        Ok(Value::Dictionary(Rc::new(RefCell::new(found))))
    }

    pub(super) fn dictionary_literal(
        &mut self,
        literal: &ExprDict,
        names: &mut Locals,
    ) -> Result<Value, Stop> {
        let mut entries = Vec::new();
        for item in &literal.items {
            let value = self.value(&item.value, names)?;
            match (&item.key, &value) {
                (Some(key), _) => entries.push((self.value(key, names)?, value)),
                (None, Value::Dictionary(other)) => {
                    let other = other.borrow();
                    entries.extend(other.keys().into_iter().zip(other.values()));
                }
                (None, _) => return Err(self.unknown_entry(literal.range())),
            }
        }
        self.dictionary(entries, literal.range())
    }

    fn unknown_entry(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("the keys of `{what}` are not known, or too many")).into()
    }

    pub(super) fn elements(&self, list: &Value, range: TextRange) -> Result<Vec<Value>, Stop> {
        if let Some(values) = list.sequence() {
            return Ok(values);
        }
        match list {
            Value::Text(text) => {
                Ok(text.chars().map(|letter| Value::text(&letter.to_string())).collect())
            }
            Value::Dictionary(entries) => Ok(entries.borrow().keys()),
            Value::Layer(layer) if layer.holds_others() => Ok(layer.children.borrow().clone()),
            Value::Tensor(tensor) => Ok(tensor.parts(0).unwrap_or_default()),
            _ => {
                let what = self.source(range);
                Err(unsupported(format!("the elements of `{what}` are not known")).into())
            }
        }
    }

    pub(super) fn unknown_place(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("there is no `{what}`, or it is not known which one that is")).into()
    }

    pub(super) fn subscript(
        &mut self,
        subscript: &ExprSubscript,
        names: &mut Locals,
    ) -> Result<Value, Stop> {
        let owner = self.value(&subscript.value, names)?;
        let range = subscript.range();
        if let Value::Tensor(tensor) = &owner {
            return self.part(tensor, &subscript.slice, range, names);
        }
        if let Value::Dictionary(entries) = &owner {
            let key = self.value(&subscript.slice, names)?;
            let found = entries.borrow().get(&key);
            return found.flatten().ok_or_else(|| self.unknown_place(range));
        }
        let values = match &owner {
            Value::List(_) | Value::Tuple(_) => owner.sequence(),
            Value::Layer(layer) if layer.holds_others() => Some(layer.children.borrow().clone()),
            _ => None,
        };
        let Some(values) = values else { return Ok(Value::unknown(&self.source(range))) };
        if let Expr::Slice(slice) = &*subscript.slice {
            let places = self.slice(slice, values.len(), names)?;
            let places = places.ok_or_else(|| self.unknown_place(range))?;
            let kept = places.into_iter().map(|at| values[at].clone()).collect();
            return match &owner {
                Value::Tuple(_) => self.tuple(kept),
                _ => self.list(kept),
            };
        }
        let index = self.value(&subscript.slice, names)?;
        let found = index.as_int().and_then(|index| place(index, values.len()));
        found.map(|at| values[at].clone()).ok_or_else(|| self.unknown_place(range))
    }

    /// The places of a slice without a step, or with one of 1 or -1 over the whole.
    fn slice(
        &mut self,
        slice: &ExprSlice,
        length: usize,
        names: &mut Locals,
    ) -> Result<Option<Vec<usize>>, Stop> {
        let step = match &slice.step {
            None => Some(1),
            Some(step) => self.value(step, names)?.as_int(),
        };
        Ok(match (self.bounds(slice, length, names)?, step) {
            (Some((begin, end)), Some(1)) => Some((begin..end).collect()),
            (Some((0, end)), Some(-1)) if end == length => Some((0..length).rev().collect()),
            _ => None,
        })
    }

    /// Where a slice begins and ends, as far as that is known.
    pub(super) fn bounds(
        &mut self,
        slice: &ExprSlice,
        length: usize,
        names: &mut Locals,
    ) -> Result<Option<(usize, usize)>, Stop> {
        let mut bound = |bound: &Option<Box<Expr>>, absent: usize| match bound {
            None => Ok::<_, Stop>(Some(absent)),
            Some(bound) => {
                let value = match self.value(bound, names)? {
                    Value::None => return Ok(Some(absent)),
                    value => value.as_int(),
                };
                let from = |value: i64| if value < 0 { length as i64 } else { 0 };
                let value = value.and_then(|value| value.checked_add(from(value)));
                Ok(value.map(|value| usize::try_from(value).unwrap_or(0).min(length)))
            }
        };
        let (begin, end) = (bound(&slice.lower, 0)?, bound(&slice.upper, length)?);
        Ok(begin.zip(end).map(|(begin, end)| (begin, end.max(begin))))
    }

    /// The assignment `owner[index] = value`.
    pub(super) fn assign_part(
        &mut self,
        subscript: &ExprSubscript,
        value: Value,
        names: &mut Locals,
    ) -> Result<(), Stop> {
        let range = subscript.range();
        match self.value(&subscript.value, names)? {
            Value::Tensor(_) => return Err(self.pytorch(range)),
            Value::List(list) => {
                let index = self.value(&subscript.slice, names)?;
                let length = list.borrow().len();
                match index.as_int().and_then(|index| place(index, length)) {
                    Some(index) if may_be_put(&value) => list.borrow_mut()[index] = value,
                    _ => return Err(self.unknown_place(range)),
                }
            }
            Value::Dictionary(entries) => {
                let key = self.value(&subscript.slice, names)?;
                self.charge(size_of::<Value>())?;
                if !may_be_put(&value) || !entries.borrow_mut().set(key, value) {
                    return Err(self.unknown_place(range));
                }
            }
            Value::Tuple(_) => return Err(self.not_run(range)),
            // Such as `os.environ`, which nothing here reads.
            _ => {}
        }
        Ok(())
    }

    pub(super) fn list_method(
        &mut self,
        list: &SharedList,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let added = match (name, &taken.values[..]) {
            ("append", [value]) => vec![value.clone()],
            ("extend", [values]) => self.elements(values, range)?,
            ("copy", []) => return self.list(list.borrow().clone()),
            // Others would change it.
            _ => return Err(self.not_run(range)),
        };
        self.charge(size_of_val(&added[..]))?;
        if list.borrow().len() + added.len() > PYTHON_ELEMENTS_MAX || !added.iter().all(may_be_put)
        {
            return Err(self.not_run(range));
        }
        list.borrow_mut().extend(added);
        Ok(Value::None)
    }

    pub(super) fn tuple_method(
        &self,
        values: &[Value],
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let found = match (name, &taken.values[..]) {
            // The number of elements of a shape.
            ("numel", []) => {
                values.iter().try_fold(1_i64, |product, value| product.checked_mul(value.as_int()?))
            }
            _ => return Err(self.not_run(range)),
        };
        Ok(found.map_or_else(|| Value::unknown(&self.source(range)), Value::Int))
    }

    pub(super) fn dictionary_method(
        &mut self,
        entries: &Rc<RefCell<Dictionary>>,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let found = match (name, &taken.values[..]) {
            ("get", [key]) => entries.borrow().get(key).map(|found| found.unwrap_or(Value::None)),
            ("get", [key, other]) => {
                entries.borrow().get(key).map(|found| found.unwrap_or_else(|| other.clone()))
            }
            ("keys", []) => Some(self.list(entries.borrow().keys())?),
            ("values", []) => Some(self.list(entries.borrow().values())?),
            ("items", []) => {
                let (keys, values) = (entries.borrow().keys(), entries.borrow().values());
                let pair = |(key, value)| self.tuple(vec![key, value]);
                let pairs = keys.into_iter().zip(values).map(pair);
                let pairs = pairs.collect::<Result<Vec<_>, Stop>>()?;
                Some(self.list(pairs)?)
            }
            _ => None,
        };
        found.ok_or_else(|| self.not_run(range))
    }

    /// Runs something for each turn of a comprehension, with names of its own.
    pub(super) fn each_turn(
        &mut self,
        generators: &[Comprehension],
        names: &Locals,
        turn: &mut dyn FnMut(&mut Self, &mut Locals) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut inner = Some(LocalNames::inside(names));
        self.turns(generators, &mut inner, turn)
    }

    fn turns(
        &mut self,
        generators: &[Comprehension],
        names: &mut Locals,
        turn: &mut dyn FnMut(&mut Self, &mut Locals) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some((first, rest)) = generators.split_first() else { return turn(self, names) };
        let values = self.value(&first.iter, names)?;
        'values: for value in self.elements(&values, first.iter.range())? {
            self.step()?;
            self.assign(&first.target, value, names)?;
            for test in &first.ifs {
                if !self.condition(test, names)? {
                    continue 'values;
                }
            }
            self.turns(rest, names, turn)?;
        }
        Ok(())
    }

    pub(super) fn comprehension(
        &mut self,
        element: &Expr,
        generators: &[Comprehension],
        names: &Locals,
    ) -> Result<Value, Stop> {
        let mut found = Vec::new();
        self.each_turn(generators, names, &mut |run, names| {
            if found.len() >= PYTHON_ELEMENTS_MAX {
                return Err(unsupported("a list in its Python is too long").into());
            }
            found.push(run.value(element, names)?);
            Ok(())
        })?;
        self.list(found)
    }
}
