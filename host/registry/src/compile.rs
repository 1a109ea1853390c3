//! Components are compiled in a worker process, which contains a hostile upload.

use std::path::PathBuf;
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

/// The report that `assay-worker compile` prints.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CompileReport {
    Ok(Box<CompileOk>),
    Refused { message: String },
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
    /// The file with the component.
    pub(crate) fn component(folder: &TempDir) -> PathBuf {
        folder.path().join("component.wasm")
    }

    /// The file with the compiled form.
    pub(crate) fn file(folder: &TempDir) -> PathBuf {
        folder.path().join("compiled")
    }
}

impl Registry {
    /// Runs `assay-worker compile` on the bytes.
    pub(crate) async fn compile(&self, component: &Bytes) -> Result<Compiled, RegistryError> {
        let _turn = self.compilations.acquire().await.expect("the semaphore is never closed");
        self.compile_in(component)
            .await
            .map_err(RegistryError::Compiler)?
            .map_err(RegistryError::Refused)
    }

    async fn compile_in(&self, component: &Bytes) -> anyhow::Result<Result<Compiled, String>> {
        let folder =
            tempfile::tempdir_in(&self.scratch).context("making a folder to compile in")?;
        let (input, out) = (Compiled::component(&folder), Compiled::file(&folder));
        tokio::fs::write(&input, component).await.context("writing the component")?;
        let run = Command::new(&self.worker_program)
            .arg("compile")
            .arg(&input)
            .arg("--out")
            .arg(&out)
            .env_clear()
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let Ok(output) = tokio::time::timeout(COMPILE_TIMEOUT, run).await else {
            let seconds = limits::COMPILE_SECONDS_MAX;
            return Ok(Err(format!("compiling took longer than {seconds} s")));
        };
        let output = output.context("running the compiler")?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            let last = stderr.lines().last().unwrap_or_default();
            // The memory limit ends like this as well, so the plugin is at fault, not the server.
            return Ok(Err(format!("the compiler ended with {}: {last}", output.status)));
        }
        let report: CompileReport =
            serde_json::from_slice(&output.stdout).context("reading the compiler's report")?;
        let report = match report {
            CompileReport::Refused { message } => return Ok(Err(message)),
            CompileReport::Ok(report) => *report,
        };
        let bytes: Bytes = tokio::fs::read(&out).await.context("reading the compiled form")?.into();
        anyhow::ensure!(report.engine == self.engine, "the worker program was replaced");
        anyhow::ensure!(Digest::of(&bytes) == report.compiled_digest, "the compiled form changed");
        Ok(Ok(Compiled { report, bytes, folder }))
    }
}
