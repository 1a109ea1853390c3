//! `assay-gpu`: the parts of the GPU capability that run outside of the worker's process.

use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        other => {
            eprintln!("assay-gpu: unknown command {other:?}: the worker starts this program");
            ExitCode::FAILURE
        }
    }
}
