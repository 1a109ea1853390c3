//! Golden cases of an upload are run in a worker process before its version is published, with the grants of
//! its tenant. The server parses none of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::Context as _;
use assay_api::plugin::{GoldenCase, GoldenCaseState};
use assay_core::golden::{CaseFile, CaseJob, CaseReport, CaseSecret, CaseState};
use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::fair_semaphore::{FairPermit, FairSemaphore};
use assay_storage::Roots;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::compile::Compiled;
use crate::error::RegistryError;
use crate::upload::{AcceptedUpload, Publisher};

const WALL_MAX: Duration = Duration::from_secs(limits::GOLDEN_WALL_SECONDS_MAX);
const WAIT_MAX: Duration = Duration::from_secs(limits::GOLDEN_WAIT_SECONDS_MAX);
/// The time for a process that reported on every case to end by itself.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The bytes of one report as JSON, in which a byte of text has up to six.
const REPORT_BYTES_MAX: usize =
    8 * (3 * limits::GOLDEN_REASON_BYTES_MAX + limits::GOLDEN_NAME_BYTES_MAX);
/// The failed cases that an error names.
const FAILURES_NAMED_MAX: usize = 8;

/// How this server runs golden cases.
#[derive(Debug, Clone, Default)]
pub struct CaseSettings {
    /// Options of the worker program, as for workers.
    pub arguments: Vec<OsString>,
    /// The folder for compiled programs, shared with the workers.
    pub cache: PathBuf,
    pub roots: Roots,
}

/// Runs the golden cases of uploads, those of two tenants at the same time, so that the cases of one tenant do not keep
/// all others from publishing.
pub(crate) struct CaseRunner {
    /// The worker program.
    program: PathBuf,
    /// The server's folder for what lasts as long as a job.
    scratch: PathBuf,
    settings: CaseSettings,
    turns: FairSemaphore,
}

/// The grants of golden cases, beside the toolchains: those of the tenant's requests.
pub struct CaseGrants {
    pub tenant_name: String,
    pub hosts: Vec<String>,
    pub secrets: Vec<CaseSecret>,
}

/// Whether the golden cases of an upload are run.
pub enum CaseMode {
    Run(CaseGrants),
    /// They are kept, and marked as skipped.
    Skip,
}

/// Why a worker process did not report on every case.
#[derive(Debug)]
struct Interrupted {
    /// The number of cases that were reported.
    reported: usize,
    why: Interruption,
}

#[derive(Debug)]
enum Interruption {
    /// The machine is too busy: the worker process ends a case that uses too much time itself.
    Slow,
    /// The process ended or wrote something else.
    Failed(anyhow::Error),
}

/// Too many uploads wait, of this tenant or of all.
#[derive(Debug)]
struct TooManyWait;

impl CaseRunner {
    pub(crate) fn new(program: PathBuf, scratch: PathBuf, settings: CaseSettings) -> Self {
        let turns = FairSemaphore::new(limits::GOLDEN_RUNS_MAX);
        Self { program, scratch, settings, turns }
    }

