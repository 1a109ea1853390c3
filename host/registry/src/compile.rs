//! Components are compiled in a worker process, which contains a hostile upload.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use assay_core::architecture::Architecture;
use assay_core::compilation::{CodeReport, CompileReport, PluginReport};
use assay_core::id::{Digest, TenantId};
use assay_core::limits;
use assay_storage::blob::digest_elsewhere;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use tempfile::TempDir;
use tokio::process::Command;

use assay_dispatch::Engines;
use assay_dispatch::fair_semaphore::{FairPermit, FairSemaphore};

use crate::error::RegistryError;

/// The number of compilations at once, of two tenants; each may use all cores and memory up to its limit.
const COMPILATIONS_MAX: usize = 2;
const WALL_MAX: Duration = Duration::from_secs(limits::COMPILE_WALL_SECONDS_MAX);
/// The signal that ends a process beyond its processor time.
const SIGXCPU: i32 = 24;
/// The signal by which a process ends itself that gets no more memory.
const SIGABRT: i32 = 6;
/// The signal by which the kernel ends a process on a machine without memory.
const SIGKILL: i32 = 9;
/// The signals by which a person or a service manager stops a server with all that it started: SIGHUP, SIGINT, SIGTERM.
const STOPS: [i32; 3] = [1, 2, 15];

/// Code that a component was compiled to before, and its digest as the database has it.
pub(crate) struct KnownCode {
    pub code: Bytes,
    pub digest: Digest,
}

pub(crate) struct Compiled {
    pub report: PluginReport,
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

/// The end of a compiler's process.
enum CompilerEnd {
    Output(Output),
    /// It did not end in time, whatever it did.
    Slow,
}

/// A tenant's turn to compile; it ends with the value.
pub(crate) struct CompileTurn {
    _permit: FairPermit,
}

/// Compiles components for workers of this machine and of other architectures.
pub(crate) struct Compiler {
    /// The worker program.
    program: PathBuf,
    /// The server's folder for what lasts as long as a compilation.
    scratch: PathBuf,
    engines: Engines,
    turns: FairSemaphore,
}

impl Compiler {
    /// Asks the worker program for the ids of its engine and of those of other architectures.
    pub(crate) async fn of(
        program: PathBuf,
        scratch: PathBuf,
        others: &[Architecture],
    ) -> anyhow::Result<Self> {
        let mut ids = BTreeMap::new();
        for architecture in others {
            let asked = ["engine", "--architecture", architecture.name()];
            ids.insert(*architecture, engine_id(&program, &asked).await?);
        }
        // Asked so that worker programs of an earlier release, which know no other architecture, answer.
        ids.insert(Architecture::own(), engine_id(&program, &["engine"]).await?);
        let turns = FairSemaphore::new(COMPILATIONS_MAX);
        Ok(Self { program, scratch, engines: Engines::new(ids), turns })
    }

    pub(crate) fn engines(&self) -> &Engines {
        &self.engines
    }

    /// The number of components of each tenant that wait for their turn.
    pub(crate) fn waiting(&self) -> BTreeMap<TenantId, usize> {
        self.turns.waiting()
    }

    /// Waits until the tenant may compile. What is read into memory for it is read after that, and what may have been
    /// compiled meanwhile is looked up then.
    pub(crate) async fn turn(&self, tenant: TenantId) -> CompileTurn {
        CompileTurn { _permit: self.turns.acquire(tenant, 1).await }
    }

    /// Runs `assay-worker compile` on the bytes. Known code is verified and loaded there in place of a compilation, and
    /// the component is asked anew what it is.
    pub(crate) async fn compile(
        &self,
        _turn: &CompileTurn,
        component: &Bytes,
        known: Option<KnownCode>,
    ) -> Result<Compiled, RegistryError> {
        let folder = self.folder_with(component).await?;
        let mut command = self.command("compile", &folder);
        if let Some(KnownCode { code, digest }) = known {
            let file = folder.path().join("known");
            tokio::fs::write(&file, code).await.map_err(RegistryError::Scratch)?;
            command.arg("--known").arg(&file).arg("--known-digest").arg(digest.to_string());
        }
        let end = run_compiler(command, WALL_MAX).await?;
        let report: PluginReport = report(end)?;
        let bytes = self.compiled_form(&folder, Architecture::own(), &report.code).await?;
        Ok(Compiled { report, bytes, folder })
    }

