//! `assay-exec`: the helper that runs untrusted programs for a worker, which starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let served = match arguments.as_slice() {
        [verb, options] if verb == "serve" => assay_exec::supervisor::serve(options),
        _ => {
            eprintln!("assay-exec runs untrusted programs for a worker, which starts it by itself");
            return ExitCode::FAILURE;
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("assay-exec: {error:#}");
            ExitCode::FAILURE
        }
    }
}
