//! A server as its operator starts it, in a data folder of its own.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_client::Client;
use assay_model::api::PromotePlugin;
use tempfile::TempDir;

use crate::{component, program};

const READY_WITHIN: Duration = Duration::from_secs(120);

/// How a test starts its server.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// Such as `cpu=2`.
    pub workers: Vec<String>,
    pub database_url: Option<String>,
    pub arguments: Vec<String>,
    /// Whom it runs as, instead of the user who tests; only root has the choice.
    pub user: Option<u32>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            workers: vec!["cpu=2".into()],
            database_url: None,
            arguments: Vec::new(),
            user: None,
        }
    }
}

/// A running server; ended with the test.
pub struct Host {
    folder: TempDir,
    options: HostOptions,
    child: Child,
    pub url: String,
    pub key: String,
}

impl Host {
    /// Starts a server and waits until it is ready.
    ///
    /// # Panics
    /// When it does not become ready; its log is shown.
    #[must_use]
    pub fn start(options: HostOptions) -> Self {
        // As root PostgreSQL runs as another user, who must get through.
        let folder = tempfile::Builder::new()
            .prefix("assay-test-")
            .permissions(Permissions::from_mode(0o711))
            .tempdir()
            .expect("a temporary folder");
        if let Some(user) = options.user {
            chown(folder.path(), Some(user), Some(user)).expect("root may give it away");
        }
        let child = spawn(folder.path(), &options);
        let mut host = Self { folder, options, child, url: String::new(), key: String::new() };
        host.wait_ready();
        host
    }

    /// Starts it again in its data folder, after it was killed or stopped.
    pub fn restart(&mut self) {
        self.child = spawn(self.folder.path(), &self.options);
        self.wait_ready();
    }

    /// The same, with other arguments.
    pub fn restart_with(&mut self, arguments: &[&str]) {
        self.options.arguments = arguments.iter().map(|&argument| argument.to_owned()).collect();
        self.restart();
    }

    fn wait_ready(&mut self) {
        let ready = self.folder.path().join("ready.json");
        let started = Instant::now();
        let text = loop {
            if let Ok(text) = std::fs::read_to_string(&ready) {
                break text;
            }
            let ended = self.child.try_wait().expect("the server is our child");
            assert!(ended.is_none(), "the server ended with {ended:?}:\n{}", self.log());
            assert!(started.elapsed() < READY_WITHIN, "the server is not ready:\n{}", self.log());
            std::thread::yield_now();
            // Bounded polling of a file that another process writes.
            std::thread::park_timeout(Duration::from_millis(10));
        };
        let ready: serde_json::Value = serde_json::from_str(&text).expect("the ready file is JSON");
        let field = |name: &str| ready[name].as_str().expect("a text").to_owned();
        self.url = field("url");
        self.key = field("key");
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// A client with the first key, which may do everything.
    ///
    /// # Panics
    /// Never with a server of ours.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(&self.url, &self.key).expect("the server's own address and key")
    }

    /// Publishes a component and points `prod` to it; returns `name@prod`.
    ///
    /// # Panics
    /// When the server refuses it.
    pub async fn publish(&self, name: &str) -> String {
        let client = self.client();
        let plugin = client.publish(component(name).into()).await.expect("publishes");
        let version = PromotePlugin { version: plugin.version };
        let plugin = client.promote(&plugin.name, "prod", &version).await.expect("promotes");
        format!("{}@prod", plugin.name)
    }

    /// `kill -9`, and waits until it is gone.
    pub fn kill(&mut self) {
        self.child.kill().expect("kills");
        self.child.wait().expect("is gone");
    }

    /// Asks it to end and waits; returns whether it ended well.
    pub fn stop(&mut self) -> bool {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
        assert!(sent.success(), "the server was gone before");
        self.child.wait().expect("is our child").success()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- the server's log\n{}", self.log());
        }
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.stop();
        }
    }
}

fn spawn(folder: &Path, options: &HostOptions) -> Child {
    let ready = folder.join("ready.json");
    // Gone already unless this is a restart.
    let _ = std::fs::remove_file(&ready);
    let log = File::options().create(true).append(true).open(folder.join("log")).expect("a log");
    let mut command = Command::new(program("assay"));
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--environment", "test", "--data"])
        .arg(folder.join("data"))
        .arg("--ready-file")
        .arg(ready)
        .args(options.workers.iter().flat_map(|workers| ["--workers", workers]))
        .args(&options.arguments)
        .env_remove("DATABASE_URL")
        .env_remove("ASSAY_DATA")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("a second handle"))
        .stderr(log);
    if let Some(url) = &options.database_url {
        command.env("DATABASE_URL", url);
    }
    if let Some(user) = options.user {
        command.uid(user).gid(user);
    }
    command.spawn().expect("the server starts")
}