    /// The cases with a report on each; an error if one of them failed or could not be run.
    pub(crate) async fn run(
        &self,
        publisher: &Publisher<'_>,
        accepted: &AcceptedUpload,
        cases: Vec<CaseFile>,
        grants: CaseGrants,
    ) -> Result<(Vec<CaseFile>, Vec<CaseReport>), RegistryError> {
        let turn = tokio::time::timeout(WAIT_MAX, turn(&self.turns, publisher.tenant)).await;
        let busy = |why: String| Err(RegistryError::CasesUnavailable(why));
        let _turn = match turn {
            Ok(Ok(turn)) => turn,
            Ok(Err(TooManyWait)) => {
                return busy("too many uploads wait to run golden cases".into());
            }
            Err(_) => {
                let seconds = WAIT_MAX.as_secs();
                return busy(format!(
                    "the golden cases of other uploads have been running for {seconds} s"
                ));
            }
        };
        let ours = |error: anyhow::Error| {
            tracing::error!("golden cases cannot be run: {error:#}");
            RegistryError::CasesUnavailable("the server cannot run golden cases now".into())
        };
        let storage = StorageFolder::of(&self.scratch, &self.settings.roots, &grants.tenant_name);
        let storage = storage.map_err(ours)?;
        let files: Vec<String> = cases.iter().map(|case| case.file.clone()).collect();
        let job = CaseJob {
            tenant: publisher.tenant,
            compiled: Compiled::file(&accepted.folder),
            compiled_digest: accepted.compiled_digest,
            description: accepted.description.clone(),
            toolchains: publisher.grants.toolchains.clone(),
            hosts: grants.hosts,
            secrets: grants.secrets,
            storage: storage.folder.path().to_owned(),
            distant_roots: storage.distant,
            time_ms_max: limits::GOLDEN_SECONDS_MAX * 1_000,
            cases,
        };
        let reports = self.run_job(&job, WALL_MAX).await.map_err(ours)?;
        Ok((job.cases, judge(&files, reports)?))
    }

    async fn run_job(
        &self,
        job: &CaseJob,
        timeout: Duration,
    ) -> anyhow::Result<Result<Vec<CaseReport>, Interrupted>> {
        let mut command = Command::new(&self.program);
        command.arg("cases").arg("--cache").arg(&self.settings.cache);
        command.args(&self.settings.arguments);
        run_process(command, job, timeout).await
    }
}

/// Waits until the tenant may run golden cases. Few uploads wait, as each keeps its component and its compiled form on
/// the disk; a few more may where several come at the same moment.
async fn turn(turns: &FairSemaphore, tenant: TenantId) -> Result<FairPermit, TooManyWait> {
    if let Some(turn) = turns.try_acquire(tenant, 1) {
        return Ok(turn);
    }
    let waiting = turns.waiting();
    let theirs = waiting.get(&tenant).copied().unwrap_or(0);
    if waiting.values().sum::<usize>() >= limits::GOLDEN_WAITING_MAX
        || theirs >= limits::GOLDEN_WAITING_TENANT_MAX
    {
        return Err(TooManyWait);
    }
    Ok(turns.acquire(tenant, 1).await)
}

/// The folder with a link to each storage root that golden cases of a tenant may read.
struct StorageFolder {
    folder: TempDir,
    /// The granted roots that are in no folder.
    distant: Vec<String>,
}

impl StorageFolder {
    fn of(scratch: &Path, roots: &Roots, tenant_name: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in(scratch).context("making a folder for storage roots")?;
        let mut distant = Vec::new();
        for root in roots.iter().filter(|root| root.is_granted(tenant_name)) {
            match root.url.strip_prefix("file://") {
                Some(path) => std::os::unix::fs::symlink(path, folder.path().join(&root.name))
                    .with_context(|| format!("linking the storage root `{}`", root.name))?,
                None => distant.push(root.name.clone()),
            }
        }
        Ok(Self { folder, distant })
    }
}

/// Gives the job to a worker process and reads its reports. An error is a failure to start.
async fn run_process(
    mut command: Command,
    job: &CaseJob,
    timeout: Duration,
) -> anyhow::Result<Result<Vec<CaseReport>, Interrupted>> {
    // The job has secrets, which no command line may have.
    let input = serde_json::to_vec(job).context("writing the job")?;
    let mut child = command
        .env_clear()
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("starting the worker program")?;
    let mut stdin = child.stdin.take().expect("it was asked for");
    let mut reports = Vec::new();
    let ran = async {
        // A process that ended early is found out by its reports.
        let _ = stdin.write_all(&input).await;
        drop(stdin);
        read_reports(&mut child, job.cases.len(), &mut reports).await
    };
    let ended = match tokio::time::timeout(timeout, ran).await {
        Err(_) => Err(Interruption::Slow),
        Ok(Err(error)) => Err(Interruption::Failed(error)),
        Ok(Ok(())) => Ok(()),
    };
    if ended.is_ok() {
        let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
    }
    // The boxes of its programs end with it.
    let _ = child.kill().await;
    Ok(match ended {
        Ok(()) => Ok(reports),
        Err(why) => Err(Interrupted { reported: reports.len(), why }),
    })
}

