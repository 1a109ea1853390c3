//! Calls: of the response's functions and classes, and of what it compiled.

use std::rc::Rc;

use assay_plugin::gpu::compiler::{Argument, Returned, Tensor as Given};
use ruff_python_ast::{Arguments, ExprCall};
use ruff_text_size::{Ranged as _, TextRange};

use super::run::{Flow, Run};
use super::scope::{LocalNames, Locals, Variables};
use super::tensor::ShapedTensor;
use super::value::{OwnClass, OwnFunction, Value};
use super::{Call, unsupported};
use crate::callable::check_callable;
use crate::limits::{ARGUMENTS_MAX, DIMENSIONS_MAX, EXTENSION_CALLS_MAX, SOURCE_BYTES_MAX};
use crate::verdict::{Failure, Stop};

/// The arguments of a call: those in their order, and those by name.
pub(super) struct CallArguments {
    pub(super) values: Vec<Value>,
    pub(super) named: Vec<(String, Value)>,
}

impl CallArguments {
    pub(super) fn get(&self, place: usize, name: &str) -> Option<&Value> {
        self.values.get(place).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(one, _)| one == name).map(|(_, value)| value)
    }

    /// Whether a tensor is to lie otherwise than contiguously.
    fn has_other_layout(&self) -> bool {
        let named = self.named.iter().map(|(_, value)| value);
        self.values.iter().chain(named).any(
            |value| matches!(value, Value::Library(name) if name.starts_with("torch.channels_last")),
        )
    }

    /// Whether any of them is a tensor, or holds one.
    pub(super) fn has_tensor(&self) -> bool {
        let named = self.named.iter().map(|(_, value)| value);
        self.values.iter().chain(named).any(holds_tensor)
    }
}

fn holds_tensor(value: &Value) -> bool {
    match value {
        Value::Tensor(_) => true,
        Value::Bound(value, _) => holds_tensor(value),
        Value::List(values) => values.borrow().iter().any(holds_tensor),
        Value::Tuple(values) => values.iter().any(holds_tensor),
        Value::Dictionary(entries) => entries.borrow().values().iter().any(holds_tensor),
        _ => false,
    }
}

