//! Tensors: their shapes, other shapes over the same memory, and new memory.

use std::rc::Rc;

use assay_plugin::gpu::{Address, CopyBytes, Dtype, SetBytes, Step};
use ruff_text_size::TextRange;

use super::call::CallArguments;
use super::expression::place;
use super::library::{dtype_of, shape_of};
use super::run::Run;
use super::unsupported;
use super::value::Value;
use crate::limits::{CALL_BUFFERS_MAX, DIMENSIONS_MAX, SCRATCH_BYTES_MAX};
use crate::verdict::{Failure, Stop};

/// A view of a buffer: places of the first element in bytes, sizes, and steps in elements.
#[derive(Debug, Clone)]
pub(super) struct ShapedTensor {
    pub(super) buffer: u32,
    pub(super) offset: u64,
    pub(super) dtype: Dtype,
    pub(super) shape: Rc<[u64]>,
    pub(super) strides: Rc<[u64]>,
}

impl ShapedTensor {
    /// Contiguous, the last dimension fastest.
    pub(super) fn new(buffer: u32, offset: u64, dtype: Dtype, shape: &[u64]) -> Self {
        Self { buffer, offset, dtype, shape: shape.into(), strides: strides(shape).into() }
    }

    pub(super) fn is_contiguous(&self) -> bool {
        let expected = strides(&self.shape);
        let dimensions = self.shape.iter().zip(self.strides.iter().zip(&expected));
        self.count() == 0 || dimensions.into_iter().all(|(size, (is, to))| *size == 1 || is == to)
    }

    fn count(&self) -> u64 {
        self.shape.iter().product()
    }

    fn bytes(&self) -> u64 {
        self.count() * self.dtype.bytes()
    }

    fn address(&self) -> Address {
        Address { buffer: self.buffer, offset: self.offset }
    }

    /// The same elements in another shape, of a tensor that is contiguous.
    fn with_shape(&self, shape: &[u64]) -> Option<Self> {
        let count = shape.iter().try_fold(1_u64, |count, size| count.checked_mul(*size))?;
        (count == self.count() && shape.len() <= DIMENSIONS_MAX && self.is_contiguous())
            .then(|| Self::new(self.buffer, self.offset, self.dtype, shape))
    }
}

