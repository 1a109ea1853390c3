//! The operator's settings of jobs, and the script that a job runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use assay_core::id::TicketId;

use super::answers::{job_name, prefix};
use crate::launcher::Start;

/// The operator's settings of workers that are jobs of Slurm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlurmFile {
    /// The address at which nodes reach the server, if not the one on which it listens for workers.
    pub server: Option<String>,
    /// The worker program's path on the nodes, if it is another one than the server's.
    pub program: Option<PathBuf>,
    pub logs: Option<PathBuf>,
    pub pools: BTreeMap<Arc<str>, SlurmPool>,
}

/// The settings of all pools whose workers are jobs of Slurm.
#[derive(Debug, Clone)]
pub struct SlurmSettings {
    /// The address at which nodes reach the server, `HOST:PORT`.
    pub server: String,
    /// The digest of the server's authority, `sha256:HEX`.
    pub ca_pin: String,
    /// A short text that tells this server's jobs from those of other servers.
    pub cluster: String,
    /// The worker program's path on the nodes.
    pub program: PathBuf,
    /// A folder for what workers print, which the nodes and the server share; nothing is kept without one.
    pub logs: Option<PathBuf>,
    pub pools: BTreeMap<Arc<str>, SlurmPool>,
}

/// The settings of one pool's jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlurmPool {
    /// The walltime of a job, in minutes.
    pub minutes: u32,
    /// The time before the end of a job from which its worker takes nothing new, in seconds.
    pub drain_seconds: u32,
    /// The time from the start of a job in which its worker must join, in seconds; prologs count.
    pub start_seconds: u32,
    /// Options of `sbatch`, such as `--partition=gpu`.
    pub sbatch: Vec<String>,
    /// Options of `assay-worker serve`, such as `--gpus`, `1`.
    pub worker: Vec<String>,
}

impl SlurmSettings {
    /// The options of `sbatch` for a worker; `None` if its pool has no settings. The operator's come first: of two equal
    /// options the last one counts.
    pub(super) fn sbatch_options(&self, start: &Start) -> Option<Vec<String>> {
        let pool = self.pools.get(&start.pool)?;
        let name = job_name(&self.cluster, &start.pool, start.ticket.id);
        let log =
            self.log(start.ticket.id).map_or("/dev/null".into(), |log| log.display().to_string());
        let mut options = pool.sbatch.clone();
        options.extend([
            format!("--job-name={name}"),
            format!("--time={}", pool.minutes),
            format!("--output={log}"),
            "--chdir=/".into(),
            // Nothing of the server's environment: it may hold secrets.
            "--export=ASSAY_LAUNCHER=slurm".into(),
            // A worker is asked for again by the scheduler, with a ticket of its own.
            "--no-requeue".into(),
            "--parsable".into(),
        ]);
        Some(options)
    }

    /// The file to which a worker's job prints.
    pub(super) fn log(&self, ticket: TicketId) -> Option<PathBuf> {
        Some(self.logs.as_ref()?.join(format!("{}{ticket}.log", prefix(&self.cluster))))
    }

    /// The script of a worker's job. The ticket is in it and not among the arguments, which every user of the node can
    /// read; it is good for one worker.
    pub(super) fn script(&self, start: &Start) -> Option<String> {
        let pool = self.pools.get(&start.pool)?;
        let leave_after = u64::from(pool.minutes) * 60 - u64::from(pool.drain_seconds);
        let arguments = [
            "join".into(),
            "--server".into(),
            self.server.clone(),
            "--ca-pin".into(),
            self.ca_pin.clone(),
            "--pool".into(),
            start.pool.to_string(),
            "--leave-after-seconds".into(),
            leave_after.to_string(),
            "--".into(),
        ];
        let words = arguments.iter().chain(&pool.worker).map(|word| format!(" {}", quoted(word)));
        Some(format!(
            "#!/bin/sh\nASSAY_WORKER_TICKET={}\nexport ASSAY_WORKER_TICKET\nexec {}{}\n",
            quoted(&start.ticket.text()),
            quoted(&self.program.display().to_string()),
            words.collect::<String>()
        ))
    }
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ticket::Ticket;

    fn settings() -> (SlurmSettings, Start) {
        let pool = SlurmPool {
            minutes: 60,
            drain_seconds: 600,
            start_seconds: 30,
            sbatch: vec!["--partition=gpu".into(), "--time=1".into()],
            worker: vec!["--gpus".into(), "it's 1".into()],
        };
        let settings = SlurmSettings {
            server: "head:7701".into(),
            ca_pin: "sha256:ab".into(),
            cluster: "abcdef01".into(),
            program: "/opt/my assay/assay-worker".into(),
            logs: None,
            pools: [("gpu".into(), pool)].into(),
        };
        (settings, Start { ticket: Ticket::generate(), pool: "gpu".into() })
    }

    #[test]
    fn a_script_quotes_its_words_and_leaves_before_the_end() {
        let (settings, start) = settings();
        let ticket = start.ticket.text();
        assert_eq!(
            settings.script(&start).expect("the pool has settings"),
            format!(
                "#!/bin/sh\nASSAY_WORKER_TICKET='{ticket}'\nexport ASSAY_WORKER_TICKET\n\
                 exec '/opt/my assay/assay-worker' 'join' '--server' 'head:7701' '--ca-pin' 'sha256:ab' \
                 '--pool' 'gpu' '--leave-after-seconds' '3000' '--' '--gpus' 'it'\\''s 1'\n"
            )
        );
    }

    #[test]
    fn the_operators_options_come_first_and_none_has_the_secret() {
        let (settings, start) = settings();
        let options = settings.sbatch_options(&start).expect("the pool has settings");
        assert_eq!(options[..2], ["--partition=gpu", "--time=1"]);
        let at = |option: &str| options.iter().position(|it| it == option);
        assert!(at("--time=60") > at("--time=1") && at("--no-requeue").is_some(), "{options:?}");
        let secret = start.ticket.text();
        let secret = secret.split('.').nth(1).expect("id and secret");
        assert!(options.iter().all(|option| !option.contains(secret)));
        assert!(options.contains(&"--output=/dev/null".into()));
        let other = Start { pool: "cpu".into(), ..start };
        assert_eq!((settings.sbatch_options(&other), settings.script(&other)), (None, None));
    }
}