impl Run<'_> {
    pub(super) fn call(&mut self, call: &ExprCall, names: &mut Locals) -> Result<Value, Stop> {
        let callee = self.value(&call.func, names)?;
        let taken = self.taken(&call.arguments, names)?;
        let range = call.range();
        if taken.has_other_layout() {
            let what = self.source(range);
            return Err(unsupported(format!("`{what}` has a layout that is not contiguous")).into());
        }
        match callee {
            Value::Library(name) if &*name == "super" => Ok(self.parent(&taken, names)),
            Value::Library(name) => self.library(&name, taken, range),
            Value::Compiled(number, function) => self.compiled(number, &function, &taken, range),
            Value::Function(function) => self.called(&function, None, taken),
            Value::Method(method) => {
                let owner = (method.owner.clone(), method.class.clone());
                self.called(&method.function, Some(owner), taken)
            }
            Value::Class(class) => self.instance(&class, taken),
            Value::Object(object) => {
                let called = ["__call__", "forward"].into_iter();
                match called.filter_map(|name| object.class.function(name)).next() {
                    Some((function, class)) => {
                        self.called(&function, Some((Value::Object(object), class)), taken)
                    }
                    None => Err(self.unknown_call(range)),
                }
            }
            Value::Bound(owner, name) => self.bound_method(&owner, &name, &taken, range),
            Value::Layer(_) if taken.has_tensor() => Err(self.pytorch(range)),
            // A context keeps tensors for a backward pass, which nobody asks for.
            Value::Unknown(name) if name.ends_with("save_for_backward") => Ok(Value::None),
            _ if taken.has_tensor() => Err(self.unknown_call(range)),
            _ => Ok(Value::unknown(&self.source(range))),
        }
    }

    fn bound_method(
        &mut self,
        owner: &Value,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        match owner {
            Value::Tensor(tensor) => self.tensor_method(tensor, name, taken, range),
            Value::List(list) => self.list_method(list, name, taken, range),
            Value::Tuple(values) => self.tuple_method(values, name, taken, range),
            Value::Dictionary(entries) => self.dictionary_method(entries, name, taken, range),
            Value::Text(text) => self.text_method(text, name, taken, range),
            Value::File(path) => self.file_method(path, name, taken, range),
            Value::Layer(layer) => self.layer_method(layer, name, taken, range),
            _ => Err(self.unknown_call(range)),
        }
    }

    /// `super()`, and the older `super(ModelNew, self)`.
    fn parent(&self, taken: &CallArguments, names: &Locals) -> Value {
        let given = match &taken.values[..] {
            [Value::Class(class), owner] => Some((owner.clone(), class.clone())),
            _ => None,
        };
        let mut scope = names.as_ref();
        let mut found = given;
        while let (None, Some(one)) = (&found, scope) {
            found = one.owner.clone();
            scope = one.outer.as_ref();
        }
        match found {
            Some((owner, class)) => Value::Parent(Rc::new(owner), class.base.clone()),
            None => Value::unknown("super()"),
        }
    }

    pub(super) fn unknown_call(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("it is not known what `{what}` does")).into()
    }

    fn taken(&mut self, arguments: &Arguments, names: &mut Locals) -> Result<CallArguments, Stop> {
        let values = self.values(&arguments.args, names)?;
        let mut named = Vec::new();
        for keyword in &arguments.keywords {
            let value = self.value(&keyword.value, names)?;
            match (&keyword.arg, &value) {
                (Some(name), _) => named.push((name.to_string(), value)),
                (None, Value::Dictionary(entries)) => {
                    let entries = entries.borrow();
                    for (name, value) in entries.keys().iter().zip(entries.values()) {
                        named.extend(name.as_text().map(|name| (name.to_owned(), value)));
                    }
                }
                (None, _) => return Err(self.unknown_call(keyword.value.range())),
            }
        }
        Ok(CallArguments { values, named })
    }

    pub(super) fn instance(
        &mut self,
        class: &Rc<OwnClass>,
        taken: CallArguments,
    ) -> Result<Value, Stop> {
        let made = Value::Object(self.object(class)?);
        if let Some((init, owner)) = class.function("__init__") {
            self.called(&init, Some((made.clone(), owner)), taken)?;
        }
        Ok(made)
    }

    pub(super) fn called(
        &mut self,
        function: &Rc<OwnFunction>,
        owner: Option<(Value, Rc<OwnClass>)>,
        mut taken: CallArguments,
    ) -> Result<Value, Stop> {
        self.enter()?;
        if let Some((value, _)) = &owner {
            taken.values.insert(0, value.clone());
        }
        let names = self.parameters(function, taken)?.into();
        let outer = function.outer.clone();
        let mut scope = Some(Rc::new(LocalNames { names, outer, owner, ..LocalNames::default() }));
        let flow = self.body(&function.definition.body, &mut scope);
        self.leave();
        Ok(match flow? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break | Flow::Continue => Value::None,
        })
    }

    /// The names of a function's parameters with what is given for them.
    fn parameters(
        &mut self,
        function: &Rc<OwnFunction>,
        taken: CallArguments,
    ) -> Result<Variables, Stop> {
        let parameters = &function.definition.parameters;
        let mut names = Variables::new();
        let mut values = taken.values.into_iter();
        let wrong = |what: String| {
            let name = &function.definition.name;
            Stop::from(unsupported(format!("`{name}` of its Python {what}")))
        };
        for one in parameters.posonlyargs.iter().chain(&parameters.args) {
            if let Some(value) = values.next() {
                names.insert(one.name().to_string(), value);
            }
        }
        let rest: Vec<Value> = values.collect();
        match &parameters.vararg {
            Some(parameter) => {
                let rest = self.tuple(rest)?;
                names.insert(parameter.name.to_string(), rest);
            }
            None if rest.is_empty() => {}
            None => return Err(wrong("is called with too many arguments".into())),
        }
        let all =
            parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        let mut others = Vec::new();
        for (name, value) in taken.named {
            match all.clone().any(|one| one.name().as_str() == name) {
                true => drop(names.insert(name, value)),
                false if parameters.kwarg.is_some() => others.push((Value::text(&name), value)),
                false => return Err(wrong(format!("has no parameter `{name}`"))),
            }
        }
        if let Some(parameter) = &parameters.kwarg {
            let others = self.dictionary(others, parameter.range())?;
            names.insert(parameter.name.to_string(), others);
        }
        for one in all {
            if names.contains_key(one.name().as_str()) {
                continue;
            }
            let Some(default) = one.default() else {
                return Err(wrong(format!("is called without `{}`", one.name())));
            };
            let value = self.value(default, &mut function.outer.clone())?;
            names.insert(one.name().to_string(), value);
        }
        Ok(names)
    }

    /// Records what a compiled function would launch; the tensors that it makes are new buffers of the run.
    fn compiled(
        &mut self,
        number: usize,
        function: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        if self.at.is_none() {
            return Ok(Value::unknown(&self.source(range)));
        }
        check_callable(function)?;
        let named = taken.named.iter().map(|(_, value)| value);
        let arguments = taken.values.iter().chain(named).map(|value| argument(function, value));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        check_count(function, arguments.len())?;
        self.recordings += 1;
        if self.recordings > EXTENSION_CALLS_MAX {
            let reason = format!("it calls what it compiled more than {EXTENSION_CALLS_MAX} times");
            return Err(unsupported(reason).into());
        }
        let Some((_, record)) = &mut self.at else { return Ok(Value::None) };
        let call = Call {
            extension: number,
            function,
            arguments: &arguments,
            scratch_bytes: &self.scratch_bytes,
        };
        let trace = record(call)?;
        self.steps.extend(trace.steps);
        self.scratch_bytes.extend(trace.scratch_bytes);
        let returned = trace.returned.iter().map(|one| returned(function, one));
        let mut returned = returned.collect::<Result<Vec<_>, _>>()?;
        Ok(match returned.len() {
            0 => Value::None,
            1 => returned.remove(0),
            _ => Value::Tuple(returned.into()),
        })
    }
}

