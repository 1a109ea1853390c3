//! `assay doctor`: checks whether this machine has what Assay needs; changes nothing.

mod author;
mod machine;
mod worker;

use std::path::PathBuf;
use std::process::ExitCode;

use assay_client::Client;
use assay_kubernetes::PodJoin;
use assay_storage::StorageFile;
use serde::Serialize;

use super::Format;
use super::kubernetes::KubernetesOptions;
use super::slurm::SlurmOptions;
use super::workers::{StorageOptions, WorkerOptions};

#[derive(clap::Args)]
pub(super) struct DoctorCommand {
    /// Data folder, as for `serve`
    #[arg(long)]
    data: Option<PathBuf>,
    /// URL of a PostgreSQL 14 or newer [default: a private cluster in the data folder]
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    #[command(flatten)]
    workers: WorkerOptions,
    #[command(flatten)]
    slurm: SlurmOptions,
    #[command(flatten)]
    kubernetes: KubernetesOptions,
    #[command(flatten)]
    storage: StorageOptions,
    /// Address of a running server to check as well
    #[arg(long, env = "ASSAY_URL")]
    url: Option<String>,
    /// Output format
    #[arg(short = 'o', long = "format", value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Ok,
    /// Assay works with restrictions.
    Warn,
    /// Assay does not work.
    Fail,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Finding {
    check: String,
    state: State,
    found: String,
    /// Advice for the operator.
    #[serde(rename = "do", skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Finding {
    fn new(check: &str, state: State, found: impl Into<String>) -> Self {
        Self { check: check.into(), state, found: found.into(), advice: None }
    }

    fn ok(check: &str, found: impl Into<String>) -> Self {
        Self::new(check, State::Ok, found)
    }

    fn warn(check: &str, found: impl Into<String>) -> Self {
        Self::new(check, State::Warn, found)
    }

    fn fail(check: &str, found: impl Into<String>) -> Self {
        Self::new(check, State::Fail, found)
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

/// The JSON output.
#[derive(Debug, Serialize)]
struct Report {
    ok: bool,
    findings: Vec<Finding>,
}

pub(super) async fn run(options: DoctorCommand) -> anyhow::Result<ExitCode> {
    let mut findings = vec![machine::hardware()];
    match machine::data_folder(options.data) {
        Ok((data, finding)) => {
            findings.push(finding);
            findings.push(machine::postgres(&data, options.database_url.as_deref()).await);
            findings.extend(worker::look(&options.workers, &data).await);
        }
        Err(finding) => findings.push(finding),
    }
    findings.extend(storage(&options.storage).await);
    findings.extend(slurm(&options.slurm).await);
    findings.extend(kubernetes(&options.kubernetes).await);
    findings.extend(author::look().await);
    if let Some(url) = options.url.filter(|url| !url.is_empty()) {
        findings.push(server(&url).await);
    }
    let ok = findings.iter().all(|finding| finding.state != State::Fail);
    options.format.print(&Report { ok, findings }, |report| text(&report.findings))?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn storage(options: &StorageOptions) -> Vec<Finding> {
    let StorageFile { roots, objects } = match options.read() {
        Ok(file) => file,
        Err(error) => return vec![Finding::fail("storage", format!("{error:#}"))],
    };
    let looks = roots.iter().map(async |root| {
        let check = format!("storage {}", root.name);
        match root.check().await {
            Ok(found) => Finding::ok(&check, format!("{} has {found}", root.url)),
            Err(why) => Finding::fail(&check, format!("{} cannot be read: {why}", root.url))
                .advise(
                    "correct `url` and `options` in the storage file, or create what they name",
                ),
        }
    });
    let mut findings = futures_util::future::join_all(looks).await;
    if let Some(objects) = objects {
        let place = objects.place();
        findings.push(match objects.try_out().await {
            Ok(()) => Finding::ok("objects", format!("one was kept in {place}, read and deleted")),
            Err(error) => Finding::fail("objects", format!("{place}: {error}"))
                .advise("correct `[objects]` in the storage file, or what the store permits"),
        });
    }
    findings
}

/// Whether Slurm's controller answers, where workers are to be its jobs.
async fn slurm(options: &SlurmOptions) -> Option<Finding> {
    let pools = match options.read() {
        Ok(file) => file?.pools.len(),
        Err(error) => return Some(Finding::fail("slurm", format!("{error:#}"))),
    };
    Some(match assay_fleet::ask_slurm().await {
        Ok(version) => Finding::ok("slurm", format!("{version} answers; {pools} pools run there")),
        Err(why) => Finding::fail("slurm", why).advise(
            "install Slurm's commands here (slurm-client) with the cluster's slurm.conf, and run munge",
        ),
    })
}

/// Whether Kubernetes shows its Pods, where workers are to be some of them.
async fn kubernetes(options: &KubernetesOptions) -> Option<Finding> {
    let file = match options.read() {
        Ok(file) => file?,
        Err(error) => return Some(Finding::fail("kubernetes", format!("{error:#}"))),
    };
    let asked = async {
        let connection = assay_kubernetes::connect(file.namespace.as_deref()).await?;
        connection.check(&file).await?;
        anyhow::Ok(connection)
    };
    Some(match asked.await {
        Ok(connection) => {
            let (namespace, pools) = (connection.namespace(), file.pools.len());
            let tokens = match file.join {
                PodJoin::Token => " and their tokens checked",
                PodJoin::Ticket => "",
            };
            let found =
                format!("the Pods of {namespace} can be listed{tokens}; {pools} pools run there");
            Finding::ok("kubernetes", found)
        }
        Err(error) => Finding::fail("kubernetes", format!("{error:#}")).advise(
            "give the server's service account the rights of deploy/kubernetes/overlays/pods, or name a file by KUBECONFIG",
        ),
    })
}

async fn server(url: &str) -> Finding {
    let ready = match Client::new(url, "") {
        Ok(client) => client.ready().await,
        Err(error) => Err(error),
    };
    match ready {
        Ok(workers) => Finding::ok("server", format!("{url} is ready, with {workers} workers")),
        Err(error) => Finding::fail("server", error.to_string())
            .advise("start it with `assay serve`, or correct --url (or ASSAY_URL)"),
    }
}

/// One line for each finding, and the advice below it.
fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.check.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Finding { check, state, found, advice } in findings {
        let mark = match state {
            State::Ok => "ok",
            State::Warn => "warn",
            State::Fail => "FAIL",
        };
        text.push_str(&format!("{mark:4}  {check:width$}  {found}\n"));
        if let Some(advice) = advice {
            text.push_str(&format!("{:4}  {:width$}  -> {advice}\n", "", ""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_read_well() {
        let findings = [
            Finding::ok("PostgreSQL", "version 15 in /usr/lib/postgresql/15/bin"),
            Finding::warn("sandbox", "refused: no cgroups").advise("mount them"),
            Finding::fail("storage judge", "gone"),
        ];
        let expected = "\
ok    PostgreSQL     version 15 in /usr/lib/postgresql/15/bin
warn  sandbox        refused: no cgroups
                     -> mount them
FAIL  storage judge  gone
";
        assert_eq!(text(&findings), expected);
        let json = serde_json::to_value(&findings[1]).expect("plain data");
        let expected = serde_json::json!({
            "check": "sandbox", "state": "warn", "found": "refused: no cgroups", "do": "mount them"
        });
        assert_eq!(json, expected);
    }
}
