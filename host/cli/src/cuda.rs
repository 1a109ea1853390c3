//! `assay cuda`: tasks of the plugin `cuda` out of KernelBench, and PyTorch's times for them.
//!
//! PyTorch takes tasks apart and times them, so the work is done by a Python program (`kernelbench/`).

mod import;
mod time;

use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::Context as _;
use tempfile::{NamedTempFile, TempDir};
use tokio::process::Command;

/// The files of the Python program.
const PROGRAM: [(&str, &str); 12] = [
    ("emit.py", include_str!("../kernelbench/emit.py")),
    ("expressions.py", include_str!("../kernelbench/expressions.py")),
    ("fills.py", include_str!("../kernelbench/fills.py")),
    ("graph.py", include_str!("../kernelbench/graph.py")),
    ("model.py", include_str!("../kernelbench/model.py")),
    ("operators.py", include_str!("../kernelbench/operators.py")),
    ("reference.h", include_str!("../kernelbench/reference.h")),
    ("reference.py", include_str!("../kernelbench/reference.py")),
    ("scale.py", include_str!("../kernelbench/scale.py")),
    ("source.py", include_str!("../kernelbench/source.py")),
    ("speed.py", include_str!("../kernelbench/speed.py")),
    ("task.py", include_str!("../kernelbench/task.py")),
];
/// `pip install torch` takes gigabytes; whoever has it once names it.
const NEEDS: &str = "this needs Python with PyTorch 2.5 or newer (`pip install torch`), and `import` g++; name such a \
                     Python by --python or ASSAY_TORCH_PYTHON";

/// Make tasks for the plugin `cuda`, and measure their baselines
#[derive(clap::Args)]
pub(super) struct CudaCommand {
    #[command(subcommand)]
    verb: CudaVerb,
}

#[derive(clap::Subcommand)]
enum CudaVerb {
    /// Make tasks out of a checkout of KernelBench: a JSON line with prompt and label for each
    ///
    /// Runs the files of the checkout with Python, as KernelBench does. The reference of each task is CUDA made of what
    /// PyTorch computes, and is compared with PyTorch on this machine's processor before the task is written.
    Import(import::ImportOptions),
    /// Measure how long PyTorch takes for imported tasks on this machine's GPU, as the baseline of their speed-ups
    ///
    /// Runs each task's module with Python and adds the time to its label, under the GPU's name: a file may be taken from
    /// one kind of GPU to the next. Nothing else should use the GPU meanwhile.
    Time(time::TimeOptions),
}

/// The Python that has PyTorch.
#[derive(clap::Args)]
struct TorchOptions {
    /// Python with PyTorch
    #[arg(long, env = "ASSAY_TORCH_PYTHON", value_name = "PROGRAM", default_value = "python3")]
    python: PathBuf,
}

pub(super) async fn run(options: CudaCommand) -> anyhow::Result<ExitCode> {
    match options.verb {
        CudaVerb::Import(options) => import::run(options).await,
        CudaVerb::Time(options) => time::run(options).await,
    }
}

/// The Python program, in a folder of its own.
fn program() -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir().context("a folder for the Python program")?;
    for (name, text) in PROGRAM {
        std::fs::write(folder.path().join(name), text).context("writing the Python program")?;
    }
    Ok(folder)
}

/// A file beside the one that it will take the place of, so that work that is broken off leaves nothing that looks whole.
fn replacing(output: &Path) -> anyhow::Result<NamedTempFile> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .with_context(|| format!("writing beside {}", output.display()))
}

async fn check_torch(python: &Path) -> anyhow::Result<()> {
    let check =
        "import torch, sys; sys.exit(tuple(map(int, torch.__version__.split('.')[:2])) < (2, 5))";
    check_program(python, &["-c", check]).await
}

async fn check_program(program: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let run =
        Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    let output = run.await.with_context(|| format!("cannot run {}: {NEEDS}", program.display()))?;
    anyhow::ensure!(
        output.status.success(),
        "{}: {}\n{NEEDS}",
        program.display(),
        last_line(&output.stderr)
    );
    Ok(())
}

fn last_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing").to_owned()
}