fn check_count(function: &str, count: usize) -> Result<(), Failure> {
    if count <= ARGUMENTS_MAX {
        return Ok(());
    }
    Err(unsupported(format!("`{function}` is given more than {ARGUMENTS_MAX} values at once")))
}

/// A tensor that a compiled function returned, which may say of it what it likes.
fn returned(function: &str, one: &Returned) -> Result<Value, Failure> {
    if one.shape.len() > DIMENSIONS_MAX {
        let what = format!("a tensor of more than {DIMENSIONS_MAX} dimensions");
        return Err(unsupported(format!("`{function}` returns {what}")));
    }
    if !one.offset.is_multiple_of(one.dtype.bytes()) {
        let reason = format!("`{function}` returns a tensor that begins inside an element");
        return Err(unsupported(reason));
    }
    Ok(Value::Tensor(ShapedTensor::new(one.buffer, one.offset, one.dtype, &one.shape)))
}

fn argument(function: &str, value: &Value) -> Result<Argument, Failure> {
    let refused = |what: String| Err(unsupported(format!("`{function}` is given {what}")));
    let several = value.sequence().unwrap_or_default();
    check_count(function, several.len())?;
    Ok(match value {
        Value::Tensor(tensor) => Argument::Tensor(given(function, tensor)?),
        Value::None => Argument::Absent,
        Value::Bool(value) => Argument::Boolean(*value),
        Value::Int(value) => Argument::I64(*value),
        Value::Real(value) => Argument::Fp64(*value),
        Value::List(_) | Value::Tuple(_) if several.iter().all(|one| one.as_int().is_some()) => {
            Argument::Integers(several.iter().filter_map(Value::as_int).collect())
        }
        Value::List(_) | Value::Tuple(_)
            if several.iter().all(|one| matches!(one, Value::Tensor(_))) =>
        {
            let tensors = several.iter().filter_map(|one| match one {
                Value::Tensor(tensor) => Some(given(function, tensor)),
                _ => None,
            });
            Argument::Tensors(tensors.collect::<Result<_, _>>()?)
        }
        other => return refused(other.described()),
    })
}

fn given(function: &str, tensor: &ShapedTensor) -> Result<Given, Failure> {
    if !tensor.is_contiguous() {
        let reason = format!("`{function}` is given a tensor that is not contiguous");
        return Err(unsupported(reason));
    }
    let ShapedTensor { buffer, offset, dtype, shape, .. } = tensor;
    Ok(Given { buffer: *buffer, offset: *offset, dtype: *dtype, shape: shape.to_vec() })
}

/// The sources and functions of a call of `load_inline`; nothing where they are not known, or longer than a source may be.
pub(super) fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None | Some(Value::None) => Some(Vec::new()),
        Some(Value::Text(text)) => Some(vec![text.to_string()]),
        Some(Value::Dictionary(entries)) => texts(Some(&Value::list(entries.borrow().keys()))),
        Some(values) => {
            let values = values.sequence()?;
            let bytes: usize = values.iter().filter_map(Value::as_text).map(str::len).sum();
            let texts = values.iter().map(|value| value.as_text().map(str::to_owned));
            if bytes > SOURCE_BYTES_MAX { None } else { texts.collect() }
        }
    }
}

/// Whether an expression is a call of a name that ends so; for texts that only look like it.
pub(super) fn ends_with(name: &str, ending: &str) -> bool {
    name == ending || name.strip_suffix(ending).is_some_and(|begin| begin.ends_with('.'))
}
