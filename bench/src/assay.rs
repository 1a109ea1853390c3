//! Assay's side: a server of its own for the benchmark, and the programs and plugins it needs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use assay_api::plugin::Plugin;
use assay_client::{Client, Retry};
use serde::Deserialize;

use crate::child::Server;
use crate::load::Endpoint;

/// A first start makes a database.
const READY_SECONDS_MAX: u64 = 60;

pub struct Start<'a> {
    pub program: &'a Path,
    /// For the data, the ready file and the log; made for this benchmark.
    pub folder: &'a Path,
    pub workers: usize,
}

pub struct Assay {
    pub client: Client,
    pub endpoint: Endpoint,
    server: Server,
}

#[derive(Deserialize)]
struct Ready {
    url: String,
    key: String,
}

impl Assay {
    pub async fn start(start: &Start<'_>) -> Result<Self> {
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

    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    /// Publishes a component file.
    pub async fn publish(&self, component: &Path) -> Result<Plugin> {
        let bytes = std::fs::read(component)
            .with_context(|| format!("cannot read {}", component.display()))?;
        Ok(self.client.publish(bytes.into()).await?)
    }
}

/// `name@version`.
pub fn pinned(plugin: &Plugin) -> String {
    plugin.version_name().to_string()
}

/// A program of ours: the one given, else the one beside this program.
pub fn program(given: Option<&Path>, name: &str) -> Result<PathBuf> {
    let path = match given {
        Some(path) => path.to_owned(),
        None => std::env::current_exe()?.with_file_name(name),
    };
    ensure!(path.is_file(), "there is no {}; `make release-benches` builds it", path.display());
    Ok(path)
}

/// The folder with the built components: the one given, else `target/wasm32-wasip2/plugin` for
/// `target/release-lto/assay-bench`.
pub fn plugins(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(folder) = given {
        return Ok(folder.to_owned());
    }
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).context("this program lies in no target folder")?;
    Ok(target.join("wasm32-wasip2/plugin"))
}

/// A component by its name: a plugin's, or one of the tests' guests.
pub fn component(folder: &Path, name: &str) -> Result<PathBuf> {
    let places = [format!("{name}.wasm"), format!("examples/{name}.wasm")];
    let found = places.iter().map(|place| folder.join(place)).find(|path| path.is_file());
    found.with_context(|| {
        format!("there is no {name}.wasm in {}; `make plugins guests` builds it", folder.display())
    })
}