/// Reads one report for each case. The process runs hostile code, so that it is held to limits itself.
async fn read_reports(
    child: &mut Child,
    cases: usize,
    reports: &mut Vec<CaseReport>,
) -> anyhow::Result<()> {
    let mut out = BufReader::new(child.stdout.take().expect("it was asked for"));
    let mut line = Vec::new();
    while reports.len() < cases {
        line.clear();
        let bytes_max = u64::try_from(REPORT_BYTES_MAX).expect("a small number");
        let mut limited = (&mut out).take(bytes_max);
        limited.read_until(b'\n', &mut line).await.context("reading a report")?;
        if line.is_empty() {
            let status = child.wait().await.context("waiting for the process")?;
            anyhow::bail!("the process ended with {status}");
        }
        let report: CaseReport = serde_json::from_slice(&line).context("reading a report")?;
        reports.push(report.bounded());
    }
    Ok(())
}

/// The reports if no case failed. A failure of the machine comes first: it says nothing about the plugin.
fn judge(
    files: &[String],
    reports: Result<Vec<CaseReport>, Interrupted>,
) -> Result<Vec<CaseReport>, RegistryError> {
    let reports = match reports {
        Ok(reports) => reports,
        Err(Interrupted { reported, why }) => {
            let file = files.get(reported).map_or("", String::as_str);
            return Err(match why {
                Interruption::Slow => RegistryError::CasesUnavailable(format!(
                    "the machine is too busy: after {} s the golden case `{file}` had not ended",
                    limits::GOLDEN_WALL_SECONDS_MAX
                )),
                Interruption::Failed(error) => {
                    tracing::error!("golden cases were interrupted in `{file}`: {error:#}");
                    RegistryError::CasesUnavailable(format!(
                        "the process that runs golden cases failed in `{file}`"
                    ))
                }
            });
        }
    };
    let of = |state| {
        let both = files.iter().zip(&reports);
        both.filter(move |(_, report)| report.state == state)
    };
    if let Some((file, report)) = of(CaseState::Broken).next() {
        let reason = &report.reason;
        return Err(RegistryError::CasesUnavailable(format!(
            "the golden case `{file}` could not be run: {reason}"
        )));
    }
    if let Some((file, _)) = of(CaseState::TooSlow).next() {
        let seconds = limits::GOLDEN_SECONDS_MAX;
        return Err(RegistryError::Refused(format!(
            "the golden cases need more than {seconds} s in all, and `{file}` did not end; publish \
             fewer or faster ones"
        )));
    }
    let failures: Vec<String> = of(CaseState::Failed).map(failure).collect();
    if failures.is_empty() {
        return Ok(reports);
    }
    let named = failures.iter().take(FAILURES_NAMED_MAX).cloned().collect::<Vec<_>>().join("; ");
    let more = failures.len().saturating_sub(FAILURES_NAMED_MAX);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    let (failed, all) = (failures.len(), reports.len());
    Err(RegistryError::CaseFailed(format!("{failed} of {all} golden cases failed: {named}{rest}")))
}

fn failure((file, report): (&String, &CaseReport)) -> String {
    let CaseReport { name, expected, actual, reason, .. } = report;
    if actual.is_empty() {
        return format!("`{file}`: {reason}");
    }
    if expected.is_empty() {
        return format!("`{name}` in `{file}` expects nothing, and got {actual}");
    }
    format!("`{name}` in `{file}` expected {expected}, and got {actual}")
}

