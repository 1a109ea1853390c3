//! Tensors: their shapes, other shapes over the same memory, and new memory.

use assay_plugin::gpu::{Address, CopyBytes, Dtype, SetBytes, Step};
use ruff_text_size::TextRange;

use super::call::CallArguments;
use super::expression::place;
use super::library::{dtype_of, shape_of};
use super::run::Run;
use super::unsupported;
use super::value::{ShapedTensor, Value};
use crate::limits::{DIMENSIONS_MAX, SCRATCH_BYTES_MAX};
use crate::verdict::{Failure, Stop};

impl ShapedTensor {
    fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    fn bytes(&self) -> u64 {
        self.count() * self.dtype.bytes()
    }

    fn with_shape(&self, shape: Vec<u64>) -> Option<Self> {
        let count = shape.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))?;
        (count == self.count() && shape.len() <= DIMENSIONS_MAX)
            .then(|| Self { shape: shape.into(), ..self.clone() })
    }
}

impl Run<'_> {
    pub(super) fn allocate(
        &mut self,
        dtype: Dtype,
        shape: &[u64],
    ) -> Result<ShapedTensor, Failure> {
        let count = shape.iter().try_fold(dtype.bytes(), |bytes, size| bytes.checked_mul(*size));
        let held: u64 = self.scratch_bytes.iter().sum();
        let bytes = count
            .filter(|bytes| held.checked_add(*bytes).is_some_and(|sum| sum <= SCRATCH_BYTES_MAX));
        let Some(bytes) = bytes else {
            return Err(unsupported(format!(
                "its tensors take more than {SCRATCH_BYTES_MAX} bytes"
            )));
        };
        let buffer = self.task.buffers.len() + self.scratch_bytes.len();
        let buffer = u32::try_from(buffer).map_err(|_| unsupported("it makes too many tensors"))?;
        self.scratch_bytes.push(bytes);
        Ok(ShapedTensor { buffer, offset: 0, dtype, shape: shape.into() })
    }

    pub(super) fn zero(&mut self, tensor: &ShapedTensor) {
        let at = Address { buffer: tensor.buffer, offset: tensor.offset };
        self.steps.push(Step::Set(SetBytes { at, value: 0, bytes: tensor.bytes() }));
    }

    /// An attribute: the value of `x.shape`, or the method `x.view`.
    pub(super) fn of_tensor(&self, tensor: ShapedTensor, name: &str) -> Value {
        match name {
            "shape" => Value::ints(&tensor.shape),
            "ndim" => Value::Int(tensor.shape.len() as i64),
            "dtype" => Value::library(name_of(tensor.dtype)),
            "device" => Value::library("torch.device"),
            "is_cuda" => Value::Bool(true),
            "requires_grad" => Value::Bool(false),
            "data" => Value::Tensor(tensor),
            name => Value::OfTensor(tensor, name.into()),
        }
    }

    pub(super) fn tensor_method(
        &mut self,
        tensor: &ShapedTensor,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let rank = tensor.shape.len();
        let same = || Ok(Value::Tensor(tensor.clone()));
        let at = |index: usize| taken.values.get(index).and_then(Value::as_int);
        let dimension = |index: usize| at(index).and_then(|value| place(value, rank));
        let reshaped = |shape: Option<Vec<u64>>| {
            shape.and_then(|shape| tensor.with_shape(shape)).map(Value::Tensor).ok_or_else(|| {
                let what = self.source(range);
                Stop::from(unsupported(format!(
                    "the shape of `{what}` is not known, or does not fit"
                )))
            })
        };
        match name {
            "contiguous" | "cuda" | "detach" | "requires_grad_" => same(),
            "float" if tensor.dtype == Dtype::Fp32 => same(),
            "to" | "type" if self.keeps_type(tensor, taken) => same(),
            "size" => match taken.values.len() {
                0 => Ok(Value::ints(&tensor.shape)),
                _ => dimension(0)
                    .map(|at| Value::int(tensor.shape[at]))
                    .ok_or_else(|| self.pytorch(range)),
            },
            "dim" | "ndimension" => Ok(Value::Int(rank as i64)),
            "numel" | "nelement" => Ok(Value::int(tensor.count())),
            "element_size" => Ok(Value::int(tensor.dtype.bytes())),
            "is_contiguous" => Ok(Value::Bool(true)),
            "stride" => {
                let strides = strides(&tensor.shape);
                match dimension(0) {
                    Some(at) => Ok(Value::int(strides[at])),
                    None => Ok(Value::ints(&strides)),
                }
            }
            "view" | "reshape" => reshaped(inferred(&taken.values, tensor.count())),
            "view_as" | "reshape_as" => match taken.values.first() {
                Some(Value::Tensor(like)) => reshaped(Some(like.shape.to_vec())),
                _ => Err(self.pytorch(range)),
            },
            "flatten" => {
                let first = if taken.values.is_empty() { Some(0) } else { dimension(0) };
                let last = if taken.values.len() < 2 { rank.checked_sub(1) } else { dimension(1) };
                reshaped(first.zip(last).filter(|(first, last)| first <= last).map(
                    |(first, last)| {
                        let inner = tensor.shape[first..=last].iter().product();
                        [&tensor.shape[..first], &[inner], &tensor.shape[last + 1..]].concat()
                    },
                ))
            }
            "unsqueeze" => {
                let to = at(0).and_then(|value| place(value, rank + 1));
                reshaped(to.map(|to| [&tensor.shape[..to], &[1], &tensor.shape[to..]].concat()))
            }
            "squeeze" => match taken.values.len() {
                0 => {
                    reshaped(Some(tensor.shape.iter().copied().filter(|size| *size != 1).collect()))
                }
                _ => reshaped(dimension(0).map(|at| {
                    let mut shape = tensor.shape.to_vec();
                    if shape[at] == 1 {
                        shape.remove(at);
                    }
                    shape
                })),
            },
            "clone" => {
                let copy = self.allocate(tensor.dtype, &tensor.shape)?;
                let from = Address { buffer: tensor.buffer, offset: tensor.offset };
                let to = Address { buffer: copy.buffer, offset: 0 };
                self.steps.push(Step::Copy(CopyBytes { to, from, bytes: tensor.bytes() }));
                Ok(Value::Tensor(copy))
            }
            "new_empty" | "new_zeros" if taken.named.is_empty() => {
                let shape = shape_of(&taken.values).ok_or_else(|| self.pytorch(range))?;
                let made = self.allocate(tensor.dtype, &shape)?;
                if name == "new_zeros" {
                    self.zero(&made);
                }
                Ok(Value::Tensor(made))
            }
            _ => Err(self.pytorch(range)),
        }
    }

    /// Whether `to` only names where the tensor is, and the type that it has.
    fn keeps_type(&self, tensor: &ShapedTensor, taken: &CallArguments) -> bool {
        let named = taken.named.iter().map(|(_, value)| value);
        taken.values.iter().chain(named).all(|value| match value {
            Value::Library(name) => dtype_of(name).is_none_or(|dtype| dtype == tensor.dtype),
            Value::Text(device) => device.starts_with("cuda"),
            Value::Bool(_) => true,
            _ => false,
        })
    }
}

