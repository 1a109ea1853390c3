//! Runs the golden cases of an upload for the server, with the limits and grants that requests of its tenant
//! have. The texts of the cases are hostile: they are parsed here, and nowhere in the server.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use assay_core::golden::{CaseFile, CaseJob, CaseReport, CaseState};
use assay_core::id::Digest;
use assay_core::outcome::{ErrorCode, StageEnd};
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::folder::FolderStorage;
use assay_sandbox::capability::http::{HeaderSecret, Outbound};
use assay_sandbox::capability::storage::{ObjectError, Storage};
use assay_sandbox::cases::{Expect, GoldenCase};
use assay_sandbox::pipeline::{self, LocalPipeline, StageRecord};
use assay_sandbox::{LoadedPlugin, Sandbox};
use assay_schema::PluginSchemas;
use parking_lot::Mutex;

use crate::{environment, programs, schemas};

/// The runs of a case before a capability that fails counts as broken.
const TRIES_MAX: u32 = 2;
/// The missing storage roots that are named for a case.
const MISSING_MAX: usize = 8;

#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct CaseOptions {
    /// Folder for compiled programs, shared with the workers of this machine
    #[arg(long, value_name = "DIR")]
    cache: PathBuf,
    #[command(flatten)]
    programs: programs::ProgramOptions,
}

/// The plugin of an upload with everything that its cases may use.
struct CaseRunner {
    job: CaseJob,
    sandbox: Sandbox,
    plugin: LoadedPlugin,
    schemas: PluginSchemas,
    capabilities: Option<Capabilities>,
    storage: Arc<NotingStorage>,
    /// The time that the cases have left together.
    left: Duration,
}

/// Storage that notes which roots were asked for in vain.
struct NotingStorage {
    inner: FolderStorage,
    /// The granted roots that are in no folder of this machine.
    distant_roots: Vec<String>,
    missing: Mutex<Vec<String>>,
}

/// Prints a report as soon as a case has ended, so that the server knows how far the process came.
pub(crate) fn run(options: &CaseOptions) -> anyhow::Result<()> {
    environment::end_with_host()?;
    let job: CaseJob =
        serde_json::from_reader(std::io::stdin().lock()).context("reading the job")?;
    let mut runner = CaseRunner::open(options, job)?;
    let mut out = std::io::stdout().lock();
    for case in std::mem::take(&mut runner.job.cases) {
        let report = runner.report(&case).bounded();
        serde_json::to_writer(&mut out, &report).context("writing a report")?;
        out.write_all(b"\n").and_then(|()| out.flush()).context("writing a report")?;
    }
    Ok(())
}

impl CaseRunner {
    fn open(options: &CaseOptions, job: CaseJob) -> anyhow::Result<Self> {
        let bytes = std::fs::read(&job.compiled).context("reading the compiled component")?;
        let sandbox = Sandbox::new()?;
        let plugin = sandbox.load(&bytes, job.compiled_digest)?;
        let schemas = schemas::compile(&job.description)?;
        let left = Duration::from_millis(job.time_ms_max);
        // Every stage runs here, whatever its pool.
        let programs = options.programs.open(1, &options.cache)?;
        let storage = Arc::new(NotingStorage {
            inner: FolderStorage::new(job.storage.clone(), programs.objects),
            distant_roots: job.distant_roots.clone(),
            missing: Mutex::default(),
        });
        let capabilities = Capabilities {
            tenant: job.tenant,
            exec: programs.exec,
            toolchains: job.toolchains.clone().map(Into::into),
            storage: storage.clone(),
            compiler: programs.compiler,
            device: programs.device,
            network: programs.network,
            outbound: Arc::new(outbound(&job)?),
        };
        let capabilities = plugin.asks().then_some(capabilities);
        Ok(Self { job, sandbox, plugin, schemas, capabilities, storage, left })
    }

    fn report(&mut self, file: &CaseFile) -> CaseReport {
        let case = match GoldenCase::parse(&file.text) {
            Ok(case) => case,
            Err(problem) => return failed("", format!("the file is no golden case: {problem}")),
        };
        match schemas::check(&self.schemas, &case) {
            Ok(()) => self.run(&case),
            Err(mismatch) => failed(&case.name, mismatch),
        }
    }

    fn run(&mut self, case: &GoldenCase) -> CaseReport {
        let mut tries = 1;
        loop {
            let report = self.run_once(case);
            if report.state != CaseState::Broken || tries == TRIES_MAX {
                return report;
            }
            tries += 1;
        }
    }

