//! Python's own functions, `math` and PyTorch, as far as they are known: names, numbers, memory, and nothing that computes
//! with data.

use std::rc::Rc;

use assay_plugin::gpu::Dtype;
use ruff_python_ast::Operator;
use ruff_text_size::TextRange;

use super::arithmetic::of_integers;
use super::call::{CallArguments, ends_with};
use super::layer::Layer;
use super::run::Run;
use super::text::shown;
use super::unsupported;
use super::value::Value;
use crate::limits::PYTHON_ELEMENTS_MAX;
use crate::verdict::Stop;

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
        if name.ends_with("cpp_extension.load") {
            return self.load(&taken);
        }
        if let Some(found) = self.of_files(name, &taken) {
            return found;
        }
        if name.starts_with("torch.nn.Module.") {
            return Ok(Value::None);
        }
        if matches!(name, "torch.nn.Parameter" | "torch.nn.parameter.Parameter") {
            return Ok(match taken.values.first() {
                // A copy of the task's own numbers, such as another layout of them.
                Some(Value::Tensor(tensor)) if self.holds_data(tensor) => {
                    Value::Tensor(tensor.clone())
                }
                Some(Value::Parameter(name)) => Value::Parameter(name.clone()),
                _ => Value::NewParameter,
            });
        }
        let layer = name.strip_prefix("torch.nn.").filter(|kind| {
            kind.starts_with(|letter: char| letter.is_ascii_uppercase()) && !kind.contains('.')
        });
        if let Some(kind) = layer {
            self.count_layer()?;
            return Ok(Value::Layer(Rc::new(Layer::new(kind, taken.values, taken.named))));
        }
        if let Some(found) = self.memory(name, &taken)? {
            return Ok(found);
        }
        if name.strip_prefix("torch.nn.init.").is_some_and(|kind| !kind.starts_with('_'))
            && matches!(taken.values.first(), Some(Value::Tensor(one)) if self.holds_data(one))
        {
            // The first values of a parameter are the task's own.
            return Ok(Value::None);
        }
        if let Some(found) = self.functional(name, &taken, range) {
            return found;
        }
        if let Some(found) = self.of_collections(name, &taken, range) {
            return found;
        }
        let unknown = || Value::unknown(&self.source(range));
        Ok(match name {
            "isinstance" => is_instance(&taken).map_or_else(unknown, Value::Bool),
            "print" | "torch.cuda.synchronize" | "torch.cuda.empty_cache" | "torch.manual_seed" => {
                Value::None
            }
            "string.Template" => taken.values.first().cloned().unwrap_or_else(unknown),
            // The indentation that it removes means nothing in C++.
            "textwrap.dedent" => taken.values.first().cloned().unwrap_or_else(unknown),
            // Numbers for random first values, which are the task's own.
            "torch.nn.init._calculate_fan_in_and_fan_out" => {
                Value::Tuple([Value::Int(1), Value::Int(1)].into())
            }
            "torch.cuda.is_available" => Value::Bool(true),
            "torch.no_grad" | "torch.inference_mode" | "torch.cuda.device" => Value::None,
            _ if taken.has_tensor() && name.starts_with("torch") => return Err(self.pytorch(range)),
            _ if taken.has_tensor() => return Err(self.unknown_call(range)),
            "str" => match taken.values.first().and_then(shown) {
                Some(text) => self.text(&text)?,
                None => unknown(),
            },
            _ => numbers(name, &taken).unwrap_or_else(unknown),
        })
    }

    /// Functions of PyTorch that are methods of tensors as well, and move no data by themselves.
    fn functional(
        &mut self,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Option<Result<Value, Stop>> {
        const METHODS: [&str; 16] = [
            "transpose",
            "swapaxes",
            "permute",
            "reshape",
            "flatten",
            "unsqueeze",
            "squeeze",
            "t",
            "clone",
            "numel",
            "chunk",
            "split",
            "unbind",
            "narrow",
            "select",
            "is_floating_point",
        ];
        let method = METHODS.iter().find(|method| name.strip_prefix("torch.") == Some(method))?;
        let (Value::Tensor(tensor), rest) = taken.values.split_first()? else { return None };
        let taken = CallArguments { values: rest.to_vec(), named: taken.named.clone() };
        Some(self.tensor_method(tensor, method, &taken, range))
    }

    /// Functions of lists, and of attributes by their names.
    fn of_collections(
        &mut self,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Option<Result<Value, Stop>> {
        let values = &taken.values[..];
        Some(match (name, values) {
            ("len", [Value::Text(text)]) => Ok(Value::Int(text.chars().count() as i64)),
            ("len", [Value::Dictionary(entries)]) => Ok(Value::Int(entries.borrow().len() as i64)),
            ("len", [Value::Tensor(tensor)]) => {
                let length = tensor.shape.first().copied();
                length.map(Value::int).ok_or_else(|| self.unknown_place(range))
            }
            ("len", [list]) => {
                self.elements(list, range).map(|values| Value::Int(values.len() as i64))
            }
            ("enumerate", [list, rest @ ..]) => {
                let first = rest.first().or_else(|| taken.named("start"));
                let first = first.map_or(Some(0), Value::as_int)?;
                self.elements(list, range).and_then(|values| {
                    let numbered = (first..).map(Value::Int).zip(values);
                    let pairs = numbered.map(|(number, value)| self.tuple(vec![number, value]));
                    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
                    self.list(pairs)
                })
            }
            ("zip", [_, ..]) => self.zipped(values, range),
            ("reversed", [list]) => self.elements(list, range).and_then(|mut values| {
                values.reverse();
                self.list(values)
            }),
            ("tuple" | "torch.Size", [list]) => {
                self.elements(list, range).and_then(|values| self.tuple(values))
            }
            ("list", [list]) => self.elements(list, range).and_then(|values| self.list(values)),
            ("tuple", []) => self.tuple(Vec::new()),
            ("list", []) => self.list(Vec::new()),
            ("dict", []) => {
                let named = taken.named.iter();
                let entries = named.map(|(name, value)| (Value::text(name), value.clone()));
                self.dictionary(entries.collect(), range)
            }
            ("setattr", [owner, Value::Text(name), value]) => {
                self.assign_attribute(owner, name, value.clone(), range).map(|()| Value::None)
            }
            ("getattr", [owner, Value::Text(name), rest @ ..]) => {
                let found = self.attribute_of(owner.clone(), name, range);
                match (found, rest) {
                    (Ok(Value::Unknown(_)), [other]) => Ok(other.clone()),
                    (found, _) => found,
                }
            }
            ("hasattr", [Value::Object(object), Value::Text(name)]) => {
                let own = object.attributes.borrow().contains_key(&**name);
                Ok(Value::Bool(own || object.class.member(name).is_some()))
            }
            _ => return None,
        })
    }

    fn zipped(&mut self, lists: &[Value], range: TextRange) -> Result<Value, Stop> {
        let mut all = Vec::new();
        for list in lists {
            let values = self.elements(list, range)?;
            self.charge(size_of_val(&*values))?;
            all.push(values);
        }
        let shortest = all.iter().map(Vec::len).min().unwrap_or(0);
        let mut rows = Vec::new();
        for at in 0..shortest {
            rows.push(self.tuple(all.iter().map(|list| list[at].clone()).collect())?);
        }
        self.list(rows)
    }

    /// `torch.empty` and its like: a new buffer, which `torch.zeros` fills.
    fn memory(&mut self, name: &str, taken: &CallArguments) -> Result<Option<Value>, Stop> {
        let Some(kind) = name.strip_prefix("torch.") else { return Ok(None) };
        let like = match (kind, taken.values.first()) {
            ("empty_like" | "zeros_like", Some(Value::Tensor(tensor))) => Some(tensor.clone()),
            ("empty" | "zeros", _) => None,
            // A tensor without elements, which often stands for one that there is not.
            ("tensor" | "Tensor", None) => None,
            ("tensor" | "Tensor", Some(list))
                if list.sequence().is_some_and(|it| it.is_empty()) =>
            {
                None
            }
            _ => return Ok(None),
        };
        if like.as_ref().is_some_and(|like| !like.is_contiguous()) {
            let reason = format!("a `{name}` of what is not contiguous has its layout");
            return Err(unsupported(reason).into());
        }
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
            None if kind.eq_ignore_ascii_case("tensor") => Some(vec![0]),
            None => match taken.named("size").and_then(Value::sequence) {
                Some(sizes) => shape_of(&sizes),
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
}

/// Integers one after the other, or in a list.
pub(super) fn shape_of(values: &[Value]) -> Option<Vec<u64>> {
    if let [one] = values
        && let Some(sizes) = one.sequence()
    {
        return shape_of(&sizes);
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
    let kinds = taken.values.get(1)?;
    let kinds = kinds.sequence().unwrap_or_else(|| vec![kinds.clone()]);
    let value = taken.values.first()?;
    let mut found = false;
    for kind in kinds {
        let Value::Library(kind) = kind else { return None };
        found |= match (&*kind, value) {
            (_, Value::Unknown(_)) => return None,
            ("int", Value::Int(_) | Value::Bool(_)) => true,
            ("float", Value::Real(_)) | ("bool", Value::Bool(_)) | ("str", Value::Text(_)) => true,
            ("tuple", Value::Tuple(_)) | ("list", Value::List(_)) => true,
            ("dict", Value::Dictionary(_)) => true,
            ("torch.Tensor", Value::Tensor(_)) => true,
            ("int" | "float" | "bool" | "str" | "tuple" | "list" | "dict" | "torch.Tensor", _) => {
                false
            }
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
        "float" => match value(0)?.as_text().map(|text| text.trim().to_lowercase()).as_deref() {
            Some("inf" | "+inf" | "infinity") => Some(Value::Real(f64::INFINITY)),
            Some("-inf" | "-infinity") => Some(Value::Real(f64::NEG_INFINITY)),
            _ => real(0).map(Value::Real),
        },
        "bool" => value(0)?.truth().map(Value::Bool),
        "abs" => match value(0)? {
            Value::Real(value) => Some(Value::Real(value.abs())),
            value => value.as_int()?.checked_abs().map(Value::Int),
        },
        "round" if taken.values.len() == 1 => whole(real(0)?.round_ties_even()),
        "all" | "any" => {
            let wanted = name == "any";
            let values = value(0)?.sequence()?;
            let truths = values.iter().map(Value::truth).collect::<Option<Vec<_>>>()?;
            Some(Value::Bool(truths.contains(&wanted) == wanted))
        }
        "sorted" if taken.values.len() + taken.named.len() == 1 => {
            let mut values = value(0)?.sequence()?;
            let reals = values.iter().map(Value::as_real).collect::<Option<Vec<_>>>()?;
            if reals.iter().any(|value| value.is_nan()) {
                return None;
            }
            values
                .sort_by(|one, other| one.as_real().partial_cmp(&other.as_real()).expect("no NaN"));
            Some(Value::list(values))
        }
        "min" | "max" => {
            let list = match &taken.values[..] {
                [one] => one.sequence()?,
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
        "sum" | "math.prod" | "numpy.prod" => {
            let begin = if name == "sum" { 0_i64 } else { 1 };
            let join = |all: i64, one: &Value| match name {
                "sum" => all.checked_add(one.as_int()?),
                _ => all.checked_mul(one.as_int()?),
            };
            value(0)?.sequence()?.iter().try_fold(begin, join).map(Value::Int)
        }
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
        "math.sqrt" | "numpy.sqrt" => {
            real(0).filter(|value| *value >= 0.0).map(|value| Value::Real(value.sqrt()))
        }
        "math.exp" => Some(Value::Real(real(0)?.exp())),
        "math.log" if taken.values.len() == 1 => {
            real(0).filter(|value| *value > 0.0).map(|value| Value::Real(value.ln()))
        }
        "math.log2" => real(0).filter(|value| *value > 0.0).map(|value| Value::Real(value.log2())),
        "divmod" => {
            let (left, right) = (value(0)?.as_int()?, value(1)?.as_int()?);
            let whole = of_integers(Operator::FloorDiv, left, right)?;
            Some(Value::Tuple([whole, of_integers(Operator::Mod, left, right)?].into()))
        }
        "math.pow" => Some(Value::Real(real(0)?.powf(real(1)?))),
        _ => None,
    }
}
