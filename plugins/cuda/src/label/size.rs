//! One size of a task: its values, and every shape and launch at them.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use assay_plugin::gpu::{Arg, Dim3, compiler};
use serde::Deserialize;

use super::{Launch, ScalarKind, Task};
use crate::expression::{Expression, Names};
use crate::limits::{BLOCK_THREADS_MAX, SIZE_BYTES_MAX};

/// Integers for shapes and launches; scalars may be real.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Integer(i64),
    Real(f64),
}

pub(super) type Values = BTreeMap<String, Number>;

/// The kind of a size; it decides how much an explanation may show of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A size in the prompt; its number counts from 1.
    Stated(usize),
    /// A held-out size, which is secret.
    HeldOut,
    Timed,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scalar {
    I32(i32),
    I64(i64),
    Fp32(f32),
    Fp64(f64),
}

impl Scalar {
    fn new(kind: ScalarKind, number: Number) -> Option<Self> {
        // A real number of a label becomes the nearest one of its type.
        let real = match number {
            Number::Integer(integer) => integer as f64,
            Number::Real(real) => real,
        };
        match (kind, number) {
            (ScalarKind::I32, Number::Integer(integer)) => integer.try_into().ok().map(Self::I32),
            (ScalarKind::I64, Number::Integer(integer)) => Some(Self::I64(integer)),
            (ScalarKind::I32 | ScalarKind::I64, Number::Real(_)) => None,
            (ScalarKind::Fp32, _) => {
                Some(Self::Fp32(real as f32)).filter(|_| (real as f32).is_finite())
            }
            (ScalarKind::Fp64, _) => Some(Self::Fp64(real)),
        }
    }

    pub(crate) fn to_arg(self) -> Arg {
        match self {
            Self::I32(value) => Arg::I32(value),
            Self::I64(value) => Arg::I64(value),
            Self::Fp32(value) => Arg::Fp32(value),
            Self::Fp64(value) => Arg::Fp64(value),
        }
    }

    pub(crate) fn to_argument(self) -> compiler::Argument {
        match self {
            Self::I32(value) => compiler::Argument::I32(value),
            Self::I64(value) => compiler::Argument::I64(value),
            Self::Fp32(value) => compiler::Argument::Fp32(value),
            Self::Fp64(value) => compiler::Argument::Fp64(value),
        }
    }

    /// Whole, as Python sees it; a real number has none.
    pub(crate) fn as_int(self) -> Option<i64> {
        match self {
            Self::I32(value) => Some(value.into()),
            Self::I64(value) => Some(value),
            Self::Fp32(_) | Self::Fp64(_) => None,
        }
    }

    pub(crate) fn as_real(self) -> Option<f64> {
        match self {
            Self::I32(_) | Self::I64(_) => None,
            Self::Fp32(value) => Some(value.into()),
            Self::Fp64(value) => Some(value),
        }
    }

    pub(crate) fn bytes(self) -> u32 {
        match self {
            Self::I32(_) | Self::Fp32(_) => 4,
            Self::I64(_) | Self::Fp64(_) => 8,
        }
    }
}

/// A launch in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) grid: Dim3,
    pub(crate) block: Dim3,
    pub(crate) shared_bytes: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Size {
    pub(crate) kind: Kind,
    values: Values,
    names: Names,
    /// The shape of each buffer, in the task's order.
    pub(crate) shapes: Vec<Vec<u64>>,
    pub(crate) scalars: BTreeMap<String, Scalar>,
}

impl Display for Size {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Stated(number) => {
                write!(formatter, "size {number} ({})", shown(&self.values))
            }
            Kind::HeldOut => formatter.write_str("a held-out size"),
            Kind::Timed => formatter.write_str("the timed size"),
        }
    }
}

