//! Runs golden cases against a component on the author's own machine.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use assay_sandbox::Sandbox;
use assay_sandbox::cases::Case;
use assay_sandbox::compile::Compiler;

/// Prints a line a case; fails when one of them differs.
pub(crate) fn run(component: &Path, cases: &[PathBuf]) -> anyhow::Result<ExitCode> {
    let bytes =
        std::fs::read(component).with_context(|| format!("reading {}", component.display()))?;
    let compiled = Compiler::reserve()?
        .compile(&bytes)
        .with_context(|| format!("{} is refused", component.display()))?;
    let sandbox = Sandbox::new()?;
    let plugin = sandbox.load(&compiled.bytes, compiled.compiled_digest)?;
    let mut failures = 0;
    for path in cases {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
        let case = Case::parse(&text).map_err(anyhow::Error::msg);
        let case = case.with_context(|| format!("{} is no case", path.display()))?;
        match case.run(&sandbox, &plugin, &compiled.description) {
            Ok(()) => println!("ok      {}", case.name),
            Err(problem) => {
                failures += 1;
                println!("FAILED  {}: {problem}", case.name);
            }
        }
    }
    println!("{} passed, {failures} failed", cases.len() - failures);
    Ok(if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
