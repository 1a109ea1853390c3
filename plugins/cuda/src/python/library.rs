//! Python's own functions, `math` and PyTorch, as far as they are known: names, numbers, memory, and nothing that computes
//! with data.

use std::cell::RefCell;
use std::rc::Rc;

use assay_plugin::gpu::Dtype;
use ruff_text_size::TextRange;

use super::call::{CallArguments, ends_with, texts};
use super::expression::shown;
use super::layer::Layer;
use super::run::Run;
use super::value::Value;
use super::{Extension, unsupported};
use crate::limits::PYTHON_ELEMENTS_MAX;
use crate::verdict::{Failure, Stop, Verdict};

type SharedList = Rc<RefCell<Vec<Value>>>;

impl Run<'_> {
    /// A call of a name that the response did not define.
    pub(super) fn library(
        &mut self,
        name: &str,
        taken: CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        if ends_with(name, "load_inline") {
            return self.load_inline(&taken);
        }
        if name == "torch.utils.cpp_extension.load" {
            return Err(
                unsupported("it compiles files; only sources in load_inline are judged").into()
            );
        }
        if name.starts_with("super") || name.starts_with("torch.nn.Module") {
            return Ok(Value::library("super"));
        }
        if matches!(name, "torch.nn.Parameter" | "torch.nn.parameter.Parameter") {
            return Ok(Value::NewParameter);
        }
        let layer = name.strip_prefix("torch.nn.").filter(|kind| {
            kind.starts_with(|letter: char| letter.is_ascii_uppercase()) && !kind.contains('.')
        });
        if let Some(kind) = layer {
            return Ok(Value::Layer(Rc::new(Layer::new(kind, taken.values, taken.named))));
        }
        if let Some(found) = self.memory(name, &taken)? {
            return Ok(found);
        }
        let unknown = || Value::unknown(&self.source(range));
        Ok(match name {
            "len" => match taken.values.first() {
                Some(Value::List(list)) => Value::Int(list.borrow().len() as i64),
                Some(Value::Text(text)) => Value::Int(text.chars().count() as i64),
                Some(Value::Tensor(tensor)) => {
                    tensor.shape.first().map_or_else(unknown, |length| Value::int(*length))
                }
                _ => unknown(),
            },
            "isinstance" => is_instance(&taken).map_or_else(unknown, Value::Bool),
            "print" | "torch.cuda.synchronize" | "torch.cuda.empty_cache" | "torch.manual_seed" => {
                Value::None
            }
            "torch.cuda.is_available" => Value::Bool(true),
            "torch.no_grad" | "torch.inference_mode" | "torch.cuda.device" => Value::None,
            _ if taken.has_tensor() && name.starts_with("torch") => return Err(self.pytorch(range)),
            _ if taken.has_tensor() => return Err(self.unknown_call(range)),
            _ => numbers(name, &taken).unwrap_or_else(unknown),
        })
    }

    fn load_inline(&mut self, taken: &CallArguments) -> Result<Value, Stop> {
        let part = |place: usize, name: &str| {
            texts(taken.get(place, name)).ok_or_else(|| {
                unsupported(format!("{name} of load_inline is not known without running it"))
            })
        };
        let mut sources = part(1, "cpp_sources")?;
        let cuda = part(2, "cuda_sources")?;
        let functions = part(3, "functions")?;
        if cuda.is_empty() {
            let reason = "its load_inline has no cuda_sources";
            return Err(Failure::new(Verdict::GenerationFailed, reason).into());
        }
        sources.extend(cuda);
        // The run that reads and those at each size meet the same calls.
        self.extensions.push(Extension { sources, functions });
        Ok(Value::Extension(self.extensions.len() - 1))
    }

    /// `torch.empty` and its like: a new buffer, which `torch.zeros` fills.
    fn memory(&mut self, name: &str, taken: &CallArguments) -> Result<Option<Value>, Stop> {
        let Some(kind) = name.strip_prefix("torch.") else { return Ok(None) };
        let like = match (kind, taken.values.first()) {
            ("empty_like" | "zeros_like", Some(Value::Tensor(tensor))) => Some(tensor.clone()),
            ("empty" | "zeros", _) => None,
            _ => return Ok(None),
        };
        if self.at.is_none() {
            return Ok(Some(Value::unknown(name)));
        }
        let dtype = match taken.named("dtype") {
            None | Some(Value::None) => {
                like.as_ref().map_or(Some(Dtype::Fp32), |like| Some(like.dtype))
            }
            Some(Value::Library(name)) => dtype_of(name),
            Some(_) => None,
        };
        let shape = match &like {
            Some(like) => Some(like.shape.to_vec()),
            None => match taken.named("size") {
                Some(Value::List(list)) => shape_of(&list.borrow()),
                _ => shape_of(&taken.values),
            },
        };
        let (Some(dtype), Some(shape)) = (dtype, shape) else {
            return Err(unsupported(format!("the shape or type of a `{name}` is not known")).into());
        };
        let tensor = self.allocate(dtype, &shape)?;
        if kind.starts_with("zeros") {
            self.zero(&tensor);
        }
        Ok(Some(Value::Tensor(tensor)))
    }

    pub(super) fn list_method(
        &mut self,
        list: &SharedList,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        match (name, taken.values.first()) {
            ("append", Some(value))
                if list.borrow().len() < PYTHON_ELEMENTS_MAX
                    && !matches!(value, Value::List(_)) =>
            {
                list.borrow_mut().push(value.clone());
                Ok(Value::None)
            }
            // The number of elements of a shape.
            ("numel", _) => {
                let product = list
                    .borrow()
                    .iter()
                    .try_fold(1_i64, |product, value| product.checked_mul(value.as_int()?));
                Ok(product.map_or_else(|| Value::unknown(&self.source(range)), Value::Int))
            }
            // Others would change it.
            _ => Err(self.not_run(range)),
        }
    }

    pub(super) fn text_method(
        &mut self,
        text: &str,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let argument = |place: usize| taken.values.get(place).and_then(shown);
        match (name, argument(0), argument(1)) {
            ("strip", None, _) => self.text(text.trim()),
            ("lower", ..) => self.text(&text.to_lowercase()),
            ("replace", Some(from), Some(to))
                if !from.is_empty()
                    && text.len() + text.matches(&*from).count() * to.len()
                        <= crate::limits::SOURCE_BYTES_MAX =>
            {
                self.text(&text.replace(&from, &to))
            }
            _ => Ok(Value::unknown(&self.source(range))),
        }
    }
}

