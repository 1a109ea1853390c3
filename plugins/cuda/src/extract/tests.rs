//! Which block is taken and what it is.

use assay_plugin::Request;
use proptest::prelude::*;

use super::*;

pub(super) fn task() -> Task {
    let label = r#"{
        "task": "softmax",
        "buffers": {
            "x": {"dtype": "fp32", "shape": ["n"], "role": "input", "init": {"normal": [0, 1]}},
            "y": {"dtype": "fp32", "shape": ["n"], "role": "output"}
        },
        "arguments": ["x", "y"],
        "tensors": {"arguments": ["x"], "returns": ["y"]},
        "sizes": [{"n": 8}],
        "entry": "softmax",
        "launch": {"grid": [1], "block": [32]},
        "reference": {"source": "x", "entry": "r", "launch": {"grid": [1], "block": [32]}}
    }"#;
    Task::read(&Request::new("", "", label)).expect("a label")
}

const KERNEL: &str = "__global__ void softmax(const float* x, float* y) {}\n";
const HOST: &str = "extern \"C\" void softmax(const float* x, float* y) {}\n";

fn check(response: &str, expected: Result<(Form, &str), (Verdict, &str)>) {
    let found = extract(&task(), response);
    match (&found, expected) {
        (Ok(program), Ok((form, origin))) => {
            assert_eq!(program.form, form, "{response}");
            assert!(program.origin.ends_with(origin), "{response}: {}", program.origin);
        }
        (Err(failure), Err((verdict, reason))) => {
            assert_eq!(failure.verdict, verdict, "{response}");
            assert!(failure.reason.contains(reason), "{response}: {}", failure.reason);
        }
        _ => panic!("{response}: {found:?}"),
    }
}

fn fenced(name: &str, text: &str) -> String {
    format!("So:\n```{name}\n{text}```\n")
}

#[test]
fn the_last_block_that_is_an_answer_is_taken() {
    for name in ["cuda", "cu", "cpp", "c++", "c", "CUDA"] {
        let origin = format!("the {} block at line 2", name.to_lowercase());
        check(&fenced(name, KERNEL), Ok((Form::Kernel, &origin)));
    }
    let two = fenced("cuda", KERNEL) + &fenced("cuda", HOST);
    check(&two, Ok((Form::Host, "the cuda block at line 6")));
    let shown = fenced("cuda", KERNEL) + &fenced("cpp", "int main() { return 0; }\n");
    check(&shown, Ok((Form::Kernel, "the cuda block at line 2")));
    let used = fenced("cuda", KERNEL) + &fenced("python", "print(softmax(x))\n");
    check(&used, Ok((Form::Kernel, "the cuda block at line 2")));
    let built = fenced("cuda", KERNEL) + &fenced("bash", "nvcc a.cu\n");
    check(&built, Ok((Form::Kernel, "the cuda block at line 2")));
    check(&fenced("", KERNEL), Ok((Form::Kernel, "the unnamed block at line 2")));
    check(KERNEL, Ok((Form::Kernel, "the whole response")));
    let thought = format!("<think>{}</think>{}", fenced("cuda", HOST), fenced("cuda", KERNEL));
    check(&thought, Ok((Form::Kernel, "the cuda block at line 2")));
}

#[test]
fn without_an_answer_the_reason_is_told() {
    let none = Verdict::GenerationFailed;
    check("", Err((none, "empty")));
    check("<think>a", Err((none, "inside its thoughts")));
    check("no code", Err((none, "no block of CUDA")));
    check(&fenced("rust", "fn main() {}\n"), Err((none, "no block of CUDA")));
    check(&fenced("", "1 2 3\n"), Err((none, "no block of CUDA")));
    let other = "__global__ void other(float* x) {}\n";
    check(&fenced("cuda", other), Err((none, "defines no kernel or function `softmax`")));
    check(&fenced("cuda", "a\0b\n"), Err((none, "NUL")));
    let long = fenced("cuda", &"// long\n".repeat(SOURCE_BYTES_MAX / 8 + 1));
    check(&long, Err((none, "bytes, at most")));
}

#[test]
fn forms_are_told_apart() {
    let bound = |names: &[&str]| {
        let defs: Vec<String> =
            names.iter().map(|name| format!("m.def(\"{name}\", &f);")).collect();
        fenced("cpp", &format!("PYBIND11_MODULE(X, m) {{ {} }}\n", defs.join(" ")))
    };
    check(&bound(&["any"]), Ok((Form::Torch, "line 2")));
    check(&bound(&["a", "softmax"]), Ok((Form::Torch, "line 2")));
    check(&bound(&["a", "forward"]), Ok((Form::Torch, "line 2")));
    check(&bound(&["a", "b"]), Err((Verdict::Unsupported, "several functions")));
    check(&bound(&[]), Err((Verdict::GenerationFailed, "defines no function")));
    let tensors = "torch::Tensor forward(torch::Tensor x) { return x; }\n";
    check(&fenced("cpp", tensors), Ok((Form::Torch, "line 2")));
    // A host function that launches a kernel of the same name is what was asked for.
    check(&fenced("cuda", &format!("{KERNEL}{HOST}")), Ok((Form::Host, "line 2")));
    for library in ["cublas_v2.h", "cudnn.h", "cutlass/gemm.h", "curand.h"] {
        let text = format!("#include <{library}>\n{KERNEL}");
        check(&fenced("cuda", &text), Err((Verdict::Unsupported, library)));
    }
    let text = format!("#include <curand_kernel.h>\n// #include <cublas_v2.h>\n{KERNEL}");
    check(&fenced("cuda", &text), Ok((Form::Kernel, "line 2")));
}

#[test]
fn a_task_takes_only_its_forms() {
    let mut task = task();
    task.launch = None;
    task.tensors = None;
    let failure = extract(&task, KERNEL).expect_err("no launch");
    assert!(failure.reason.contains("asks for a host function"), "{}", failure.reason);
    let module = "PYBIND11_MODULE(X, m) { m.def(\"f\", &f); }";
    let failure = extract(&task, module).expect_err("no tensors");
    assert_eq!(failure.verdict, Verdict::Unsupported);
    assert_eq!(extract(&task, HOST).expect("a host function").form, Form::Host);
}

/// Pieces of which readers of CUDA and of Python could be confused.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("__global__ "),
        Just("softmax"),
        Just("("),
        Just(")"),
        Just("{"),
        Just("}"),
        Just("\""),
        Just("'"),
        Just("\\"),
        Just("\n"),
        Just("R\"("),
        Just("/*"),
        Just("//"),
        Just("\"\"\""),
        Just("load_inline("),
        Just("cuda_sources="),
        Just("["),
        Just("]"),
        Just(","),
        Just("="),
        Just("+"),
        Just("ü"),
        Just("#"),
        Just("import a\n"),
        Just("def forward(x):\n  "),
        Just("return "),
        Just("```cuda\n"),
        Just("```\n"),
        Just("x"),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn no_response_is_too_strange(text in odd_text()) {
        let _ = extract(&task(), &text);
        let _ = extract(&task(), &fenced("cuda", &text));
        let _ = extract(&task(), &fenced("python", &text));
    }
}
