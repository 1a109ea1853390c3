//! Tells what is not possible here from what is wrong: a compiler that misses a library, or a part of
//! PyTorch that has no stand-in, is made to say so in words that a plugin can look for.

use crate::compiler::CompileError;

/// The beginning of each line that names an unsupported feature.
const MARK: &str = "assay: unsupported: ";
/// The names of library functions and parts of CUDA that the recorder does not have.
const LIBRARIES: [&str; 9] =
    ["cuda", "cublas", "cudnn", "cufft", "curand", "cusparse", "cusolver", "nvrtc", "nccl"];
const FOREIGN_HEADERS: [&str; 17] = [
    "ATen/",
    "Python.h",
    "c10/",
    "caffe2/",
    "cublas",
    "cudnn",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "cute/",
    "cutlass",
    "nccl",
    "nvToolsExt",
    "nvtx3/",
    "pybind11/",
    "torch/",
];
const NAMESPACES: [&str; 5] = ["torch", "at", "c10", "pybind11", "caffe2"];
/// More names than these say nothing more.
const NAMES_MAX: usize = 16;

/// A rejection with such lines before it.
pub(super) fn named(error: CompileError) -> CompileError {
    let CompileError::Rejected(log) = error else { return error };
    let mut names: Vec<String> = Vec::new();
    for name in log.lines().filter_map(name) {
        if !names.contains(&name) && names.len() < NAMES_MAX {
            names.push(name);
        }
    }
    let lines: String = names.iter().map(|name| format!("{MARK}{name}\n")).collect();
    CompileError::Rejected(format!("{lines}{log}"))
}

fn name(line: &str) -> Option<String> {
    missing_function(line).or_else(|| missing_header(line)).or_else(|| missing_member(line))
}

/// ``undefined reference to `cublasCreate_v2'``
fn missing_function(line: &str) -> Option<String> {
    let name = line.split_once("undefined reference to `")?.1.trim_end_matches('\'');
    let driver = name.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let known = driver || LIBRARIES.iter().any(|library| name.starts_with(library));
    known.then(|| name.to_owned())
}

/// `fatal error: cublas_v2.h: No such file or directory`
fn missing_header(line: &str) -> Option<String> {
    let name = line.split_once("fatal error: ")?.1.strip_suffix(": No such file or directory")?;
    let foreign = FOREIGN_HEADERS.iter().any(|start| name.starts_with(start));
    foreign.then(|| format!("the header {name}"))
}

/// `namespace "torch" has no member "matmul"`, `class "at::Tensor" has no member "sum"`
fn missing_member(line: &str) -> Option<String> {
    let (start, rest) = line.split_once("\" has no member \"")?;
    let (kind, of) = start.rsplit_once(" \"")?;
    let member = rest.split('"').next()?;
    let space = of.split("::").next()?;
    let kinds = ["namespace", "class", "struct"];
    let known = NAMESPACES.contains(&space) && kinds.iter().any(|known| kind.ends_with(known));
    known.then(|| format!("{of}::{member}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(log: &str, expected: &[&str]) {
        let CompileError::Rejected(said) = named(CompileError::Rejected(log.to_owned())) else {
            panic!()
        };
        let names: Vec<_> = said.lines().filter_map(|line| line.strip_prefix(MARK)).collect();
        assert_eq!(names, expected);
        assert!(said.ends_with(log));
    }

    #[test]
    fn what_is_missing_is_named() {
        check(
            "entries.o: in function `solve':\n\
             x.cpp:(.text+0x9): undefined reference to `cublasCreate_v2'\n\
             x.cpp:(.text+0x19): undefined reference to `cublasCreate_v2'\n\
             x.cpp:(.text+0x29): undefined reference to `cuLaunchKernel'",
            &["cublasCreate_v2", "cuLaunchKernel"],
        );
        let header = "a.cu:2:10: fatal error: cublas_v2.h: No such file or directory";
        check(header, &["the header cublas_v2.h"]);
        check("a.cu(9): error: namespace \"torch\" has no member \"matmul\"", &["torch::matmul"]);
        check("a.cu(9): error: class \"at::Tensor\" has no member \"sum\"", &["at::Tensor::sum"]);
    }

    #[test]
    fn what_is_wrong_is_left_alone() {
        check("x.cpp: undefined reference to `helper(float*)'", &[]);
        check("x.cpp: undefined reference to `cube(float)'", &[]);
        check("a.cu:2:10: fatal error: mine.h: No such file or directory", &[]);
        check("a.cu(9): error: class \"Mine\" has no member \"sum\"", &[]);
        check("a.cu(1): error: identifier \"x\" is undefined", &[]);
        assert_eq!(named(CompileError::TimedOut), CompileError::TimedOut);
    }
}
