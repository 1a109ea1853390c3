//! The peer's side: the plain Python reward server.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use assay_bench::child::Server;
use assay_bench::load::Endpoint;

const READY_SECONDS_MAX: u64 = 30;

pub(crate) struct Peer {
    pub(crate) endpoint: Endpoint,
    server: Server,
}

impl Peer {
    /// Starts `folder`'s server with the Python of a virtual environment.
    pub(crate) async fn start(python: &Path, folder: &Path, log: &Path) -> Result<Self> {
        ensure!(
            python.is_file(),
            "there is no {}; `scripts/setup.sh bench` makes it",
            python.display()
        );
        // Free a moment ago; uvicorn's workers share a socket only by its number.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let mut command = Command::new(python);
        command
            .args(["-m", "uvicorn", "server:app", "--workers", "2", "--port", &port])
            .args(["--no-access-log", "--log-level", "warning", "--app-dir"])
            .arg(folder)
            .env("PYTHONDONTWRITEBYTECODE", "1");
        let mut server = Server::start("the peer", &mut command, log)?;
        let url = format!("http://127.0.0.1:{port}");
        let healthy = async || {
            let answer = reqwest::get(format!("{url}/health")).await.ok()?;
            answer.status().is_success().then_some(())
        };
        server.wait(Duration::from_secs(READY_SECONDS_MAX), healthy).await?;
        Ok(Self { endpoint: Endpoint::new(&url, "")?, server })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }
}
