//! Assay's side: a server of its own for the benchmark, and the plugins it needs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use assay_client::{Client, Retry};
use assay_model::api::Plugin;
use serde::Deserialize;

use crate::child::Server;
use crate::load::Endpoint;

/// A first start makes a database.
const READY_SECONDS_MAX: u64 = 60;

pub(crate) struct Start<'a> {
    pub(crate) program: &'a Path,
    /// For the data, the ready file and the log; made for this benchmark.
    pub(crate) folder: &'a Path,
    pub(crate) workers: usize,
}

pub(crate) struct Assay {
    pub(crate) client: Client,
    pub(crate) endpoint: Endpoint,
    server: Server,
}

#[derive(Deserialize)]
struct Ready {
    url: String,
    key: String,
}

impl Assay {
    pub(crate) async fn start(start: &Start<'_>) -> Result<Self> {
        std::fs::create_dir_all(start.folder)?;
        let ready_file = start.folder.join("ready.json");
        let mut command = Command::new(start.program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(start.folder.join("data"))
            .args(["--workers", &format!("cpu={}", start.workers), "--ready-file"])
            .arg(&ready_file)
            .env_remove("DATABASE_URL");
        let log = start.folder.join("server.log");
        let mut server = Server::start("the Assay server", &mut command, &log)?;
        let read = async || {
            let text = std::fs::read(&ready_file).ok()?;
            serde_json::from_slice::<Ready>(&text).ok()
        };
        let ready = server.wait(Duration::from_secs(READY_SECONDS_MAX), read).await?;
        let client = Client::new(&ready.url, &ready.key)?.with_retry(Retry::SHORT);
        let endpoint = Endpoint::new(&ready.url, &ready.key)?;
        Ok(Self { client, endpoint, server })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Publishes a component file.
    pub(crate) async fn publish(&self, component: &Path) -> Result<Plugin> {
        let bytes = std::fs::read(component)
            .with_context(|| format!("cannot read {}", component.display()))?;
        Ok(self.client.publish(bytes.into()).await?)
    }
}

/// `name@version`.
pub(crate) fn pinned(plugin: &Plugin) -> String {
    format!("{}@{}", plugin.name, plugin.version)
}

/// A component by its name: a plugin's, or one of the tests' guests.
pub(crate) fn component(folder: &Path, name: &str) -> Result<PathBuf> {
    let places = [format!("{name}.wasm"), format!("examples/{name}.wasm")];
    let found = places.iter().map(|place| folder.join(place)).find(|path| path.is_file());
    found.with_context(|| {
        format!("there is no {name}.wasm in {}; `make plugins guests` builds it", folder.display())
    })
}
