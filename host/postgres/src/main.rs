//! `assay-postgres DATA COMMAND [ARGUMENT]...`: runs a command beside the private PostgreSQL of a
//! data folder, with `DATABASE_URL` set and PostgreSQL's own programs first in `PATH`, and exits as
//! the command does.
//!
//! Scripts use it to look into a cluster or to have one for a while. It holds the folder's lock, so
//! it does not run beside an Assay on the same folder.

use std::{
    env,
    os::unix::process::ExitStatusExt,
    process::{ExitCode, ExitStatus},
};

use anyhow::Context;
use assay_postgres::{Cluster, Options};
use tokio::{process::Command, signal::unix::SignalKind};

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let ended = runtime.context("cannot start").and_then(|runtime| runtime.block_on(run()));
    match ended {
        Ok(status) => code(status),
        Err(error) => {
            eprintln!("assay-postgres: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<ExitStatus> {
    let mut arguments = env::args_os().skip(1);
    let usage = "usage: assay-postgres DATA COMMAND [ARGUMENT]...";
    let data = arguments.next().context(usage)?.into();
    let program = arguments.next().context(usage)?;

    // Taken before the server starts: Ctrl-C and kill reach the command or wait for it, so that the
    // server below is always stopped in order.
    let mut interrupt = tokio::signal::unix::signal(SignalKind::interrupt())?;
    let mut terminate = tokio::signal::unix::signal(SignalKind::terminate())?;
    let cluster = Cluster::start(Options { data }).await?;
    let mut path = cluster.programs().as_os_str().to_owned();
    if let Some(rest) = env::var_os("PATH") {
        path.push(":");
        path.push(rest);
    }
    let mut command = Command::new(&program);
    command.args(arguments).env("DATABASE_URL", cluster.url()).env("PATH", path).kill_on_drop(true);
    let ended = match command.spawn() {
        Ok(mut child) => tokio::select! {
            ended = child.wait() => ended,
            // The terminal sends it to the command as well.
            _ = interrupt.recv() => child.wait().await,
            _ = terminate.recv() => child.kill().await.map(|()| ExitStatus::from_raw(15)),
            error = cluster.failed() => return Err(error.into()),
        },
        Err(error) => Err(error),
    };
    cluster.stop().await;
    ended.with_context(|| format!("cannot run {}", program.display()))
}

/// As shells do: 128 and the signal's number for a command that a signal ended.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