impl Run<'_> {
    pub(super) fn allocate(
        &mut self,
        dtype: Dtype,
        shape: &[u64],
    ) -> Result<ShapedTensor, Failure> {
        if shape.len() > DIMENSIONS_MAX {
            let reason = format!("it makes a tensor of more than {DIMENSIONS_MAX} dimensions");
            return Err(unsupported(reason));
        }
        let count = shape.iter().try_fold(dtype.bytes(), |bytes, size| bytes.checked_mul(*size));
        let held = self.scratch_bytes.iter().fold(0, |sum: u64, one| sum.saturating_add(*one));
        let bytes = count
            .filter(|bytes| held.checked_add(*bytes).is_some_and(|sum| sum <= SCRATCH_BYTES_MAX));
        let Some(bytes) = bytes else {
            return Err(unsupported(format!(
                "its tensors take more than {SCRATCH_BYTES_MAX} bytes"
            )));
        };
        let buffer = self.task.buffers.len() + self.scratch_bytes.len();
        if buffer >= CALL_BUFFERS_MAX {
            return Err(unsupported("it makes too many tensors"));
        }
        self.scratch_bytes.push(bytes);
        Ok(ShapedTensor::new(buffer as u32, 0, dtype, shape))
    }

    /// Whether its numbers are the task's own, perhaps in a copy.
    pub(super) fn holds_data(&self, tensor: &ShapedTensor) -> bool {
        let buffer = tensor.buffer;
        (buffer as usize) < self.task.buffers.len() || self.copies.contains(&buffer)
    }

    pub(super) fn zero(&mut self, tensor: &ShapedTensor) {
        self.steps.push(Step::Set(SetBytes {
            at: tensor.address(),
            value: 0,
            bytes: tensor.bytes(),
        }));
    }

    /// An attribute: the value of `x.shape`, or the method `x.view`.
    pub(super) fn of_tensor(&self, tensor: ShapedTensor, name: &str) -> Value {
        let rank = tensor.shape.len();
        match name {
            "shape" => Value::ints(&tensor.shape),
            "ndim" => Value::Int(rank as i64),
            "dtype" => Value::library(name_of(tensor.dtype)),
            "device" => Value::library("torch.device"),
            "is_cuda" => Value::Bool(true),
            "requires_grad" => Value::Bool(false),
            "data" => Value::Tensor(tensor),
            "T" if rank == 2 => Value::Tensor(tensor.swapped(0, 1)),
            "mT" if rank >= 2 => Value::Tensor(tensor.swapped(rank - 2, rank - 1)),
            name => Value::Bound(Rc::new(Value::Tensor(tensor)), name.into()),
        }
    }

    pub(super) fn tensor_method(
        &mut self,
        tensor: &ShapedTensor,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        if let Some(view) = self.view_method(tensor, name, taken, range) {
            return view;
        }
        let rank = tensor.shape.len();
        let same = || Ok(Value::Tensor(tensor.clone()));
        let at = |index: usize| taken.values.get(index).and_then(Value::as_int);
        let dimension = |index: usize| at(index).and_then(|value| place(value, rank));
        match name {
            "cuda" | "detach" | "requires_grad_" => same(),
            "contiguous" if tensor.is_contiguous() => same(),
            "contiguous" => Ok(Value::Tensor(self.copied(tensor)?)),
            "float" if tensor.dtype == Dtype::Fp32 => same(),
            "to" | "type" if self.keeps_type(tensor, taken) => same(),
            "size" => match taken.values.len() + taken.named.len() {
                0 => Ok(Value::ints(&tensor.shape)),
                _ => taken
                    .get(0, "dim")
                    .and_then(|value| place(value.as_int()?, rank))
                    .map(|at| Value::int(tensor.shape[at]))
                    .ok_or_else(|| self.unknown_place(range)),
            },
            "dim" | "ndimension" => Ok(Value::Int(rank as i64)),
            "numel" | "nelement" => Ok(Value::int(tensor.count())),
            "element_size" => Ok(Value::int(tensor.dtype.bytes())),
            "is_contiguous" => Ok(Value::Bool(tensor.is_contiguous())),
            "is_floating_point" => Ok(Value::Bool(matches!(
                tensor.dtype,
                Dtype::Fp64 | Dtype::Fp32 | Dtype::Fp16 | Dtype::Bf16
            ))),
            "stride" => match dimension(0) {
                Some(at) => Ok(Value::int(tensor.strides[at])),
                None => Ok(Value::ints(&tensor.strides)),
            },
            // A plan has one order, whatever the streams are.
            "record_stream" => Ok(Value::None),
            "data_ptr" => Ok(Value::unknown(&self.source(range))),
            "view" if !tensor.is_contiguous() => {
                let what = self.source(range);
                Err(unsupported(format!("`{what}` is a view of what is not contiguous")).into())
            }
            "view" | "reshape" => {
                self.reshaped(tensor, inferred(&taken.values, tensor.count()), range)
            }
            "view_as" | "reshape_as" => match taken.values.first() {
                Some(Value::Tensor(like)) => {
                    self.reshaped(tensor, Some(like.shape.to_vec()), range)
                }
                _ => Err(self.pytorch(range)),
            },
            "flatten" => {
                let bound = |at: usize, name: &str, absent: i64| {
                    let value = taken.get(at, name).map_or(Some(absent), Value::as_int);
                    value.and_then(|value| place(value, rank))
                };
                let (first, last) = (bound(0, "start_dim", 0), bound(1, "end_dim", -1));
                let shape = first.zip(last).filter(|(first, last)| first <= last);
                let shape = shape.map(|(first, last)| {
                    let inner = tensor.shape[first..=last].iter().product();
                    [&tensor.shape[..first], &[inner], &tensor.shape[last + 1..]].concat()
                });
                self.reshaped(tensor, shape, range)
            }
            "clone" if tensor.is_contiguous() => {
                let copy = self.allocate(tensor.dtype, &tensor.shape)?;
                self.copies.insert(copy.buffer);
                self.copy_bytes(tensor, &copy);
                Ok(Value::Tensor(copy))
            }
            "copy_" => match taken.values.first() {
                Some(Value::Tensor(from))
                    if from.shape == tensor.shape
                        && from.dtype == tensor.dtype
                        && from.is_contiguous()
                        && tensor.is_contiguous() =>
                {
                    self.copy_bytes(from, tensor);
                    same()
                }
                _ => Err(self.pytorch(range)),
            },
            "zero_" if tensor.is_contiguous() => {
                self.zero(tensor);
                same()
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

    fn copy_bytes(&mut self, from: &ShapedTensor, to: &ShapedTensor) {
        let (to, bytes) = (to.address(), from.bytes());
        self.steps.push(Step::Copy(CopyBytes { to, from: from.address(), bytes }));
    }

    /// Another shape, of a copy where the tensor has gaps or another order.
    fn reshaped(
        &mut self,
        tensor: &ShapedTensor,
        shape: Option<Vec<u64>>,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let copy;
        let contiguous = match tensor.is_contiguous() {
            true => tensor,
            false => {
                copy = self.copied(tensor)?;
                &copy
            }
        };
        let found = shape.and_then(|shape| contiguous.with_shape(&shape)).map(Value::Tensor);
        found.ok_or_else(|| {
            let what = self.source(range);
            unsupported(format!("the shape of `{what}` is not known, or does not fit")).into()
        })
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
    let all = match values {
        [one] => one.sequence().unwrap_or_else(|| vec![one.clone()]),
        values => values.to_vec(),
    };
    let sizes = all.iter().map(Value::as_int).collect::<Option<Vec<i64>>>()?;
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

/// The steps of a contiguous tensor of a shape.
fn strides(shape: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = u64::saturating_mul(strides[at], shape[at].max(1));
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
