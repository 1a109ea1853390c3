//! Plugins on this machine, run by the worker program: descriptions of components, golden cases,
//! and requests that a server recorded. This program links no sandbox.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};

use anyhow::{Context as _, ensure};
use assay_api::request::Request;
use assay_core::capability::{self, CAPABILITIES, Capability, Grant};
use assay_core::compilation::{CompileReport, PluginReport};
use assay_core::id::{Digest, RequestId};
use assay_core::plugin::Description;
use assay_core::recorded::{RecordedRequest, ScoredRequest};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use super::progress::{mib, told_while};
use super::workers::WorkerOptions;

#[derive(clap::Args)]
pub(super) struct EngineOptions {
    /// Folder that holds one folder for each storage root that the plugin may read
    #[arg(long, value_name = "DIR")]
    storage: Option<PathBuf>,
    /// Hosts that the plugin may send requests to, as in a tenant's grant [default: none]
    #[arg(long, value_name = "HOSTS")]
    hosts: Option<String>,
    #[command(flatten)]
    workers: WorkerOptions,
}

/// A component with its description.
#[derive(Debug, Clone)]
pub(super) struct Described {
    pub component: PathBuf,
    pub bytes: u64,
    pub digest: Digest,
    pub description: Description,
    pub imports: Vec<String>,
}

/// A golden case as the worker program reports it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LocalCaseReport {
    pub case: String,
    pub file: PathBuf,
    /// `passed`, `failed`, `updated` or `unstable`.
    pub state: String,
    pub ran_ms: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub expected: serde_json::Value,
    pub got: serde_json::Value,
    pub explanation: String,
    pub logs: Vec<String>,
}

impl LocalCaseReport {
    pub(super) fn failed(&self) -> bool {
        matches!(self.state.as_str(), "failed" | "unstable")
    }
}

/// How golden cases are run.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalCaseOptions {
    pub update: bool,
    pub repeat: u32,
}

/// A request of the server as the worker program takes it, with the body, the settings and the seed that it had.
pub(super) fn recorded(request: &Request) -> anyhow::Result<RecordedRequest> {
    let context = request.context.as_ref();
    let context = context.context("the server's answer lacks the request's settings")?;
    // An equal request before it was the one that was computed, with its own seed.
    let shared = request.result.as_ref().and_then(|result| result.shared_from);
    let origin: RequestId = shared.unwrap_or(request.id);
    let json = |value: &Option<Box<serde_json::value::RawValue>>| {
        value.as_ref().map_or("null", |value| value.get()).to_owned()
    };
    Ok(RecordedRequest {
        id: origin.to_string(),
        group: request.group.clone(),
        prompt: request.prompt.clone(),
        response: request.response.clone(),
        label: json(&request.label),
        metadata: json(&request.metadata),
        settings: context.settings.get().to_owned(),
        seed: origin.seed(),
    })
}