/// The values as a text, for explanations and for the author of the label.
fn shown(values: &Values) -> String {
    let one = |(name, number): (&String, &Number)| match number {
        Number::Integer(integer) => format!("{name}={integer}"),
        Number::Real(real) => format!("{name}={real}"),
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

impl Size {
    pub(super) fn new(task: &Task, kind: Kind, values: &Values) -> Result<Self, String> {
        let at = |problem: String| format!("at {{{}}}: {problem}", shown(values));
        let integer = |(name, number): (&String, &Number)| match number {
            Number::Integer(integer) => Some((name.clone(), *integer)),
            Number::Real(_) => None,
        };
        let names: Names = values.iter().filter_map(integer).collect();
        let mut scalars = BTreeMap::new();
        for (name, kind) in &task.scalars {
            let number = values.get(name).ok_or_else(|| at(format!("`{name}` is missing")))?;
            let scalar = Scalar::new(*kind, *number);
            let scalar = scalar.ok_or_else(|| at(format!("`{name}` does not fit its type")))?;
            scalars.insert(name.clone(), scalar);
        }
        let mut shapes = Vec::new();
        let mut total: u64 = 0;
        for (name, buffer) in &task.buffers {
            let shape =
                dimensions(&buffer.shape, &names).map_err(|p| at(format!("{name}: {p}")))?;
            let count =
                shape.iter().try_fold(1_u64, |count, dimension| count.checked_mul(*dimension));
            let bytes = count.and_then(|count| count.checked_mul(buffer.dtype.bytes()));
            let sum = bytes.and_then(|bytes| total.checked_add(bytes));
            total = sum
                .filter(|sum| *sum <= SIZE_BYTES_MAX)
                .ok_or_else(|| at(format!("the buffers take more than {SIZE_BYTES_MAX} bytes")))?;
            let most = buffer.init.and_then(|init| init.count_max(buffer.dtype));
            if count.zip(most).is_some_and(|(count, most)| i128::from(count) > most) {
                return Err(at(format!("{name}: the permutation does not fit its type")));
            }
            shapes.push(shape);
        }
        let size = Self { kind, values: values.clone(), names, shapes, scalars };
        let launches = [
            ("launch", task.launch.as_ref()),
            ("reference.launch", task.reference.launch.as_ref()),
            ("baseline.launch", task.baseline.as_ref().and_then(|one| one.launch.as_ref())),
        ];
        for (name, launch) in launches {
            if let Some(launch) = launch {
                size.evaluate(launch).map_err(|problem| at(format!("{name}: {problem}")))?;
            }
        }
        Ok(size)
    }

    pub(crate) fn count(&self, buffer: usize) -> u64 {
        self.shapes[buffer].iter().product()
    }

    pub(crate) fn bytes(&self, task: &Task, buffer: usize) -> u64 {
        let spec = task.buffers.values().nth(buffer).expect("one of the task's buffers");
        self.count(buffer) * spec.dtype.bytes()
    }

    /// A launch of the label's, all of which were evaluated once when the size was made.
    pub(crate) fn launch(&self, launch: &Launch) -> Shape {
        self.evaluate(launch).expect("checked with the label")
    }

    fn evaluate(&self, launch: &Launch) -> Result<Shape, String> {
        let grid = self.three(&launch.grid).map_err(|problem| format!("grid: {problem}"))?;
        let block = self.three(&launch.block).map_err(|problem| format!("block: {problem}"))?;
        let threads = [block.x, block.y, block.z].map(i64::from);
        let threads = threads.iter().try_fold(1_i64, |all, one| all.checked_mul(*one));
        if threads.is_none_or(|threads| threads > BLOCK_THREADS_MAX) {
            return Err(format!("block: at most {BLOCK_THREADS_MAX} threads"));
        }
        let shared = launch.shared_bytes.as_ref().map(|bytes| bytes.value(&self.names)).transpose();
        let shared = shared.map_err(|problem| format!("shared_bytes: {problem}"))?.unwrap_or(0);
        let shared_bytes =
            shared.try_into().map_err(|_| format!("shared_bytes: {shared} is out of range"))?;
        Ok(Shape { grid, block, shared_bytes })
    }

    fn three(&self, expressions: &[Expression]) -> Result<Dim3, String> {
        if !(1..=3).contains(&expressions.len()) {
            return Err("one to three numbers are needed".into());
        }
        let mut numbers = [1_u32; 3];
        for (number, expression) in numbers.iter_mut().zip(expressions) {
            let value = expression.value(&self.names)?;
            *number = u32::try_from(value)
                .ok()
                .filter(|value| (1..=i32::MAX.unsigned_abs()).contains(value))
                .ok_or_else(|| format!("{value} is out of range"))?;
        }
        let [x, y, z] = numbers;
        Ok(Dim3 { x, y, z })
    }
}

fn dimensions(shape: &[Expression], names: &Names) -> Result<Vec<u64>, String> {
    let one = |expression: &Expression| {
        let value = expression.value(names)?;
        let dimension = u64::try_from(value).ok().filter(|dimension| *dimension > 0);
        dimension.ok_or_else(|| format!("a dimension must be at least 1, not {value}"))
    };
    shape.iter().map(one).collect()
}