    /// The code of a component for an architecture.
    pub(crate) async fn compile_for(
        &self,
        turn: &CompileTurn,
        component: &Bytes,
        architecture: Architecture,
    ) -> Result<Bytes, RegistryError> {
        if architecture == Architecture::own() {
            return Ok(self.compile(turn, component, None).await?.bytes);
        }
        let folder = self.folder_with(component).await?;
        let mut command = self.command("cross-compile", &folder);
        command.arg("--architecture").arg(architecture.name());
        let end = run_compiler(command, WALL_MAX).await?;
        let code: CodeReport = report(end).map_err(|error| error.for_architecture(architecture))?;
        self.compiled_form(&folder, architecture, &code).await
    }

    /// A folder to compile in.
    async fn folder_with(&self, component: &Bytes) -> Result<TempDir, RegistryError> {
        let folder = tempfile::tempdir_in(&self.scratch).map_err(RegistryError::Scratch)?;
        let written = tokio::fs::write(Compiled::component(&folder), component).await;
        written.map_err(RegistryError::Scratch)?;
        Ok(folder)
    }

    fn command(&self, verb: &str, folder: &TempDir) -> Command {
        let mut command = Command::new(&self.program);
        command.arg(verb).arg(Compiled::component(folder));
        command.arg("--out").arg(Compiled::file(folder));
        command
    }

