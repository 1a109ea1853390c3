//! The binary under test, and the guests it is given.

use std::path::{Path, PathBuf};
use std::process::Command;

use assay_core::id::Digest;
use assay_once::Once;
use assay_wire::proto::Finished;
use assay_wire::proto::finished::End;

/// The component of a guest that was built before.
pub(crate) fn guest(name: &str) -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let target = target.parent().expect("the target folder holds the temporary one");
    let path = target.join("wasm32-wasip2/plugin/examples").join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing; run `make guests` first", path.display());
    path
}

pub(crate) fn worker() -> Command {
    Command::new(env!("CARGO_BIN_EXE_assay-worker"))
}

/// Compiles a component into `out`; returns the exit status's success and the report.
pub(crate) fn compile(component: &Path, out: &Path) -> serde_json::Value {
    let done = worker()
        .arg("compile")
        .arg(component)
        .arg("--out")
        .arg(out)
        .output()
        .expect("the worker starts");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    assert_eq!(done.stdout.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    serde_json::from_slice(&done.stdout).expect("a line of JSON")
}

pub(crate) fn reward(finished: &Finished) -> f64 {
    match &finished.end {
        Some(End::Scored(scored)) => scored.reward,
        other => panic!("expected a reward, got {other:?}"),
    }
}

pub(crate) fn code(finished: &Finished) -> &str {
    match &finished.end {
        Some(End::Failed(failed)) => &failed.code,
        other => panic!("expected a failure, got {other:?}"),
    }
}

/// A compiled plugin's bytes and their digest; compiled once for all tests, as a debug build takes seconds
/// for it.
pub(crate) fn compiled(name: &str) -> (Vec<u8>, Digest) {
    let component = std::fs::read(guest(name)).expect("readable");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("worker-guests");
    let once = Once::new(&folder, Path::new(env!("CARGO_BIN_EXE_assay-worker"))).expect("a folder");
    let key = Digest::of(&component).to_string();
    let bytes = once.get(&key, || compile_now(name)).expect("a file");
    let digest = Digest::of(&bytes);
    (bytes, digest)
}

fn compile_now(name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let report = compile(&guest(name), &out);
    let digest = report["ok"]["compiled_digest"].as_str().expect("a plugin");
    let bytes = std::fs::read(out).expect("written");
    assert_eq!(Digest::of(&bytes).to_string(), digest);
    bytes
}
