//! The values that a response's Python has while it is run over shapes.

use std::cell::RefCell;
use std::rc::Rc;

use ruff_python_ast::StmtFunctionDef;

use super::collection::Dictionary;
use super::layer::Layer;
use super::scope::{Locals, Variables};
use super::tensor::ShapedTensor;

pub(super) type SharedList = Rc<RefCell<Vec<Value>>>;

#[derive(Debug, Clone)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i64),
    Real(f64),
    Text(Rc<str>),
    List(SharedList),
    Tuple(Rc<[Value]>),
    Dictionary(Rc<RefCell<Dictionary>>),
    Tensor(ShapedTensor),
    /// A parameter of the module by its name, which is a tensor at each size.
    Parameter(Rc<str>),
    /// A parameter before it has a name.
    NewParameter,
    Layer(Rc<Layer>),
    /// An instance of one of the response's own classes.
    Object(Rc<Object>),
    Class(Rc<OwnClass>),
    Function(Rc<OwnFunction>),
    Method(Rc<Method>),
    /// `super()`: an object, and the class in which its methods are looked for.
    Parent(Rc<Value>, Option<Rc<OwnClass>>),
    /// The result of a `load_inline`, by its number, and one of its functions.
    Extension(usize),
    Compiled(usize, Rc<str>),
    /// A file of the response's own, by its path.
    File(Rc<str>),
    /// A name of a library, such as `torch.float32`, or of Python itself.
    Library(Rc<str>),
    /// A method that is not called yet: `x.view`, by the value and its name.
    Bound(Rc<Value>, Rc<str>),
    /// Whatever is not known without data, in the response's own words.
    Unknown(Rc<str>),
}

#[derive(Debug)]
pub(super) struct Object {
    pub(super) class: Rc<OwnClass>,
    pub(super) attributes: RefCell<Variables>,
}

/// A class of the response's own. Of several bases the first is known that is its own as well.
#[derive(Debug)]
pub(super) struct OwnClass {
    pub(super) name: String,
    pub(super) base: Option<Rc<OwnClass>>,
    pub(super) attributes: RefCell<Variables>,
}

/// A function with the names that it sees.
#[derive(Debug)]
pub(super) struct OwnFunction {
    pub(super) definition: Rc<StmtFunctionDef>,
    pub(super) outer: Locals,
}

/// A function with its first argument, and the class that defines it.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) owner: Value,
    pub(super) function: Rc<OwnFunction>,
    pub(super) class: Rc<OwnClass>,
}

impl OwnClass {
    /// The value of this name that the class has, or one that it is derived from; and which of them.
    pub(super) fn member(self: &Rc<Self>, name: &str) -> Option<(Value, Rc<Self>)> {
        let mut class = Some(self);
        while let Some(one) = class {
            if let Some(value) = one.attributes.borrow().get(name) {
                return Some((value.clone(), one.clone()));
            }
            class = one.base.as_ref();
        }
        None
    }

    pub(super) fn function(self: &Rc<Self>, name: &str) -> Option<(Rc<OwnFunction>, Rc<Self>)> {
        match self.member(name) {
            Some((Value::Function(function), class)) => Some((function, class)),
            _ => None,
        }
    }
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
        Self::Tuple(values.iter().map(|value| Self::int(*value)).collect())
    }

    pub(super) fn int(value: u64) -> Self {
        i64::try_from(value).map_or_else(|_| Self::unknown("a large number"), Self::Int)
    }

    /// The values of a list or tuple.
    pub(super) fn sequence(&self) -> Option<Vec<Self>> {
        match self {
            Self::List(values) => Some(values.borrow().clone()),
            Self::Tuple(values) => Some(values.to_vec()),
            _ => None,
        }
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
            Self::Tuple(values) => Some(!values.is_empty()),
            Self::Dictionary(entries) => Some(!entries.borrow().is_empty()),
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
            Self::Tuple(_) => "a tuple".into(),
            Self::Dictionary(_) => "a dictionary".into(),
            Self::Tensor(_) => "a tensor".into(),
            Self::Parameter(name) => format!("the parameter `{name}`"),
            Self::NewParameter => "a parameter".into(),
            Self::Layer(layer) => format!("a layer of torch.nn, {}", layer.kind),
            Self::Object(object) => format!("an object of `{}`", object.class.name),
            Self::Class(class) => format!("the class `{}`", class.name),
            Self::Function(function) => format!("the function `{}`", function.definition.name),
            Self::Method(method) => format!("the function `{}`", method.function.definition.name),
            Self::Parent(..) => "what super gives".into(),
            Self::Extension(_) => "what load_inline gives".into(),
            Self::Compiled(_, name) => format!("the function `{name}`"),
            Self::File(path) => format!("the file `{path}`"),
            Self::Library(name) => format!("`{name}`"),
            Self::Bound(_, name) => format!("the method `{name}`"),
            Self::Unknown(what) => format!("`{what}`, which is not known without running it"),
        }
    }
}
