//! Components are compiled in a worker process, which contains a hostile upload.

use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::limits;
use assay_core::plugin::Description;
use bytes::Bytes;
use serde::Deserialize;
use tempfile::TempDir;
use tokio::process::Command;

use crate::error::RegistryError;
use crate::registry::Registry;

const COMPILE_TIMEOUT: Duration = Duration::from_secs(limits::COMPILE_SECONDS_MAX);

/// The share of the limit of wall time from which a compilation that waited for a processor is not at fault, in percent.
const STARVED_PERCENT: u32 = 25;

/// The report that `assay-worker compile` prints.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CompileReport {
    Ok(Box<CompileOk>),
    Refused { message: String },
    Starved { message: String },
}

#[derive(Deserialize)]
pub(crate) struct CompileOk {
    pub compiled_digest: Digest,
    pub engine: String,
    pub description: Description,
    pub imports: Vec<String>,
}

pub(crate) struct Compiled {
    pub report: CompileOk,
    pub bytes: Bytes,
    /// The folder with the compiled form; deleted with the value.
    pub folder: TempDir,
}

impl Compiled {
    /// The file with the compiled form.
    pub(crate) fn file(folder: &TempDir) -> PathBuf {
        folder.path().join("compiled")
    }
}

impl Registry {
    /// Runs `assay-worker compile` on the bytes.
    pub(crate) async fn compile(&self, component: &Bytes) -> Result<Compiled, RegistryError> {
        let _turn = self.compilations.acquire().await.expect("the semaphore is never closed");
        self.compile_in(component).await.map_err(RegistryError::Compiler)?
    }

    async fn compile_in(
        &self,
        component: &Bytes,
    ) -> anyhow::Result<Result<Compiled, RegistryError>> {
        let folder =
            tempfile::tempdir_in(&self.scratch).context("making a folder to compile in")?;
        let (input, out) = (folder.path().join("component.wasm"), Compiled::file(&folder));
        tokio::fs::write(&input, component).await.context("writing the component")?;
        let child = Command::new(&self.worker_program)
            .arg("compile")
            .arg(&input)
            .arg("--out")
            .arg(&out)
            .env_clear()
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .context("starting the compiler")?;
        let process = child.id();
        let mut run = pin!(child.wait_with_output());
        let Ok(output) = tokio::time::timeout(COMPILE_TIMEOUT, &mut run).await else {
            let waited = process.map(run_delay).unwrap_or_default();
            return Ok(Err(took_too_long(waited)));
        };
        let output = output.context("running the compiler")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let last = stderr.lines().last().unwrap_or_default();
            // The memory limit ends like this as well, so the plugin is at fault, not the server.
            let problem = format!("the compiler ended with {}: {last}", output.status);
            return Ok(Err(RegistryError::Refused(problem)));
        }
        let report: CompileReport =
            serde_json::from_slice(&output.stdout).context("reading the compiler's report")?;
        let report = match report {
            CompileReport::Refused { message } => return Ok(Err(RegistryError::Refused(message))),
            CompileReport::Starved { message } => {
                return Ok(Err(RegistryError::CompilerStarved(message)));
            }
            CompileReport::Ok(report) => *report,
        };
        let bytes: Bytes = tokio::fs::read(&out).await.context("reading the compiled form")?.into();
        anyhow::ensure!(report.engine == self.engine, "the worker program was replaced");
        anyhow::ensure!(Digest::of(&bytes) == report.compiled_digest, "the compiled form changed");
        Ok(Ok(Compiled { report, bytes, folder }))
    }
}

/// The error of a compilation that was ended at its limit of wall time, one of whose threads waited so long for a
/// processor.
fn took_too_long(waited: Duration) -> RegistryError {
    let seconds = limits::COMPILE_SECONDS_MAX;
    if waited * 100 >= COMPILE_TIMEOUT * STARVED_PERCENT {
        let waited = waited.as_secs();
        return RegistryError::CompilerStarved(format!(
            "the machine is overloaded: compiling did not end within {seconds} s, of which it waited {waited} s for a \
             processor"
        ));
    }
    RegistryError::Refused(format!("compiling took longer than {seconds} s"))
}

/// The longest time for which a thread of the process was ready to run and had no processor.
fn run_delay(process: u32) -> Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let delays = threads.flatten().filter_map(|thread| {
        let stat = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split_whitespace().nth(1)?.parse().ok()
    });
    delays.max().map_or(Duration::ZERO, Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compilation_that_waited_for_a_processor_may_be_tried_again() {
        let starved = took_too_long(COMPILE_TIMEOUT / 2);
        assert!(matches!(starved, RegistryError::CompilerStarved(_)), "{starved}");
        let slow = took_too_long(COMPILE_TIMEOUT / 20);
        assert!(matches!(slow, RegistryError::Refused(_)), "{slow}");
    }
}
