//! Calls: of the response's functions and classes, and of what it compiled.

use std::rc::Rc;

use assay_plugin::gpu::compiler::{Argument, Tensor as Given};
use ruff_python_ast::{Arguments, ExprCall, Parameters, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged as _, TextRange};

use super::run::{Flow, Locals, Run, Variables};
use super::value::{ShapedTensor, Value};
use super::{Call, unsupported};
use crate::limits::EXTENSION_CALLS_MAX;
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
        Value::Tensor(_) | Value::OfTensor(..) => true,
        Value::List(values) => values.borrow().iter().any(holds_tensor),
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
            Value::Library(name) => self.library(&name, taken, range),
            Value::Compiled(number, function) => self.compiled(number, &function, &taken, range),
            Value::Function(function) => self.called(&function, None, taken.values, taken.named),
            Value::Method(owner, function) => {
                self.called(&function, Some(Value::Object(owner)), taken.values, taken.named)
            }
            Value::Class(class) => self.instance(&class, taken.values, taken.named),
            Value::Object(owner) => match self.function_of(&owner.class, "forward")? {
                Some(function) => {
                    self.called(&function, Some(Value::Object(owner)), taken.values, taken.named)
                }
                None => Err(self.unknown_call(range)),
            },
            Value::OfTensor(tensor, name) => self.tensor_method(&tensor, &name, &taken, range),
            Value::OfList(list, name) => self.list_method(&list, &name, &taken, range),
            Value::OfText(text, name) => self.text_method(&text, &name, &taken, range),
            Value::Layer(_) if taken.has_tensor() => Err(self.pytorch(range)),
            // A context keeps tensors for a backward pass, which nobody asks for.
            Value::Unknown(name) if name.ends_with("save_for_backward") => Ok(Value::None),
            _ if taken.has_tensor() => Err(self.unknown_call(range)),
            _ => Ok(Value::unknown(&self.source(range))),
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
            match &keyword.arg {
                Some(name) => named.push((name.to_string(), value)),
                None => return Err(self.unknown_call(keyword.value.range())),
            }
        }
        Ok(CallArguments { values, named })
    }

    pub(super) fn instance(
        &mut self,
        class: &Rc<StmtClassDef>,
        values: Vec<Value>,
        named: Vec<(String, Value)>,
    ) -> Result<Value, Stop> {
        let made = Value::Object(self.object(class)?);
        if let Some(init) = self.function_of(class, "__init__")? {
            self.called(&init, Some(made.clone()), values, named)?;
        }
        Ok(made)
    }

    pub(super) fn called(
        &mut self,
        function: &Rc<StmtFunctionDef>,
        owner: Option<Value>,
        values: Vec<Value>,
        named: Vec<(String, Value)>,
    ) -> Result<Value, Stop> {
        self.enter()?;
        let values: Vec<Value> = owner.into_iter().chain(values).collect();
        let mut names = Some(self.bound(&function.name, &function.parameters, values, named)?);
        let flow = self.body(&function.body, &mut names);
        self.leave();
        Ok(match flow? {
            Flow::Return(value) => value,
            Flow::Next | Flow::Break | Flow::Continue => Value::None,
        })
    }

    /// The names of a function's parameters with what is given for them.
    fn bound(
        &mut self,
        function: &str,
        parameters: &Parameters,
        values: Vec<Value>,
        named: Vec<(String, Value)>,
    ) -> Result<Variables, Stop> {
        let mut names = Variables::new();
        let mut values = values.into_iter();
        let wrong =
            |what: String| Stop::from(unsupported(format!("`{function}` of its Python {what}")));
        for one in parameters.posonlyargs.iter().chain(&parameters.args) {
            if let Some(value) = values.next() {
                names.insert(one.name().to_string(), value);
            }
        }
        let rest: Vec<Value> = values.collect();
        match &parameters.vararg {
            Some(parameter) => {
                let rest = self.list(rest)?;
                names.insert(parameter.name.to_string(), rest);
            }
            None if rest.is_empty() => {}
            None => return Err(wrong("is called with too many arguments".into())),
        }
        for (name, value) in named {
            names.insert(name, value);
        }
        let all =
            parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs);
        for one in all {
            if names.contains_key(one.name().as_str()) {
                continue;
            }
            let Some(default) = one.default() else {
                return Err(wrong(format!("is called without `{}`", one.name())));
            };
            let value = self.value(default, &mut None)?;
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
        if number > 0 {
            return Err(unsupported("it calls load_inline several times").into());
        }
        let named = taken.named.iter().map(|(_, value)| value);
        let arguments = taken.values.iter().chain(named).map(|value| argument(function, value));
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        self.recordings += 1;
        if self.recordings > EXTENSION_CALLS_MAX {
            let reason = format!("it calls what it compiled more than {EXTENSION_CALLS_MAX} times");
            return Err(unsupported(reason).into());
        }
        let Some((_, record)) = &mut self.at else { return Ok(Value::None) };
        let call = Call { function, arguments: &arguments, scratch_bytes: &self.scratch_bytes };
        let trace = record(call)?;
        self.steps.extend(trace.steps);
        self.scratch_bytes.extend(trace.scratch_bytes);
        let mut returned = trace.returned.into_iter().map(|one| {
            let shape = one.shape.into();
            Value::Tensor(ShapedTensor {
                buffer: one.buffer,
                offset: one.offset,
                dtype: one.dtype,
                shape,
            })
        });
        Ok(match (returned.next(), returned.len()) {
            (None, _) => Value::None,
            (Some(one), 0) => one,
            (Some(one), _) => Value::list(std::iter::once(one).chain(returned).collect()),
        })
    }
}

fn argument(function: &str, value: &Value) -> Result<Argument, Failure> {
    let refused = |what: String| Err(unsupported(format!("`{function}` is given {what}")));
    match value {
        Value::Tensor(tensor) if tensor.offset == 0 => Ok(Argument::Tensor(Given {
            buffer: tensor.buffer,
            dtype: tensor.dtype,
            shape: tensor.shape.to_vec(),
        })),
        Value::Tensor(_) => refused("a part of a tensor".into()),
        Value::Bool(value) => Ok(Argument::Boolean(*value)),
        Value::Int(value) => Ok(Argument::I64(*value)),
        Value::Real(value) => Ok(Argument::Fp64(*value)),
        other => refused(other.described()),
    }
}

/// The sources and functions of a call of `load_inline`.
pub(super) fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    match value {
        None | Some(Value::None) => Some(Vec::new()),
        Some(Value::Text(text)) => Some(vec![text.to_string()]),
        Some(Value::List(values)) => {
            values.borrow().iter().map(|value| value.as_text().map(str::to_owned)).collect()
        }
        Some(_) => None,
    }
}

/// Whether an expression is a call of a name that ends so; for texts that only look like it.
pub(super) fn ends_with(name: &str, ending: &str) -> bool {
    name == ending || name.strip_suffix(ending).is_some_and(|begin| begin.ends_with('.'))
}