pub(crate) fn golden_case(
    file: String,
    digest: assay_core::id::Digest,
    report: Option<CaseReport>,
) -> GoldenCase {
    let Some(report) = report else {
        return GoldenCase {
            file,
            digest,
            state: GoldenCaseState::Skipped,
            name: String::new(),
            expected: String::new(),
            actual: String::new(),
            reason: String::new(),
            ran_ms: 0.0,
        };
    };
    let state = match report.state {
        CaseState::Passed => GoldenCaseState::Passed,
        // The others leave no version.
        CaseState::NotRun | CaseState::Failed | CaseState::Broken | CaseState::TooSlow => {
            GoldenCaseState::NotRun
        }
    };
    let CaseReport { name, expected, actual, reason, ran_ms, .. } = report;
    GoldenCase { file, digest, state, name, expected, actual, reason, ran_ms }
}

#[cfg(test)]
mod tests {
    use assay_core::id::Digest;
    use assay_core::plugin::Description;
    use tokio::task::JoinSet;

    use super::*;

    fn job(cases: usize) -> CaseJob {
        let case = |at: usize| CaseFile { file: format!("{at}.yaml"), text: String::new() };
        CaseJob {
            tenant: "00000000-0000-0000-0000-000000000001".parse().expect("an id"),
            compiled: PathBuf::new(),
            compiled_digest: Digest([0; 32]),
            description: Description {
                name: "a".into(),
                version: "1".into(),
                summary: String::new(),
                stages: Vec::new(),
                settings_schema: String::new(),
                label_schema: String::new(),
                timeout_reward: 0.0,
                deterministic: true,
            },
            toolchains: None,
            hosts: Vec::new(),
            secrets: Vec::new(),
            storage: PathBuf::new(),
            distant_roots: Vec::new(),
            time_ms_max: 1_000,
            cases: (0..cases).map(case).collect(),
        }
    }

    fn report(state: &str) -> String {
        format!(
            r#"{{"state":"{state}","name":"n","expected":"e","actual":"a","reason":"r","ran_ms":1}}"#
        )
    }

    /// The result of two cases when the worker program is this script.
    async fn script(text: &str, timeout: Duration) -> Result<Vec<CaseReport>, RegistryError> {
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(format!("cat >/dev/null; {text}"));
        let reports = run_process(command, &job(2), timeout).await.expect("a shell starts");
        judge(&["0.yaml".into(), "1.yaml".into()], reports)
    }

    const LONG: Duration = Duration::from_secs(60);

    fn tenant(number: usize) -> TenantId {
        format!("00000000-0000-0000-0000-0000000000{number:02}").parse().expect("an id")
    }

    #[tokio::test]
    async fn a_tenant_has_one_turn_and_all_have_a_bounded_number() {
        let turns = FairSemaphore::new(limits::GOLDEN_RUNS_MAX);
        let first = turn(&turns, tenant(1)).await.expect("all are free");
        assert!(turns.try_acquire(tenant(1), 1).is_none(), "it has one already");
        let second = turn(&turns, tenant(2)).await.expect("one is free");
        assert!(turns.try_acquire(tenant(3), 1).is_none(), "all are taken");
        let third = turn(&turns, tenant(3));
        let ends = async { drop(first) };
        let (third, ()) = tokio::join!(third, ends);
        assert!(third.is_ok());
        drop((second, third));
        assert!(turns.try_acquire(tenant(1), 1).is_some());
    }

