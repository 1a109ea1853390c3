//! Other views of a tensor's memory, and copies of them that are contiguous.
//!
//! A view moves no data. Where one is made contiguous, a kernel of the judge copies it: that is no computing, and takes
//! its time as a step of the response's plan.

use assay_plugin::gpu::{Address, Arg, ByValue, Dim3, Launch, Step};
use ruff_python_ast::Expr;
use ruff_text_size::TextRange;

use super::call::CallArguments;
use super::expression::place;
use super::library::shape_of;
use super::run::Run;
use super::scope::Locals;
use super::tensor::ShapedTensor;
use super::unsupported;
use super::value::Value;
use crate::limits::{DIMENSIONS_MAX, PYTHON_ELEMENTS_MAX};
use crate::verdict::Stop;

/// The module of a plan that stands for [`COPY_SOURCE`].
pub(crate) const COPY_MODULE: u32 = u32::MAX;
const COPY_KERNEL: &str = "assay_copy";
pub(crate) const COPY_SOURCE: &str = include_str!("copy.cu");
/// Threads of one of its blocks, and its blocks at the most.
const COPY_THREADS: u32 = 256;
const COPY_BLOCKS_MAX: u64 = 65_536;

impl ShapedTensor {
    /// The same memory with some dimensions in another order, or others.
    fn viewed(&self, dimensions: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let (shape, strides): (Vec<u64>, Vec<u64>) = dimensions.into_iter().unzip();
        Self { shape: shape.into(), strides: strides.into(), ..self.clone() }
    }

    fn dimensions(&self) -> Vec<(u64, u64)> {
        self.shape.iter().copied().zip(self.strides.iter().copied()).collect()
    }

    pub(super) fn swapped(&self, one: usize, other: usize) -> Self {
        let mut dimensions = self.dimensions();
        dimensions.swap(one, other);
        self.viewed(dimensions)
    }

    fn permuted(&self, order: &[usize]) -> Option<Self> {
        let mut seen = order.to_vec();
        seen.sort_unstable();
        let all = self.dimensions();
        let is_order = seen.iter().copied().eq(0..all.len());
        is_order.then(|| self.viewed(order.iter().map(|at| all[*at])))
    }

    /// `count` of a dimension's places from one on.
    fn narrowed(&self, dimension: usize, begin: u64, count: u64) -> Option<Self> {
        let (size, stride) = *self.dimensions().get(dimension)?;
        if begin.checked_add(count)? > size {
            return None;
        }
        let mut dimensions = self.dimensions();
        dimensions[dimension].0 = count;
        // An empty view lies nowhere, and must not seem to lie behind its buffer.
        let begin = if count == 0 { 0 } else { begin };
        let offset = self.offset + begin * stride * self.dtype.bytes();
        Some(Self { offset, ..self.viewed(dimensions) })
    }

    fn selected(&self, dimension: usize, at: u64) -> Option<Self> {
        let narrowed = self.narrowed(dimension, at, 1)?;
        let mut dimensions = narrowed.dimensions();
        dimensions.remove(dimension);
        Some(narrowed.viewed(dimensions))
    }

    /// All that a dimension has, each without it.
    pub(super) fn parts(&self, dimension: usize) -> Option<Vec<Value>> {
        let count = *self.shape.get(dimension)?;
        if count > PYTHON_ELEMENTS_MAX as u64 {
            return None;
        }
        (0..count).map(|at| self.selected(dimension, at).map(Value::Tensor)).collect()
    }

    fn inserted(&self, dimension: usize) -> Option<Self> {
        let mut dimensions = self.dimensions();
        (dimension <= dimensions.len() && dimensions.len() < DIMENSIONS_MAX).then(|| {
            dimensions.insert(dimension, (1, 1));
            self.viewed(dimensions)
        })
    }

    fn squeezed(&self, dimension: Option<usize>) -> Self {
        let is_kept = |(at, (size, _)): &(usize, (u64, u64))| {
            *size != 1 || dimension.is_some_and(|one| one != *at)
        };
        let kept = self.dimensions().into_iter().enumerate().filter(is_kept);
        self.viewed(kept.map(|(_, dimension)| dimension))
    }

