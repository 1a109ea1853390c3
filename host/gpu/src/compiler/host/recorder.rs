//! The recording CUDA runtime and the stand-in for PyTorch's headers, as files of a box.

use assay_core::limits::{
    GPU_BUFFERS_MAX, GPU_DEVICE_BYTES_MAX, GPU_ENTRIES_MAX, GPU_SENTENCE_BYTES_MAX, GPU_STEPS_MAX,
    GPU_TRACE_BYTES_MAX,
};
use assay_exec::JobFile;

/// The folder of headers, those of other projects' names among them.
pub(super) const STAND_INS: &str = ".assay/include";
pub(super) const SOURCE: &str = ".assay/include/recorder/recorder.cpp";
pub(super) const LIMITS: &str = ".assay/include/recorder/limits.h";

macro_rules! recorder {
    ($($path:literal),* $(,)?) => {
        [$((
            concat!(".assay/include/recorder/", $path),
            include_str!(concat!("../../../recorder/", $path)),
        )),*]
    };
}

/// The headers that both parts include.
const SHARED: [(&str, &str); 1] = recorder!["record.h"];
const HEADERS: [(&str, &str); 9] = recorder![
    "entry.h",
    "torch.h",
    "torch/accessor.h",
    "torch/check.h",
    "torch/module.h",
    "torch/options.h",
    "torch/scalar.h",
    "torch/stream.h",
    "torch/tensor.h",
];
const SOURCES: [(&str, &str); 9] = recorder![
    "runtime.h",
    "recorder.cpp",
    "memory.cpp",
    "order.cpp",
    "trace.cpp",
    "launch.cpp",
    "device.cpp",
    "calls.cpp",
    "unsupported.cpp",
];

macro_rules! stand_ins {
    ($($path:literal),* $(,)?) => {
        [$((concat!(".assay/include/", $path), "#include <recorder/torch.h>\n")),*]
    };
}

/// Headers of PyTorch that extensions include; all of them are the same one.
const TORCH: [(&str, &str); 29] = stand_ins![
    "torch/all.h",
    "torch/extension.h",
    "torch/python.h",
    "torch/script.h",
    "torch/torch.h",
    "torch/types.h",
    "torch/csrc/utils/pybind.h",
    "ATen/ATen.h",
    "ATen/AccumulateType.h",
    "ATen/Dispatch.h",
    "ATen/ceil_div.h",
    "ATen/core/Tensor.h",
    "ATen/core/TensorAccessor.h",
    "ATen/cuda/CUDAContext.h",
    "ATen/cuda/CUDAContextLight.h",
    "ATen/cuda/Exceptions.h",
    "c10/core/ScalarType.h",
    "c10/cuda/CUDAException.h",
    "c10/cuda/CUDAFunctions.h",
    "c10/cuda/CUDAGuard.h",
    "c10/cuda/CUDAMathCompat.h",
    "c10/cuda/CUDAStream.h",
    "c10/util/BFloat16.h",
    "c10/util/Exception.h",
    "c10/util/Half.h",
    "c10/util/Optional.h",
    "pybind11/numpy.h",
    "pybind11/pybind11.h",
    "pybind11/stl.h",
];

fn file((path, text): (&'static str, &'static str)) -> JobFile<'static> {
    JobFile { path, bytes: text.as_bytes(), executable: false }
}

/// For the candidate's translation unit.
pub(super) fn headers() -> Vec<JobFile<'static>> {
    SHARED.into_iter().chain(HEADERS).chain(TORCH).map(file).collect()
}

/// For the recorder's.
pub(super) fn sources() -> Vec<JobFile<'static>> {
    SHARED.into_iter().chain(SOURCES).map(file).collect()
}

/// The recorder stops where its trace would be refused.
pub(super) fn limits() -> String {
    format!(
        "#pragma once\n\
         #include <cstdint>\n\
         namespace assay {{\n\
         constexpr uint32_t BUFFERS_MAX = {GPU_BUFFERS_MAX};\n\
         constexpr uint32_t ENTRIES_MAX = {GPU_ENTRIES_MAX};\n\
         constexpr uint32_t STEPS_MAX = {GPU_STEPS_MAX};\n\
         constexpr uint64_t MEMORY_BYTES_MAX = {GPU_DEVICE_BYTES_MAX};\n\
         constexpr uint64_t TRACE_BYTES_MAX = {GPU_TRACE_BYTES_MAX};\n\
         constexpr uint64_t SENTENCE_BYTES_MAX = {GPU_SENTENCE_BYTES_MAX};\n\
         }}\n"
    )
}