impl EngineOptions {
    /// Compiles a component and asks it what it is; an error is a refusal, in the words of the
    /// upload.
    pub(super) async fn describe(&self, component: &Path) -> anyhow::Result<Described> {
        let folder = tempfile::tempdir().context("making a folder to compile in")?;
        let shown = component.display();
        let bytes = tokio::fs::metadata(component).await.with_context(|| {
            format!("the component {shown} does not exist; `build` in plugin.toml must create it")
        })?;
        let mut command = self.worker()?;
        command.arg("compile").arg(component).arg("--out").arg(folder.path().join("compiled"));
        command.args(compiled_code());
        let what = format!("compiling {}", mib(bytes.len()));
        let output =
            told_while(&what, command.output()).await.context("running the worker program")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            eprint!("{errors}");
        }
        ensure!(output.status.success(), "compiling {shown}: {}", errors.trim());
        let report = serde_json::from_slice(&output.stdout);
        match report.context("reading the compiler's report")? {
            CompileReport::Refused { message } => anyhow::bail!("{shown} is refused: {message}"),
            CompileReport::Starved { message } => {
                anyhow::bail!("{shown} was not compiled: {message}; try again later")
            }
            CompileReport::Ok(PluginReport { digest, description, imports, .. }) => Ok(Described {
                component: component.to_owned(),
                bytes: bytes.len(),
                digest,
                description,
                imports,
            }),
        }
    }

    /// Runs golden cases; `each` sees them one by one.
    pub(super) async fn test(
        &self,
        plugin: &Described,
        cases: &[PathBuf],
        runs: LocalCaseOptions,
        mut each: impl FnMut(&LocalCaseReport),
    ) -> anyhow::Result<Vec<LocalCaseReport>> {
        let mut command = self.worker()?;
        command.arg("test").arg(&plugin.component).args(cases).arg("--json");
        command.args(compiled_code());
        command.arg("--repeat").arg(runs.repeat.to_string());
        command.args(runs.update.then_some("--update"));
        command.args(self.capabilities(plugin).await?);
        let mut child = command.stdout(Stdio::piped()).spawn().context("starting the worker")?;
        let mut reports: Vec<LocalCaseReport> = Vec::with_capacity(cases.len());
        read_lines(&mut child, |report| {
            each(&report);
            reports.push(report);
        })
        .await?;
        let status = child.wait_with_output().await?;
        // A case that failed makes its status one, too.
        if reports.len() < cases.len() {
            return Err(failed(status.status, &status.stderr));
        }
        Ok(reports)
    }

    /// Runs recorded requests; what came is in their order.
    pub(super) async fn score(
        &self,
        plugin: &Described,
        requests: Vec<RecordedRequest>,
        mut each: impl FnMut(&ScoredRequest),
    ) -> anyhow::Result<Vec<ScoredRequest>> {
        let mut command = self.worker()?;
        command.arg("score").arg(&plugin.component).args(self.capabilities(plugin).await?);
        command.args(compiled_code());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("starting the worker")?;
        let mut input = child.stdin.take().expect("it was asked for");
        let wanted = requests.len();
        // The worker reads while it writes: writing all requests first could wait for ever.
        let writer = tokio::spawn(async move {
            for request in requests {
                let mut line = serde_json::to_vec(&request).expect("plain data");
                line.push(b'\n');
                input.write_all(&line).await?;
            }
            input.shutdown().await
        });
        let mut all: Vec<ScoredRequest> = Vec::with_capacity(wanted);
        read_lines(&mut child, |scored| {
            each(&scored);
            all.push(scored);
        })
        .await?;
        // If the worker ended early, its error says why; the broken pipe does not.
        let _ = writer.await;
        let output = child.wait_with_output().await?;
        if all.len() < wanted {
            return Err(failed(output.status, &output.stderr));
        }
        Ok(all)
    }

    /// Tells a builder of the worker program, and of the folder in which builders keep what their builds share.
    pub(super) fn builder_environment(&self) -> anyhow::Result<Vec<(&'static str, OsString)>> {
        let program = std::path::absolute(self.workers.program()?).context("finding the worker")?;
        let mut variables = vec![("ASSAY_WORKER_PROGRAM", program.into_os_string())];
        variables.extend(cache().map(|cache| ("ASSAY_CACHE", cache.into_os_string())));
        Ok(variables)
    }

    fn worker(&self) -> anyhow::Result<Command> {
        let mut command = Command::new(self.workers.program()?);
        // As workers are started.
        command.env_clear().env("RUST_BACKTRACE", "0").kill_on_drop(true);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        Ok(command)
    }

    async fn capabilities(&self, plugin: &Described) -> anyhow::Result<Vec<OsString>> {
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(storage) = &self.storage {
            ensure!(
                storage.is_dir(),
                "--storage names {}, which is not a folder",
                storage.display()
            );
            arguments.extend(["--storage".into(), storage.into()]);
        }
        if let Some(hosts) = &self.hosts {
            arguments.extend(["--hosts".into(), hosts.into()]);
        }
        if plugin.asks(&capability::GPU) || plugin.asks(&capability::EXEC) {
            let data = assay_postgres::default_data_folder()?;
            let gpu = self.workers.gpu.settle(&self.workers.program()?, &data).await?.gpu;
            arguments.extend(self.workers.programs(gpu)?.arguments());
        }
        Ok(arguments)
    }

    /// Possible differences between this machine and a server that runs the plugin.
    pub(super) fn differences(&self, plugin: &Described) -> Vec<String> {
        let asked = CAPABILITIES.into_iter().filter(|it| plugin.asks(it));
        let note = |capability: &Capability| match (capability.grant, &self.storage) {
            (Grant::StorageRoots, Some(folder)) => {
                format!(
                    "the plugin reads storage: its roots are the folders of {}",
                    folder.display()
                )
            }
            _ => capability.local_difference.to_owned(),
        };
        asked.map(note).collect()
    }
}

impl Described {
    /// Whether it imports an interface of the capability.
    pub(super) fn asks(&self, capability: &Capability) -> bool {
        capability.imported_by(&self.imports).is_some()
    }

    /// `name@version`.
    pub(super) fn reference(&self) -> String {
        self.description.version_name().to_string()
    }
}

/// The folder in which this user's work is kept for the next time, `$XDG_CACHE_HOME/assay` or `~/.cache/assay`; none
/// without a home.
fn cache() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("assay"))
}

/// The option with the folder of code that is compiled.
fn compiled_code() -> Vec<OsString> {
    let folder = cache().map(|cache| cache.join("compiled").into_os_string());
    folder.map_or_else(Vec::new, |folder| vec!["--compiled".into(), folder])
}

async fn read_lines<T: serde::de::DeserializeOwned>(
    child: &mut Child,
    mut each: impl FnMut(T),
) -> anyhow::Result<()> {
    let mut lines = BufReader::new(child.stdout.take().expect("it was asked for")).lines();
    while let Some(line) = lines.next_line().await.context("reading the worker's output")? {
        each(
            serde_json::from_str(&line)
                .context("the worker program has another version than this program")?,
        );
    }
    Ok(())
}

/// The error of a worker program that ended early.
fn failed(status: ExitStatus, stderr: &[u8]) -> anyhow::Error {
    let said = String::from_utf8_lossy(stderr);
    let said = said.trim().trim_start_matches("assay-worker: ");
    if said.is_empty() {
        anyhow::anyhow!("the worker program ended with {status}")
    } else {
        anyhow::anyhow!("{said}")
    }
}
