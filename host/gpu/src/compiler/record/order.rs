//! The input of a recording program, as words on its standard input: the device, the image's kernels, the buffers, the
//! function and its arguments.

use std::fmt::Write as _;

use assay_core::limits::{
    GPU_ARGUMENTS_MAX, GPU_BUFFERS_MAX, GPU_DEVICE_BYTES_MAX, GPU_DIMENSIONS_MAX,
    GPU_WORD_BYTES_MAX,
};

use crate::compiler::host::HostObject;
use crate::compiler::request::is_identifier;
use crate::compiler::{CompileError, EntryArgument, Recording, Tensor};
use crate::types::KernelInfo;

/// The kinds of values, as `record.h` numbers them.
const TENSOR: u32 = 0;
const I32: u32 = 1;
const I64: u32 = 2;
const FP32: u32 = 3;
const FP64: u32 = 4;
const BOOLEAN: u32 = 5;
const ABSENT: u32 = 6;
const LIST: u32 = 7;

fn bad(problem: impl Into<String>) -> CompileError {
    CompileError::BadRequest(problem.into())
}

/// Checks the recording; what is wrong with it is the plugin's fault.
pub(super) fn write(object: &HostObject, recording: &Recording) -> Result<String, CompileError> {
    let Recording { entry, buffers, arguments, .. } = recording;
    check_buffers(buffers)?;
    if entry.len() > GPU_WORD_BYTES_MAX || !is_identifier(entry) {
        return Err(bad("the entry is not the name of a function"));
    }
    if arguments.len() > GPU_ARGUMENTS_MAX {
        return Err(bad(format!("there are more than {GPU_ARGUMENTS_MAX} arguments")));
    }
    let mut lines = vec![object.capability.to_string(), object.kernels.len().to_string()];
    lines.extend(object.kernels.iter().map(kernel));
    lines.push(buffers.len().to_string());
    lines.extend(buffers.iter().map(u64::to_string));
    lines.extend([entry.clone(), arguments.len().to_string()]);
    for argument in arguments {
        lines.push(value(argument, buffers)?);
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

fn check_buffers(buffers: &[u64]) -> Result<(), CompileError> {
    if buffers.len() > GPU_BUFFERS_MAX {
        return Err(bad(format!("there are more than {GPU_BUFFERS_MAX} buffers")));
    }
    let sum = buffers.iter().try_fold(0_u64, |sum, bytes| sum.checked_add(*bytes));
    if sum.is_none_or(|sum| sum > GPU_DEVICE_BYTES_MAX) {
        return Err(bad(format!("the buffers have more than {GPU_DEVICE_BYTES_MAX} bytes")));
    }
    Ok(())
}

fn kernel(kernel: &KernelInfo) -> String {
    let KernelInfo { name, registers, static_shared_bytes, params, .. } = kernel;
    let mut line = format!("{name} {registers} {static_shared_bytes} {}", params.len());
    for param in params {
        write!(line, " {}", param.bytes).expect("memory can be written to");
    }
    line
}

fn value(argument: &EntryArgument, buffers: &[u64]) -> Result<String, CompileError> {
    Ok(match argument {
        EntryArgument::Tensor(tensor) => self::tensor(tensor, buffers)?,
        EntryArgument::I32(number) => format!("{I32} {:x}", i64::from(*number)),
        EntryArgument::I64(number) => format!("{I64} {number:x}"),
        EntryArgument::Fp32(number) => format!("{FP32} {:x}", f64::from(*number).to_bits()),
        EntryArgument::Fp64(number) => format!("{FP64} {:x}", number.to_bits()),
        EntryArgument::Boolean(truth) => format!("{BOOLEAN} {}", u8::from(*truth)),
        EntryArgument::Absent => ABSENT.to_string(),
        EntryArgument::Integers(numbers) => {
            list(numbers.iter().map(|number| Ok(format!("{I64} {number:x}"))))?
        }
        EntryArgument::Tensors(tensors) => {
            list(tensors.iter().map(|tensor| self::tensor(tensor, buffers)))?
        }
    })
}

fn list(
    values: impl ExactSizeIterator<Item = Result<String, CompileError>>,
) -> Result<String, CompileError> {
    if values.len() > GPU_ARGUMENTS_MAX {
        return Err(bad(format!("a list has more than {GPU_ARGUMENTS_MAX} values")));
    }
    let mut words = vec![LIST.to_string(), values.len().to_string()];
    for value in values {
        words.push(value?);
    }
    Ok(words.join(" "))
}

fn tensor(tensor: &Tensor, buffers: &[u64]) -> Result<String, CompileError> {
    let room = usize::try_from(tensor.buffer).ok().and_then(|buffer| buffers.get(buffer));
    let room = room.ok_or_else(|| bad(format!("there is no buffer {}", tensor.buffer)))?;
    if tensor.shape.len() > GPU_DIMENSIONS_MAX {
        return Err(bad(format!("a tensor has more than {GPU_DIMENSIONS_MAX} dimensions")));
    }
    let bytes =
        tensor.shape.iter().try_fold(tensor.dtype.bytes(), |all, one| all.checked_mul(*one));
    let end = bytes.and_then(|bytes| bytes.checked_add(tensor.offset));
    if end.is_none_or(|end| end > *room) {
        return Err(bad(format!("a tensor is larger than its buffer {}", tensor.buffer)));
    }
    if !tensor.offset.is_multiple_of(tensor.dtype.bytes()) {
        return Err(bad("a tensor begins inside an element"));
    }
    let (buffer, dtype, dimensions) = (tensor.buffer, tensor.dtype as u8, tensor.shape.len());
    let mut line = format!("{TENSOR} {buffer} {} {dtype} {dimensions}", tensor.offset);
    for size in &tensor.shape {
        write!(line, " {size}").expect("memory can be written to");
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{ElementType, KernelParam};

    fn object() -> HostObject {
        let kernel = KernelInfo {
            name: "_Z1kPf".into(),
            params: vec![KernelParam { offset: 0, bytes: 8 }, KernelParam { offset: 8, bytes: 4 }],
            registers: 16,
            static_shared_bytes: 128,
            local_bytes: 0,
            threads_max: 1_024,
        };
        HostObject { capability: 90, kernels: vec![kernel], program: vec![] }
    }

    fn recording(arguments: Vec<EntryArgument>) -> Recording {
        let entry = "solve".into();
        Recording { host_object: vec![], entry, buffers: vec![64, 8], arguments, cpu_ms: 0 }
    }

    fn tensor(buffer: u32, dtype: ElementType, shape: &[u64]) -> EntryArgument {
        EntryArgument::Tensor(Tensor { buffer, offset: 0, dtype, shape: shape.to_vec() })
    }

    fn part(offset: u64) -> Tensor {
        Tensor { buffer: 0, offset, dtype: ElementType::Fp32, shape: vec![4] }
    }

    #[test]
    fn an_order_in_words() {
        let arguments = vec![
            tensor(0, ElementType::Fp32, &[4, 4]),
            tensor(1, ElementType::Bf16, &[]),
            EntryArgument::I32(-1),
            EntryArgument::I64(i64::MIN),
            EntryArgument::Fp32(0.5),
            EntryArgument::Fp64(-0.0),
            EntryArgument::Boolean(true),
            EntryArgument::Absent,
            EntryArgument::Integers(vec![2, -1]),
            EntryArgument::Tensors(vec![part(48)]),
            EntryArgument::Integers(vec![]),
        ];
        let order = write(&object(), &recording(arguments)).unwrap();
        let expected = "90\n1\n_Z1kPf 16 128 2 8 4\n2\n64\n8\nsolve\n11\n0 0 0 1 2 4 4\n0 1 0 3 0\n\
                        1 ffffffffffffffff\n2 8000000000000000\n3 3fe0000000000000\n\
                        4 8000000000000000\n5 1\n6\n7 2 2 2 2 ffffffffffffffff\n7 1 0 0 48 1 1 4\n7 0\n";
        assert_eq!(order, expected);
    }

    #[test]
    fn what_makes_no_sense_is_the_plugins_fault() {
        let refused = |recording: Recording| {
            assert!(matches!(write(&object(), &recording), Err(CompileError::BadRequest(_))));
        };
        refused(recording(vec![tensor(2, ElementType::Fp32, &[1])]));
        refused(recording(vec![tensor(0, ElementType::Fp64, &[9])]));
        refused(recording(vec![tensor(0, ElementType::Fp64, &[u64::MAX, 2])]));
        refused(recording(vec![tensor(0, ElementType::I8, &[1; GPU_DIMENSIONS_MAX + 1])]));
        refused(recording(vec![EntryArgument::Tensor(part(52))]));
        refused(recording(vec![EntryArgument::Tensor(part(2))]));
        refused(recording(vec![EntryArgument::Tensors(vec![part(u64::MAX)])]));
        refused(recording(vec![EntryArgument::Integers(vec![0; GPU_ARGUMENTS_MAX + 1])]));
        refused(recording(vec![EntryArgument::I32(0); GPU_ARGUMENTS_MAX + 1]));
        refused(Recording { buffers: vec![0; GPU_BUFFERS_MAX + 1], ..recording(vec![]) });
        refused(Recording { buffers: vec![u64::MAX, 1], ..recording(vec![]) });
        for entry in ["", "two words", "a\nb", "::x"] {
            refused(Recording { entry: entry.into(), ..recording(vec![]) });
        }
    }
}