    /// -1 stands for the size that there is.
    fn expanded(&self, sizes: &[i64]) -> Option<Self> {
        let added = sizes.len().checked_sub(self.shape.len())?;
        if sizes.len() > DIMENSIONS_MAX {
            return None;
        }
        let own = self.dimensions();
        let one = |(at, size): (usize, &i64)| {
            let there = at.checked_sub(added).map(|at| own[at]);
            match (u64::try_from(*size), there) {
                (Err(_), Some(there)) if *size == -1 => Some(there),
                (Ok(size), Some(there)) if size == there.0 => Some(there),
                (Ok(size), Some((1, _)) | None) => Some((size, 0)),
                _ => None,
            }
        };
        let dimensions: Option<Vec<_>> = sizes.iter().enumerate().map(one).collect();
        let expanded = self.viewed(dimensions?);
        // So that its bytes can be counted.
        expanded.shape.iter().try_fold(8_u64, |count, size| count.checked_mul(*size))?;
        Some(expanded)
    }
}

impl Run<'_> {
    /// A method that gives another view of the same memory; nothing where it is none of those.
    pub(super) fn view_method(
        &mut self,
        tensor: &ShapedTensor,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Option<Result<Value, Stop>> {
        let rank = tensor.shape.len();
        let number = |at: usize, name: &str| taken.get(at, name).and_then(Value::as_int);
        let dimension = |at: usize, name: &str| number(at, name).and_then(|at| place(at, rank));
        let count = |at: usize, name: &str| number(at, name).and_then(|n| u64::try_from(n).ok());
        let sizes = || -> Option<Vec<i64>> {
            let values = match &taken.values[..] {
                [one] => one.sequence().unwrap_or_else(|| vec![one.clone()]),
                values => values.to_vec(),
            };
            values.iter().map(Value::as_int).collect()
        };
        let found = match name {
            "t" if rank < 2 => Some(tensor.clone()),
            "t" if rank == 2 => Some(tensor.swapped(0, 1)),
            "transpose" | "swapaxes" | "swapdims" => dimension(0, "dim0")
                .zip(dimension(1, "dim1"))
                .map(|(one, other)| tensor.swapped(one, other)),
            "permute" => sizes()
                .and_then(|order| order.iter().map(|at| place(*at, rank)).collect())
                .and_then(|order: Vec<usize>| tensor.permuted(&order)),
            "select" => dimension(0, "dim").and_then(|dimension| {
                let at = place(number(1, "index")?, usize::try_from(tensor.shape[dimension]).ok()?);
                tensor.selected(dimension, at? as u64)
            }),
            "narrow" => dimension(0, "dim").and_then(|dimension| {
                tensor.narrowed(dimension, count(1, "start")?, count(2, "length")?)
            }),
            "expand" => sizes().and_then(|sizes| tensor.expanded(&sizes)),
            "expand_as" => match taken.values.first() {
                Some(Value::Tensor(like)) => {
                    let sizes: Vec<i64> = like.shape.iter().map(|size| *size as i64).collect();
                    tensor.expanded(&sizes)
                }
                _ => None,
            },
            "unsqueeze" => number(0, "dim")
                .and_then(|at| place(at, rank + 1))
                .and_then(|at| tensor.inserted(at)),
            "squeeze" if taken.values.is_empty() && taken.named.is_empty() => {
                Some(tensor.squeezed(None))
            }
            "squeeze" => dimension(0, "dim").map(|at| tensor.squeezed(Some(at))),
            "unbind" | "chunk" | "split" => return Some(self.pieces(tensor, name, taken, range)),
            _ => return None,
        };
        Some(found.map(Value::Tensor).ok_or_else(|| self.no_view(range)))
    }

    fn no_view(&self, range: TextRange) -> Stop {
        let what = self.source(range);
        unsupported(format!("`{what}` is not known, or does not fit the tensor's shape")).into()
    }

    /// Several views that are a tensor together.
    fn pieces(
        &mut self,
        tensor: &ShapedTensor,
        name: &str,
        taken: &CallArguments,
        range: TextRange,
    ) -> Result<Value, Stop> {
        let at = if name == "unbind" { 0 } else { 1 };
        let dimension = taken.get(at, "dim").map_or(Some(0), Value::as_int);
        let dimension = dimension.and_then(|at| place(at, tensor.shape.len()));
        let dimension = dimension.ok_or_else(|| self.no_view(range))?;
        if name == "unbind" {
            let parts = tensor.parts(dimension).ok_or_else(|| self.no_view(range))?;
            return self.tuple(parts);
        }
        let size = tensor.shape[dimension];
        let first = taken.values.first().or_else(|| taken.named("chunks"));
        let counts: Option<Vec<u64>> = match first.map(|first| (first.sequence(), first.as_int())) {
            Some((Some(sizes), _)) if name == "split" => shape_of(&sizes),
            Some((None, Some(number))) if number > 0 => {
                let number = number.unsigned_abs();
                let each = if name == "chunk" { size.div_ceil(number).max(1) } else { number };
                let pieces = size.div_ceil(each);
                (pieces <= PYTHON_ELEMENTS_MAX as u64)
                    .then(|| (0..pieces).map(|at| each.min(size - at * each)).collect())
            }
            _ => None,
        };
        let counts = counts.filter(|counts| {
            counts.iter().try_fold(0_u64, |sum, one| sum.checked_add(*one)) == Some(size)
        });
        let mut begin = 0;
        let mut found = Vec::new();
        for count in counts.ok_or_else(|| self.no_view(range))? {
            found.extend(tensor.narrowed(dimension, begin, count).map(Value::Tensor));
            begin += count;
        }
        self.tuple(found)
    }

    /// `x[0, :, 1:]`: places, slices, `None` and dots.
    pub(super) fn part(
        &mut self,
        tensor: &ShapedTensor,
        index: &Expr,
        range: TextRange,
        names: &mut Locals,
    ) -> Result<Value, Stop> {
        let indices: Vec<&Expr> = match index {
            Expr::Tuple(tuple) => tuple.elts.iter().collect(),
            index => vec![index],
        };
        let is_new = |index: &Expr| matches!(index, Expr::NoneLiteral(_));
        let is_dots = |index: &Expr| matches!(index, Expr::EllipsisLiteral(_));
        let taken = indices.iter().filter(|index| !is_new(index) && !is_dots(index)).count();
        let (mut found, mut dimension) = (tensor.clone(), 0);
        for index in indices {
            let next = match index {
                index if is_new(index) => {
                    dimension += 1;
                    found.inserted(dimension - 1)
                }
                index if is_dots(index) => {
                    dimension += tensor.shape.len().saturating_sub(taken);
                    Some(found.clone())
                }
                Expr::Slice(slice) if slice.step.is_none() => {
                    let length = found.shape.get(dimension).copied().unwrap_or(0);
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    let bounds = self.bounds(slice, length, names)?;
                    dimension += 1;
                    bounds.and_then(|(begin, end)| {
                        found.narrowed(dimension - 1, begin as u64, (end - begin) as u64)
                    })
                }
                index => match self.value(index, names)? {
                    // A tensor of places is a gather, which is computing.
                    Value::Tensor(_) | Value::List(_) => return Err(self.pytorch(range)),
                    value => value.as_int().and_then(|at| {
                        let length = usize::try_from(*found.shape.get(dimension)?).ok()?;
                        found.selected(dimension, place(at, length)? as u64)
                    }),
                },
            };
            found = next.ok_or_else(|| self.unknown_place(range))?;
        }
        Ok(Value::Tensor(found))
    }

    /// The tensor in memory of its own, without gaps and in its dimensions' order.
    pub(super) fn copied(&mut self, tensor: &ShapedTensor) -> Result<ShapedTensor, Stop> {
        let copy = self.allocate(tensor.dtype, &tensor.shape)?;
        self.copies.insert(copy.buffer);
        let count: u64 = tensor.shape.iter().product();
        // The longest runs that lie together; single places are no dimension.
        let mut dimensions: Vec<(u64, u64)> = Vec::new();
        for (size, stride) in tensor.dimensions().into_iter().filter(|(size, _)| *size != 1) {
            match dimensions.last_mut() {
                Some(last) if last.1 == size * stride => *last = (last.0 * size, stride),
                _ => dimensions.push((size, stride)),
            }
        }
        let mut layout = vec![count, tensor.dtype.bytes()];
        let padding = DIMENSIONS_MAX - dimensions.len();
        let padded = || std::iter::repeat_n((1, 0), padding).chain(dimensions.iter().copied());
        layout.extend(padded().map(|(size, _)| size));
        layout.extend(padded().map(|(_, stride)| stride));
        let bytes = layout.iter().flat_map(|number| number.to_le_bytes()).collect();
        if count > 0 {
            let blocks = count.div_ceil(COPY_THREADS.into()).min(COPY_BLOCKS_MAX);
            let address = |tensor: &ShapedTensor| {
                Arg::Address(Address { buffer: tensor.buffer, offset: tensor.offset })
            };
            self.steps.push(Step::Launch(Launch {
                module: COPY_MODULE,
                kernel: COPY_KERNEL.into(),
                grid: Dim3 { x: blocks as u32, y: 1, z: 1 },
                block: Dim3 { x: COPY_THREADS, y: 1, z: 1 },
                cooperative: false,
                dynamic_shared_bytes: 0,
                args: vec![
                    address(tensor),
                    address(&copy),
                    Arg::ByValue(ByValue { bytes, patches: Vec::new() }),
                ],
            }));
        }
        Ok(copy)
    }
}
