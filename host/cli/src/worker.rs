//! `assay worker`.

mod remote;

use std::process::ExitCode;

use assay_api::operations::{Worker, WorkerState};
use assay_core::id::{TicketId, WorkerId};
use clap::Subcommand;

use super::table::table;
use super::{ClientOptions, Format, print_json};

#[derive(clap::Args)]
pub(super) struct WorkersCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: Option<WorkersVerb>,
}

#[derive(Subcommand)]
enum WorkersVerb {
    /// List the workers and what they run; the default
    Ls {
        /// List the workers of other machines that may connect, with their certificates
        #[arg(long)]
        remote: bool,
    },
    /// Let a worker finish its leased requests, then stop it
    Drain {
        /// Id of the worker, as `assay worker ls` shows it
        #[arg(value_name = "ID")]
        worker: u64,
    },
    /// Print the command with which one worker of another machine joins
    Token(remote::TokenOptions),
    /// End a worker of another machine and refuse it from now on
    Remove {
        /// Id of the worker, as `assay worker ls --remote` shows it
        #[arg(value_name = "ID")]
        worker: TicketId,
    },
    /// Run a worker here for a server on another machine; `assay worker token` prints the whole command
    Join(remote::JoinOptions),
}

pub(super) async fn run(options: WorkersCommand) -> anyhow::Result<ExitCode> {
    let ClientOptions { connection, format } = options.client;
    match options.verb.unwrap_or(WorkersVerb::Ls { remote: false }) {
        WorkersVerb::Ls { remote: true } => {
            let workers = connection.client()?.remote_workers().await?;
            format.print(&workers, |workers| remote::text(&workers.items))?;
        }
        WorkersVerb::Ls { remote: false } => {
            let workers = connection.client()?.workers().await?;
            format.print(&workers, |workers| text(&workers.items))?;
        }
        WorkersVerb::Drain { worker } => {
            let worker = connection.client()?.drain_worker(WorkerId(worker)).await?;
            format.print(&worker, |worker| text(std::slice::from_ref(worker)))?;
        }
        WorkersVerb::Token(token) => {
            let client = connection.client()?;
            let made = client.create_worker_token(&token.call()).await?;
            match format {
                Format::Json => print_json(&made)?,
                Format::Text => println!("{}", token.command(&made, client.host())?),
            }
        }
        WorkersVerb::Remove { worker } => {
            connection.client()?.remove_remote_worker(worker).await?;
        }
        WorkersVerb::Join(join) => return Err(join.become_worker()),
    }
    Ok(ExitCode::SUCCESS)
}

fn text(workers: &[Worker]) -> String {
    const HEAD: [&str; 8] = ["ID", "POOL", "STATE", "PID", "IN HAND", "DONE", "MEMORY", "RUNS"];
    table(HEAD, workers.iter().map(row))
}

fn row(worker: &Worker) -> [String; 8] {
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".into());
    let state = match worker.state {
        WorkerState::Starting => "starting",
        WorkerState::Idle => "idle",
        WorkerState::Busy => "busy",
        WorkerState::Draining => "draining",
    };
    let runs = worker.running.as_ref();
    [
        or_dash(worker.id.map(|id| id.to_string())),
        worker.pool.clone(),
        state.into(),
        or_dash(worker.pid.map(|pid| pid.to_string())),
        worker.in_hand.to_string(),
        worker.stages_done.to_string(),
        or_dash(worker.memory_bytes.map(|bytes| format!("{} MiB", bytes >> 20))),
        or_dash(runs.map(|runs| format!("{} of {}, {}", runs.stage, runs.plugin, runs.request))),
    ]
}

#[cfg(test)]
mod tests {
    use assay_core::id::TicketId;

    use super::*;

    #[test]
    fn a_table_reads_well() {
        let idle = Worker {
            id: Some(7),
            pool: "cpu".into(),
            state: WorkerState::Idle,
            ticket: TicketId::generate(),
            launcher: "process".into(),
            architecture: Some("x86_64".into()),
            pid: Some(4_321),
            asked_at: None,
            joined_at: None,
            heard_at: None,
            in_hand: 0,
            running: None,
            stages_done: 12,
            memory_bytes: Some(90 << 20),
        };
        let starting = Worker {
            id: None,
            state: WorkerState::Starting,
            pid: None,
            stages_done: 0,
            memory_bytes: None,
            ..idle.clone()
        };
        let expected = "\
ID  POOL  STATE     PID   IN HAND  DONE  MEMORY  RUNS
-   cpu   starting  -     0        0     -       -
7   cpu   idle      4321  0        12    90 MiB  -
";
        assert_eq!(text(&[starting, idle]), expected);
    }
}