/// A shape with one size left open as -1.
fn inferred(values: &[Value], count: u64) -> Option<Vec<u64>> {
    let sizes: Vec<i64> = match values {
        [Value::List(list)] => list.borrow().iter().map(Value::as_int).collect::<Option<_>>()?,
        values => values.iter().map(Value::as_int).collect::<Option<_>>()?,
    };
    let known = sizes.iter().filter(|size| **size != -1);
    let known = known.map(|size| u64::try_from(*size).ok());
    let known = known.collect::<Option<Vec<_>>>()?;
    let product = known.iter().try_fold(1_u64, |product, size| product.checked_mul(*size))?;
    let open = count.checked_div(product).unwrap_or(0);
    if sizes.len() > known.len() + 1 {
        return None;
    }
    sizes
        .iter()
        .map(|size| if *size == -1 { Some(open) } else { u64::try_from(*size).ok() })
        .collect()
}

fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at] * shape[at].max(1);
    }
    strides
}

fn name_of(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Fp64 => "torch.float64",
        Dtype::Fp32 => "torch.float32",
        Dtype::Fp16 => "torch.float16",
        Dtype::Bf16 => "torch.bfloat16",
        Dtype::I64 => "torch.int64",
        Dtype::I32 => "torch.int32",
        Dtype::I16 => "torch.int16",
        Dtype::I8 => "torch.int8",
        Dtype::Ui8 => "torch.uint8",
        Dtype::Ui64 => "torch.uint64",
        Dtype::Ui32 => "torch.uint32",
        Dtype::Ui16 => "torch.uint16",
    }
}