/// Integers one after the other, or in a list.
pub(super) fn shape_of(values: &[Value]) -> Option<Vec<u64>> {
    if let [Value::List(list)] = values {
        return shape_of(&list.borrow());
    }
    values.iter().map(|value| u64::try_from(value.as_int()?).ok()).collect()
}

pub(super) fn dtype_of(name: &str) -> Option<Dtype> {
    Some(match name.strip_prefix("torch.")? {
        "float32" | "float" => Dtype::Fp32,
        "float64" | "double" => Dtype::Fp64,
        "float16" | "half" => Dtype::Fp16,
        "bfloat16" => Dtype::Bf16,
        "int64" | "long" => Dtype::I64,
        "int32" | "int" => Dtype::I32,
        "int16" | "short" => Dtype::I16,
        "int8" => Dtype::I8,
        "uint8" | "bool" => Dtype::Ui8,
        _ => return None,
    })
}

fn is_instance(taken: &CallArguments) -> Option<bool> {
    let kinds = match taken.values.get(1)? {
        Value::List(kinds) => kinds.borrow().clone(),
        kind => vec![kind.clone()],
    };
    let value = taken.values.first()?;
    let mut found = false;
    for kind in kinds {
        let Value::Library(kind) = kind else { return None };
        found |= match (&*kind, value) {
            (_, Value::Unknown(_)) => return None,
            ("int", Value::Int(_) | Value::Bool(_)) => true,
            ("float", Value::Real(_)) | ("bool", Value::Bool(_)) | ("str", Value::Text(_)) => true,
            // Lists and tuples are one here.
            ("tuple" | "list", Value::List(_)) => true,
            ("torch.Tensor", Value::Tensor(_)) => true,
            ("int" | "float" | "bool" | "str" | "tuple" | "list" | "torch.Tensor", _) => false,
            _ => return None,
        };
    }
    Some(found)
}

