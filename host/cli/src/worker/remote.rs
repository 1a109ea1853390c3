//! The verbs of `assay worker` for workers of other machines.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use assay_api::remote_workers::{CreateWorkerToken, RemoteWorker, WorkerToken};

use crate::gpu::beside;
use crate::table::table;

#[derive(clap::Args)]
pub(super) struct TokenOptions {
    /// Pool that the worker serves
    #[arg(long, default_value = "cpu")]
    pool: String,
    /// Seconds in which the token must be used [default: 600]
    #[arg(long, value_name = "SECONDS")]
    ttl: Option<u32>,
    /// Address by which the worker reaches the server, with a standby those of both, separated by commas
    /// [default: the host of --url and the port on which the server listens for workers]
    #[arg(long, value_name = "HOST:PORT")]
    server: Option<String>,
}

impl TokenOptions {
    pub(super) fn call(&self) -> CreateWorkerToken {
        CreateWorkerToken { pool: self.pool.clone(), ttl_seconds: self.ttl }
    }

    /// The command that joins with this token; `host` is where the caller reaches the server.
    pub(super) fn command(&self, token: &WorkerToken, host: &str) -> anyhow::Result<String> {
        let server = match &self.server {
            Some(server) => server.clone(),
            None => {
                let listen: SocketAddr = token.listen.parse().context("the server's address")?;
                if listen.ip().is_unspecified() {
                    format!("{host}:{}", listen.port())
                } else {
                    listen.to_string()
                }
            }
        };
        let WorkerToken { token, pool, ca_pin, .. } = token;
        Ok(format!(
            "assay worker join --server {server} --ca-pin {ca_pin} --pool {pool} --token {token}"
        ))
    }
}

#[derive(clap::Args)]
pub(super) struct JoinOptions {
    /// Address of the server for workers; with a standby those of both, separated by commas
    #[arg(long, value_name = "HOST:PORT")]
    server: OsString,
    /// SHA-256 of the certificate of the server's authority; the worker joins no server with another one
    #[arg(long, value_name = "sha256:HEX")]
    ca_pin: OsString,
    /// Pool that the worker serves; the token must be for it
    #[arg(long, default_value = "cpu")]
    pool: OsString,
    /// Token of `assay worker token`; it works once
    #[arg(long)]
    token: OsString,
    /// Seconds after which the worker finishes its requests and ends; SIGTERM has the same effect at
    /// any time
    #[arg(long, value_name = "SECONDS")]
    leave_after_seconds: Option<u64>,
    /// Folder for compiled plugins and objects [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Worker program [default: assay-worker in the folder of this program]
    #[arg(long, env = "ASSAY_WORKER_PROGRAM")]
    worker_program: Option<PathBuf>,
    /// Options of `assay-worker serve`, such as --gpus 1
    #[arg(last = true)]
    options: Vec<OsString>,
}

impl JoinOptions {
    /// Replaces this process by the worker; returns only an error.
    pub(super) fn become_worker(self) -> anyhow::Error {
        let program = self
            .worker_program
            .map_or_else(|| std::env::current_exe().map(|this| beside(&this, "assay-worker")), Ok);
        let program = match program {
            Ok(program) => program,
            Err(error) => return anyhow::Error::from(error).context("finding this program"),
        };
        let mut command = Command::new(&program);
        command.arg("join").arg("--server").arg(&self.server).arg("--ca-pin").arg(&self.ca_pin);
        command.arg("--pool").arg(&self.pool).arg("--token").arg(&self.token);
        if let Some(seconds) = self.leave_after_seconds {
            command.arg("--leave-after-seconds").arg(seconds.to_string());
        }
        if let Some(cache) = &self.cache {
            command.arg("--cache").arg(cache);
        }
        let error = command.arg("--").args(&self.options).exec();
        anyhow::Error::from(error).context(format!("starting {}", program.display()))
    }
}

pub(super) fn text(workers: &[RemoteWorker]) -> String {
    const HEAD: [&str; 6] = ["ID", "POOL", "MACHINE", "CONNECTED", "JOINED", "CERTIFICATE UNTIL"];
    let row = |worker: &RemoteWorker| {
        [
            worker.id.to_string(),
            worker.pool.clone(),
            worker.machine.clone(),
            if worker.connected { "yes" } else { "no" }.into(),
            worker.joined_at.to_string(),
            worker.expires_at.to_string(),
        ]
    };
    table(HEAD, workers.iter().map(row))
}

#[cfg(test)]
mod tests {
    use assay_core::time::Micros;

    use super::*;

    #[test]
    fn the_command_names_an_address_that_can_be_reached() {
        let token = |listen: &str| WorkerToken {
            token: "assay_join_00".into(),
            pool: "cpu".into(),
            expires_at: Micros(1),
            listen: listen.into(),
            ca_pin: "sha256:00".into(),
        };
        let options = TokenOptions { pool: "cpu".into(), ttl: None, server: None };
        let server = |options: &TokenOptions, listen| {
            let command = options.command(&token(listen), "reward.example").expect("an address");
            command.split(' ').nth(4).expect("the server").to_owned()
        };
        assert_eq!(server(&options, "0.0.0.0:7701"), "reward.example:7701");
        assert_eq!(server(&options, "[::]:7701"), "reward.example:7701");
        assert_eq!(server(&options, "10.0.0.1:7701"), "10.0.0.1:7701");
        let named = TokenOptions { server: Some("lb:1".into()), ..options };
        assert_eq!(server(&named, "0.0.0.0:7701"), "lb:1");
    }
}
