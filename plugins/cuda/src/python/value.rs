//! The values that a response's Python has while it is run over shapes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use assay_plugin::gpu::Dtype;
use ruff_python_ast::{StmtClassDef, StmtFunctionDef};

use super::layer::Layer;

#[derive(Debug, Clone)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(Rc<str>),
    /// A list or a tuple.
    List(Rc<RefCell<Vec<Value>>>),
    Tensor(ShapedTensor),
    /// A parameter of the module by its name, which is a tensor at each size.
    Parameter(Rc<str>),
    /// A parameter before it has a name.
    NewParameter,
    Layer(Rc<Layer>),
    /// An instance of one of the response's own classes.
    Object(Rc<Object>),
    Class(Rc<StmtClassDef>),
    Function(Rc<StmtFunctionDef>),
    /// A function with its first argument.
    Method(Rc<Object>, Rc<StmtFunctionDef>),
    /// The result of a `load_inline`, by its number, and one of its functions.
    Extension(usize),
    Compiled(usize, Rc<str>),
    /// A name of a library, such as `torch.float32`, or of Python itself.
    Library(Rc<str>),
    /// A method that is not called yet: `x.view`.
    OfTensor(ShapedTensor, Rc<str>),
    OfList(Rc<RefCell<Vec<Value>>>, Rc<str>),
    OfText(Rc<str>, Rc<str>),
    /// Whatever is not known without data, in the response's own words.
    Unknown(Rc<str>),
}

/// Contiguous, the last dimension fastest.
#[derive(Debug, Clone)]
pub(super) struct ShapedTensor {
    pub(super) buffer: u32,
    pub(super) offset: u64,
    pub(super) dtype: Dtype,
    pub(super) shape: Rc<[u64]>,
}

#[derive(Debug)]
pub(super) struct Object {
    pub(super) class: Rc<StmtClassDef>,
    pub(super) attributes: RefCell<BTreeMap<String, Value>>,
}

impl Value {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn library(name: &str) -> Self {
        Self::Library(name.into())
    }

    pub(super) fn unknown(what: &str) -> Self {
        Self::Unknown(what.into())
    }

    pub(super) fn list(values: Vec<Self>) -> Self {
        Self::List(Rc::new(RefCell::new(values)))
    }

    pub(super) fn ints(values: &[u64]) -> Self {
        Self::list(values.iter().map(|value| Self::int(*value)).collect())
    }

    pub(super) fn int(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::unknown("a large number"), Self::Int)
    }

    /// Whether it is true in a condition, where that is known.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::None => Some(false),
            Self::Bool(value) => Some(*value),
            Self::Int(value) => Some(*value != 0),
            Self::Real(value) => Some(*value != 0.0),
            Self::Text(text) => Some(!text.is_empty()),
            Self::List(values) => Some(!values.borrow().is_empty()),
            Self::Tensor(_) | Self::Unknown(_) => None,
            _ => Some(true),
        }
    }

    pub(super) fn as_int(&self) -> Option<i64> {
        match self {
            Self::Bool(value) => Some((*value).into()),
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn as_real(&self) -> Option<f64> {
        match self {
            Self::Real(value) => Some(*value),
            value => value.as_int().map(|value| value as f64),
        }
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// How explanations call it.
    pub(super) fn described(&self) -> String {
        match self {
            Self::None => "None".into(),
            Self::Bool(_) | Self::Int(_) | Self::Real(_) => "a number".into(),
            Self::Text(_) => "a text".into(),
            Self::List(_) => "a list".into(),
            Self::Tensor(_) => "a tensor".into(),
            Self::Parameter(name) => format!("the parameter `{name}`"),
            Self::NewParameter => "a parameter".into(),
            Self::Layer(layer) => format!("a layer of torch.nn, {}", layer.kind),
            Self::Object(object) => format!("an object of `{}`", object.class.name),
            Self::Class(class) => format!("the class `{}`", class.name),
            Self::Function(function) | Self::Method(_, function) => {
                format!("the function `{}`", function.name)
            }
            Self::Extension(_) => "what load_inline gives".into(),
            Self::Compiled(_, name) => format!("the function `{name}`"),
            Self::Library(name) => format!("`{name}`"),
            Self::OfTensor(_, name) | Self::OfList(_, name) | Self::OfText(_, name) => {
                format!("the method `{name}`")
            }
            Self::Unknown(what) => format!("`{what}`, which is not known without running it"),
        }
    }
}