/// Functions of numbers, of Python and of `math`.
fn numbers(name: &str, taken: &CallArguments) -> Option<Value> {
    let value = |place: usize| taken.values.get(place);
    let real = |place: usize| value(place)?.as_real();
    let whole = |value: f64| (value.abs() < 9e15).then_some(Value::Int(value as i64));
    match name {
        "int" => value(0)?.as_int().map(Value::Int).or_else(|| whole(real(0)?.trunc())),
        "float" => real(0).map(Value::Real),
        "bool" => value(0)?.truth().map(Value::Bool),
        "str" => Some(Value::text(&shown(value(0)?)?)),
        "abs" => match value(0)? {
            Value::Real(value) => Some(Value::Real(value.abs())),
            value => value.as_int()?.checked_abs().map(Value::Int),
        },
        "round" if taken.values.len() == 1 => whole(real(0)?.round_ties_even()),
        "tuple" | "list" | "torch.Size" => match value(0) {
            None => Some(Value::list(Vec::new())),
            Some(Value::List(list)) => Some(Value::list(list.borrow().clone())),
            Some(_) => None,
        },
        "min" | "max" => {
            let list = match &taken.values[..] {
                [Value::List(list)] => list.borrow().clone(),
                values => values.to_vec(),
            };
            let better = |one: f64, best: f64| if name == "min" { one < best } else { one > best };
            let mut best: Option<Value> = None;
            for one in list {
                let is_better = match &best {
                    Some(best) => better(one.as_real()?, best.as_real()?),
                    None => one.as_real().is_some(),
                };
                if is_better {
                    best = Some(one);
                }
            }
            best
        }
        "sum" | "math.prod" => match value(0)? {
            Value::List(list) => {
                let begin = if name == "sum" { 0_i64 } else { 1 };
                let join = |all: i64, one: &Value| match name {
                    "sum" => all.checked_add(one.as_int()?),
                    _ => all.checked_mul(one.as_int()?),
                };
                list.borrow().iter().try_fold(begin, join).map(Value::Int)
            }
            _ => None,
        },
        "range" => {
            let integer = |place: usize| value(place)?.as_int();
            let (begin, end, step) = match taken.values.len() {
                1 => (0, integer(0)?, 1),
                2 => (integer(0)?, integer(1)?, 1),
                _ => (integer(0)?, integer(1)?, integer(2)?),
            };
            let mut values = Vec::new();
            let mut at = begin;
            while step != 0 && (if step > 0 { at < end } else { at > end }) {
                if values.len() >= PYTHON_ELEMENTS_MAX {
                    return None;
                }
                values.push(Value::Int(at));
                at = at.checked_add(step)?;
            }
            Some(Value::list(values))
        }
        "math.ceil" => whole(real(0)?.ceil()),
        "math.floor" => whole(real(0)?.floor()),
        "math.sqrt" => real(0).filter(|value| *value >= 0.0).map(|value| Value::Real(value.sqrt())),
        "math.exp" => Some(Value::Real(real(0)?.exp())),
        "math.log" if taken.values.len() == 1 => {
            real(0).filter(|value| *value > 0.0).map(|value| Value::Real(value.ln()))
        }
        "math.log2" => real(0).filter(|value| *value > 0.0).map(|value| Value::Real(value.log2())),
        "math.pow" => Some(Value::Real(real(0)?.powf(real(1)?))),
        _ => None,
    }
}