    #[tokio::test]
    async fn few_uploads_wait_and_fewer_of_one_tenant() {
        let turns = FairSemaphore::new(limits::GOLDEN_RUNS_MAX);
        let first = turn(&turns, tenant(1)).await.expect("it need not wait");
        let second = turn(&turns, tenant(2)).await.expect("it need not wait");
        let all_waiting = || turns.waiting().values().sum::<usize>();
        let mut waiting = JoinSet::new();
        for number in 0..limits::GOLDEN_WAITING_MAX {
            let is_first_tenants = number < limits::GOLDEN_WAITING_TENANT_MAX;
            let tenant = if is_first_tenants { tenant(1) } else { tenant(10 + number) };
            let shared = turns.clone();
            waiting.spawn(async move { turn(&shared, tenant).await });
            while all_waiting() <= number {
                tokio::task::yield_now().await;
            }
            if number + 1 == limits::GOLDEN_WAITING_TENANT_MAX {
                assert!(turn(&turns, tenant).await.is_err(), "its others wait already");
            }
        }
        assert!(turn(&turns, tenant(3)).await.is_err(), "all places are taken");
        drop(first);
        let next = waiting.join_next().await.expect("they wait").expect("it ends well");
        assert!(next.is_ok());
        assert_eq!(all_waiting(), limits::GOLDEN_WAITING_MAX - 1);
        drop((second, next));
    }

    #[tokio::test]
    async fn every_case_is_reported() {
        let (passed, not_run) = (report("passed"), report("not_run"));
        let reports = script(&format!("echo '{passed}'; echo '{not_run}'"), LONG).await;
        let states: Vec<_> = reports.expect("both").iter().map(|report| report.state).collect();
        assert_eq!(states, [CaseState::Passed, CaseState::NotRun]);
    }

    #[tokio::test]
    async fn a_case_that_fails_is_named() {
        let (passed, failed) = (report("passed"), report("failed"));
        let reports = script(&format!("echo '{failed}'; echo '{passed}'"), LONG).await;
        let Err(RegistryError::CaseFailed(told)) = reports else { panic!("{reports:?}") };
        assert_eq!(told, "1 of 2 golden cases failed: `n` in `0.yaml` expected e, and got a");
    }

    #[tokio::test]
    async fn what_happens_to_the_process_fails_no_case() {
        let (passed, failed, broken) = (report("passed"), report("failed"), report("broken"));
        for (text, words) in [
            (format!("echo '{passed}'; kill -9 $$"), "failed in `1.yaml`"),
            (format!("echo '{passed}'"), "failed in `1.yaml`"),
            ("echo all is well".to_owned(), "failed in `0.yaml`"),
            ("head -c 1000000 /dev/zero".to_owned(), "failed in `0.yaml`"),
            // A failed case beside a broken one may have failed for the same reason.
            (format!("echo '{failed}'; echo '{broken}'"), "`1.yaml` could not be run: r"),
        ] {
            let reports = script(&text, LONG).await;
            let Err(RegistryError::CasesUnavailable(told)) = reports else { panic!("{text}") };
            assert!(told.contains(words), "{text}: {told}");
        }
    }

    #[tokio::test]
    async fn cases_that_use_all_of_their_time_are_refused_unless_the_machine_failed() {
        let (passed, slow, broken) = (report("passed"), report("too_slow"), report("broken"));
        let reports = script(&format!("echo '{passed}'; echo '{slow}'"), LONG).await;
        let Err(RegistryError::Refused(told)) = reports else { panic!("{reports:?}") };
        assert!(told.contains("more than 300 s in all, and `1.yaml` did not end"), "{told}");
        let reports = script(&format!("echo '{broken}'; echo '{slow}'"), LONG).await;
        assert!(matches!(reports, Err(RegistryError::CasesUnavailable(_))), "{reports:?}");
    }

    #[tokio::test]
    async fn a_machine_that_is_too_busy_refuses_nothing() {
        let text = format!("echo '{}'; exec sleep 600", report("passed"));
        let reports = script(&text, Duration::from_secs(2)).await;
        let Err(RegistryError::CasesUnavailable(told)) = reports else { panic!("{reports:?}") };
        assert!(told.contains("`1.yaml` had not ended"), "{told}");
    }
}
