//! Attributes: of objects, classes, layers, tensors and libraries.

use std::rc::Rc;

use ruff_python_ast::{Expr, ExprAttribute};
use ruff_text_size::{Ranged as _, TextRange};

use super::call::CallArguments;
use super::run::Run;
use super::scope::Locals;
use super::unsupported;
use super::value::{Method, Object, OwnFunction, Value};
use crate::limits::{PYTHON_LISTS_MAX, PYTHON_NAME_BYTES_MAX};
use crate::verdict::Stop;

impl Run<'_> {
    pub(super) fn attribute(
        &mut self,
        attribute: &ExprAttribute,
        names: &mut Locals,
    ) -> Result<Value, Stop> {
        let owner = self.value(&attribute.value, names)?;
        self.attribute_of(owner, attribute.attr.as_str(), attribute.range())
    }

    pub(super) fn attribute_of(
        &mut self,
        owner: Value,
        name: &str,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let source = self.source(range);
        let unknown = || Value::unknown(&source);
        Ok(match owner {
            Value::Library(owner) => of_library(&owner, name),
            Value::Object(object) => match self.of_object(&object, name)? {
                Some(value) => self.at_this_size(value)?,
                None => unknown(),
            },
            Value::Parent(owner, class) => match class.and_then(|class| class.member(name)) {
                Some((Value::Function(function), class)) => {
                    let owner = (*owner).clone();
                    Value::Method(Rc::new(Method { owner, function, class }))
                }
                Some((value, _)) => value,
                // A method of `torch.nn.Module`, whose own methods but `forward` compute nothing.
                None if name == "forward" => unknown(),
                None => Value::library("torch.nn.Module.of_super"),
            },
            Value::Layer(layer) => match layer.attribute(name) {
                Some(value) => self.at_this_size(value)?,
                None if layer.holds_others() => {
                    Value::Bound(Rc::new(Value::Layer(layer)), name.into())
                }
                None => unknown(),
            },
            Value::Extension(number) => Value::Compiled(number, name.into()),
            Value::Tensor(tensor) => self.of_tensor(tensor, name),
            Value::List(_)
            | Value::Tuple(_)
            | Value::Dictionary(_)
            | Value::Text(_)
            | Value::File(_) => Value::Bound(Rc::new(owner), name.into()),
            Value::Class(class) => match class.member(name) {
                Some((Value::Function(function), owner)) if is(&function, "classmethod") => {
                    let class_value = Value::Class(class);
                    Value::Method(Rc::new(Method { owner: class_value, function, class: owner }))
                }
                Some((value, _)) => value,
                // The `apply` of `torch.autograd.Function` does what its `forward` does.
                None if name == "apply" => match class.function("forward") {
                    Some((function, owner)) => {
                        let context = Value::Object(self.object(&class)?);
                        Value::Method(Rc::new(Method { owner: context, function, class: owner }))
                    }
                    None => unknown(),
                },
                None => unknown(),
            },
            _ => unknown(),
        })
    }

    /// An attribute that an object holds, its class has, or every module has.
    fn of_object(&mut self, object: &Rc<Object>, name: &str) -> Result<Option<Value>, Stop> {
        if let Some(value) = object.attributes.borrow().get(name) {
            return Ok(Some(value.clone()));
        }
        let owner = || Value::Object(object.clone());
        Ok(match object.class.member(name) {
            Some((Value::Function(function), class)) => Some(match &function {
                one if is(one, "staticmethod") => Value::Function(function),
                one if is(one, "classmethod") => {
                    let owner = Value::Class(object.class.clone());
                    Value::Method(Rc::new(Method { owner, function, class }))
                }
                one if is(one, "property") => {
                    let taken = CallArguments { values: Vec::new(), named: Vec::new() };
                    self.called(&function, Some((owner(), class)), taken)?
                }
                _ => Value::Method(Rc::new(Method { owner: owner(), function, class })),
            }),
            Some((value, _)) => Some(value),
            None if name == "training" => Some(Value::Bool(true)),
            None => None,
        })
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

    pub(super) fn assign_attribute(
        &mut self,
        owner: &Value,
        name: &str,
        value: Value,
        range: TextRange,
    ) -> Result<(), Stop> {
        let object = match owner {
            Value::Object(object) => object,
            Value::Class(class) => {
                class.attributes.borrow_mut().insert(name.to_owned(), value);
                return Ok(());
            }
            Value::Layer(_) => return Err(self.not_run(range)),
            // An attribute of anything else, such as a context, changes nothing.
            _ => return Ok(()),
        };
        let value = match value {
            Value::NewParameter => Value::Parameter(name.into()),
            value => {
                name_below(&value, name, 0);
                value
            }
        };
        object.attributes.borrow_mut().insert(name.to_owned(), value);
        Ok(())
    }
}

/// The parameters of a module have names below that of the attribute which holds it.
pub(super) fn name_below(value: &Value, name: &str, depth: usize) {
    // Deeper ones, and those of long names, keep their names, and are then none of the task's.
    if depth > 2 * PYTHON_LISTS_MAX || name.len() > PYTHON_NAME_BYTES_MAX {
        return;
    }
    match value {
        Value::Layer(layer) => {
            let whole = match &*layer.name.borrow() {
                below if below.is_empty() || depth == 0 => name.to_owned(),
                below if below.len() > PYTHON_NAME_BYTES_MAX => below.clone(),
                below => format!("{name}.{below}"),
            };
            for child in &*layer.children.borrow() {
                name_below(child, name, depth + 1);
            }
            layer.name.replace(whole);
        }
        Value::Object(object) => {
            let Ok(mut attributes) = object.attributes.try_borrow_mut() else { return };
            for value in attributes.values_mut() {
                match value {
                    Value::Parameter(below) if below.len() <= PYTHON_NAME_BYTES_MAX => {
                        *value = Value::Parameter(format!("{name}.{below}").into())
                    }
                    value => name_below(value, name, depth + 1),
                }
            }
        }
        _ => {}
    }
}

fn is(function: &Rc<OwnFunction>, decorator: &str) -> bool {
    function
        .definition
        .decorator_list
        .iter()
        .any(|one| matches!(&one.expression, Expr::Name(name) if name.id.as_str() == decorator))
}

fn of_library(owner: &str, name: &str) -> Value {
    match (owner, name) {
        ("math" | "numpy" | "torch", "pi") => Value::Real(std::f64::consts::PI),
        ("math" | "numpy" | "torch", "e") => Value::Real(std::f64::consts::E),
        ("math" | "numpy" | "torch", "inf") => Value::Real(f64::INFINITY),
        ("torch.device", "type") => Value::text("cuda"),
        ("torch.device", "index") => Value::Int(0),
        (owner, name) => Value::library(&format!("{owner}.{name}")),
    }
}