    fn run_once(&mut self, case: &GoldenCase) -> CaseReport {
        self.storage.forget();
        let description = &self.job.description;
        let pipeline = LocalPipeline {
            sandbox: &self.sandbox,
            plugin: &self.plugin,
            description,
            capabilities: self.capabilities.as_ref(),
            time_max: Some(self.left),
        };
        let ran = case.run(&pipeline);
        self.left = self.left.saturating_sub(pipeline::used(&ran));
        let description = &self.job.description;
        let end = pipeline::end(&ran);
        let is_cut_short = ran.last().is_some_and(|ran| ran.is_cut_short);
        let (state, reason) = match (case.compare(end, description.timeout_reward), end) {
            (_, StageEnd::Failed(error)) if end.is_starved() => {
                (CaseState::Broken, error.message.clone())
            }
            (_, StageEnd::TimedOut) if is_cut_short => {
                (CaseState::TooSlow, "the cases have used all of their time".into())
            }
            (Ok(()), _) => (CaseState::Passed, String::new()),
            (Err(difference), _) => self.judge(&ran, difference),
        };
        CaseReport {
            state,
            name: case.name.clone(),
            expected: case.expected().map(ToString::to_string).unwrap_or_default(),
            actual: actual(end, description.timeout_reward),
            reason,
            ran_ms: ran.iter().map(|ran| ran.run.ran.as_ms_f64()).sum(),
        }
    }

    /// The state of a case whose outcome is not the expected one: the plugin is at fault only if it had
    /// all that it asked for.
    fn judge(&self, ran: &[StageRecord], difference: String) -> (CaseState, String) {
        let missing = ran.iter().flat_map(|ran| ran.run.missing.iter().cloned());
        let missing: Vec<String> = missing.chain(self.storage.missing()).collect();
        if !missing.is_empty() {
            return (CaseState::NotRun, missing.join("; "));
        }
        let StageEnd::Failed(error) = pipeline::end(ran) else {
            return (CaseState::Failed, difference);
        };
        if error.code != ErrorCode::Unavailable {
            return (CaseState::Failed, difference);
        }
        if self.names_missing_toolchain(&error.message) {
            let what = "it needs a toolchain that this server does not offer to the tenant";
            return (CaseState::NotRun, format!("{what}: {}", error.message));
        }
        (CaseState::Broken, error.message.clone())
    }

    /// Whether a plugin that looked for a toolchain in the list of all did not find it there, as this machine is
    /// known to lack it or the tenant was not granted it.
    fn names_missing_toolchain(&self, message: &str) -> bool {
        let Some(capabilities) = &self.capabilities else { return false };
        let exec = capabilities.exec.lock();
        let granted = |id: &str| match &self.job.toolchains {
            Some(granted) => granted.iter().any(|granted| granted == id),
            None => true,
        };
        let named = |id: &str| message.contains(&format!("`{id}`"));
        exec.known_toolchains().any(|(id, lacks)| (lacks || !granted(id)) && named(id))
    }
}

/// The report on a case that did not run by its author's fault.
fn failed(name: &str, reason: String) -> CaseReport {
    CaseReport {
        state: CaseState::Failed,
        name: name.into(),
        expected: String::new(),
        actual: String::new(),
        reason,
        ran_ms: 0.0,
    }
}

fn actual(end: &StageEnd, timeout_reward: f64) -> String {
    let outcome = Expect::of(end, timeout_reward).to_string();
    let explanation = match end {
        StageEnd::Scored(scored) => &scored.explanation,
        StageEnd::Failed(error) => &error.message,
        StageEnd::TimedOut | StageEnd::Next(_) => return outcome,
    };
    if explanation.is_empty() { outcome } else { format!("{outcome}: {explanation}") }
}

/// The server checked the hosts before: one that cannot be read comes from another version of the server.
fn outbound(job: &CaseJob) -> anyhow::Result<Outbound> {
    let pattern =
        |host: &String| host.parse().map_err(anyhow::Error::msg).context("reading a granted host");
    let secret = |secret: &assay_core::golden::CaseSecret| {
        anyhow::Ok(HeaderSecret {
            name: secret.name.clone(),
            host: pattern(&secret.host)?,
            header: secret.header.clone(),
            value: secret.value.clone(),
        })
    };
    Ok(Outbound {
        hosts: job.hosts.iter().map(pattern).collect::<Result<_, _>>()?,
        secrets: job.secrets.iter().map(secret).collect::<Result<_, _>>()?,
        traceparent: None,
    })
}

impl NotingStorage {
    fn forget(&self) {
        self.missing.lock().clear();
    }

    fn missing(&self) -> Vec<String> {
        self.missing.lock().clone()
    }

    fn note<R>(&self, name: &str, came: Result<R, ObjectError>) -> Result<R, ObjectError> {
        if matches!(came, Err(ObjectError::Denied(_))) {
            let root = name.split('/').next().unwrap_or_default();
            let why = if self.distant_roots.iter().any(|distant| distant == root) {
                format!(
                    "the storage root `{root}` is a bucket, and golden cases read folders alone"
                )
            } else {
                format!("the tenant was not granted a storage root `{root}`")
            };
            let mut missing = self.missing.lock();
            if !missing.contains(&why) && missing.len() < MISSING_MAX {
                missing.push(why);
            }
        }
        came
    }
}

impl Storage for NotingStorage {
    fn get(&self, name: &str, deadline: Instant) -> Result<Vec<u8>, ObjectError> {
        self.note(name, self.inner.get(name, deadline))
    }

    fn locate(&self, name: &str, deadline: Instant) -> Result<Digest, ObjectError> {
        self.note(name, self.inner.locate(name, deadline))
    }

    fn names(&self, folder: &str, deadline: Instant) -> Result<Vec<String>, ObjectError> {
        self.note(folder, self.inner.names(folder, deadline))
    }
}
