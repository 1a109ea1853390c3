//! A server as its operator starts it, in a data folder of its own.

use std::fs::{File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use assay_api::plugin::PromotePlugin;
use assay_client::Client;
use tempfile::TempDir;

use crate::database::Database;
use crate::{Psql, component, program};

const READY_WITHIN: Duration = Duration::from_secs(120);

/// How a test starts its server.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// The pools' sizes, such as `cpu=2`.
    pub workers: Vec<String>,
    pub database_url: Option<String>,
    /// True for a private PostgreSQL if there is no `database_url`, as an operator has it, even where the
    /// tests share one.
    pub own_postgres: bool,
    pub arguments: Vec<String>,
    /// Further variables of the environment.
    pub environment: Vec<(String, String)>,
    /// The user id of the server, if it is not that of the tests; only root may choose one.
    pub user: Option<u32>,
}

impl Default for HostOptions {
    fn default() -> Self {
        Self {
            workers: vec!["cpu=2".into()],
            database_url: None,
            own_postgres: false,
            arguments: Vec::new(),
            environment: Vec::new(),
            user: None,
        }
    }
}

impl HostOptions {
    #[must_use]
    pub fn with_own_postgres() -> Self {
        Self { own_postgres: true, ..Self::default() }
    }
}

/// A running server; ended with the test.
pub struct Host {
    folder: TempDir,
    options: HostOptions,
    child: Child,
    /// Deleted after the server's end.
    database: Option<Database>,
    pub url: String,
    pub key: String,
}

impl Host {
    /// Starts a server and waits until it is ready.
    ///
    /// # Panics
    /// When it does not become ready; its log is shown.
    #[must_use]
    pub fn start(mut options: HostOptions) -> Self {
        assay_client::install_tls_provider();
        // Another user does not reach the PostgreSQL that the tests share.
        let owned =
            options.own_postgres || options.database_url.is_some() || options.user.is_some();
        let database = if owned { None } else { Database::create() };
        if let Some(database) = &database {
            options.database_url = Some(database.url().to_owned());
        }
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
        let (url, key) = (String::new(), String::new());
        let mut host = Self { folder, options, child, database, url, key };
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

    /// The server's database, as its owner sees it; not for one that was given with `database_url`.
    #[must_use]
    pub fn psql(&self) -> Psql {
        self.database.as_ref().map_or_else(|| Psql::of_data(&self.data()), Database::psql)
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
    command.envs(options.environment.iter().map(|(name, value)| (name, value)));
    if let Some(user) = options.user {
        command.uid(user).gid(user);
    }
    command.spawn().expect("the server starts")
}