    /// Reads what the compiler wrote.
    async fn compiled_form(
        &self,
        folder: &TempDir,
        architecture: Architecture,
        code: &CodeReport,
    ) -> Result<Bytes, RegistryError> {
        if code.engine != self.engines.id(architecture) {
            return Err(RegistryError::CompilerBusy(
                "the worker program was replaced by one with another engine: plugins are compiled once the server was \
                 restarted"
                    .into(),
            ));
        }
        read_verified(&Compiled::file(folder), code.compiled_digest).await
    }
}

/// Reads a file of a compilation, which must have this digest.
pub(crate) async fn read_verified(file: &Path, digest: Digest) -> Result<Bytes, RegistryError> {
    let bytes: Bytes = tokio::fs::read(file).await.map_err(RegistryError::Scratch)?.into();
    if digest_elsewhere(&bytes).await != digest {
        return Err(RegistryError::Compiler(anyhow::anyhow!("{} changed", file.display())));
    }
    Ok(bytes)
}

/// Asks the worker program for the id of an engine.
async fn engine_id(program: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let shown = program.display();
    let output = Command::new(program).args(arguments).env_clear().output().await;
    let output = output.with_context(|| format!("running {shown}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let (said, status) = (errors.lines().last().unwrap_or_default(), output.status);
    anyhow::ensure!(status.success(), "{shown} {}: {status}: {said}", arguments.join(" "));
    let id = String::from_utf8(output.stdout).context("reading the engine's id")?;
    Ok(id.trim().to_owned())
}

async fn run_compiler(
    mut command: Command,
    wall_max: Duration,
) -> Result<CompilerEnd, RegistryError> {
    let run = command
        .env_clear()
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    match tokio::time::timeout(wall_max, run).await {
        Ok(Ok(output)) => Ok(CompilerEnd::Output(output)),
        // No process or no memory is left, or the program is being replaced.
        Ok(Err(error)) => Err(RegistryError::CompilerBusy(format!(
            "the compiler could not be started: {error}; try again"
        ))),
        Err(_) => Ok(CompilerEnd::Slow),
    }
}

/// Reads the report of the compiler. It limits its processor time and its memory itself, so that the plugin is at fault
/// when one of them ends it; the wall time is the machine's.
fn report<T: DeserializeOwned>(end: CompilerEnd) -> Result<T, RegistryError> {
    let CompilerEnd::Output(output) = end else {
        return Err(RegistryError::CompilerBusy(format!(
            "the machine is too busy: the plugin was not compiled within {} s",
            limits::COMPILE_WALL_SECONDS_MAX
        )));
    };
    if output.status.signal() == Some(SIGXCPU) {
        return Err(RegistryError::Refused(format!(
            "compiling the plugin takes more than {} s of processor time",
            limits::COMPILE_CPU_SECONDS_MAX
        )));
    }
    if output.status.signal() == Some(SIGKILL) {
        return Err(RegistryError::CompilerBusy(
            "the compiler was killed, as on a machine that is out of memory".into(),
        ));
    }
    if output.status.signal().is_some_and(|signal| STOPS.contains(&signal)) {
        return Err(RegistryError::CompilerBusy("the compiler was stopped from outside".into()));
    }
    if output.status.signal() == Some(SIGABRT) {
        return Err(RegistryError::Refused(format!(
            "compiling the plugin takes more than {} GiB of address space: make its functions smaller",
            limits::COMPILE_MEMORY_BYTES_MAX >> 30
        )));
    }
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr.lines().last().unwrap_or_default();
        let told = format!("the compiler ended with {}: {last}", output.status);
        // The report says what is wrong with a plugin. A failure of the compiler itself, such as a full disk, is ours;
        // only a signal may come from what a hostile plugin makes it do.
        return Err(match output.status.signal() {
            Some(_) => RegistryError::Refused(told),
            None => RegistryError::Compiler(anyhow::anyhow!(told)),
        });
    }
    let report = serde_json::from_slice(&output.stdout).context("reading the compiler's report");
    match report.map_err(RegistryError::Compiler)? {
        CompileReport::Refused { message } => Err(RegistryError::Refused(message)),
        CompileReport::Starved { message } => Err(RegistryError::CompilerBusy(message)),
        CompileReport::Ok(report) => Ok(report),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result of an upload when the compiler is this script.
    async fn script(text: &str, wall_max: Duration) -> Result<PluginReport, RegistryError> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(text);
        report(run_compiler(command, wall_max).await.expect("a shell starts"))
    }

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn a_program_without_an_engine_says_why() {
        // A shell looks for a script of that name, and says that there is none.
        let opened = Compiler::of("/bin/sh".into(), "scratch".into(), &[]).await;
        let told = opened.err().expect("a shell has no engine").to_string();
        assert!(told.starts_with("/bin/sh engine: exit status: "), "{told}");
        assert!(told.contains("No such file"), "{told}");
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_used_is_no_fault_of_the_compiler() {
        let (engines, turns) = (Engines::new(BTreeMap::new()), FairSemaphore::new(1));
        let (program, scratch) = ("/bin/sh".into(), "/nowhere".into());
        let compiler = Compiler { program, scratch, engines, turns };
        let turn = compiler.turn(TenantId(uuid::Uuid::nil())).await;
        let ended = compiler.compile(&turn, &Bytes::new(), None).await;
        assert!(matches!(ended, Err(RegistryError::Scratch(_))));
    }

    #[tokio::test]
    async fn what_the_compiler_uses_up_is_the_plugins_fault() {
        for (text, words) in [
            ("kill -XCPU $$", "more than 240 s of processor time"),
            ("kill -ABRT $$", "more than 4 GiB of address space"),
            ("kill -SEGV $$", "SIGSEGV"),
            (r#"echo '{"refused": {"message": "no component"}}'"#, "no component"),
        ] {
            let Err(RegistryError::Refused(told)) = script(text, LONG).await else {
                panic!("{text}")
            };
            assert!(told.contains(words), "{told}");
        }
    }

    #[tokio::test]
    async fn a_busy_machine_refuses_no_plugin() {
        let slow = script("exec sleep 600", Duration::from_millis(200)).await;
        let Err(RegistryError::CompilerBusy(told)) = slow else { panic!("it did not end") };
        assert!(told.contains("too busy"), "{told}");
        for signal in ["KILL", "HUP", "INT", "TERM"] {
            let ended = script(&format!("kill -{signal} $$"), LONG).await;
            assert!(matches!(ended, Err(RegistryError::CompilerBusy(_))), "{signal}");
        }
        let missing = run_compiler(Command::new("/nowhere"), LONG).await;
        let Err(RegistryError::CompilerBusy(told)) = missing else { panic!("nothing was run") };
        assert!(told.contains("could not be started"), "{told}");
        for broken in ["echo all is well", "echo no space left >&2; exit 1"] {
            let told = script(broken, LONG).await;
            assert!(matches!(told, Err(RegistryError::Compiler(_))), "{broken}");
        }
    }
}
