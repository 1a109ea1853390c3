//! A program run as a person runs it: what it prints, when it ends, what it leaves behind.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::process::{poll, signal};

/// Killed when dropped, if it still runs.
pub struct Spawned {
    child: Child,
    prints: TempDir,
}

impl Spawned {
    /// Starts it, in a process group of its own, with what it prints kept in files.
    ///
    /// # Panics
    /// When it cannot be started.
    #[must_use]
    pub fn start(command: &mut Command) -> Self {
        let prints = tempfile::tempdir().expect("a temporary folder");
        let file = |name| File::create(prints.path().join(name)).expect("a file");
        command.env_remove("DATABASE_URL").env_remove("ASSAY_DATA").process_group(0);
        command.stdin(Stdio::null()).stdout(file("stdout")).stderr(file("stderr"));
        Self { child: command.spawn().expect("the program starts"), prints }
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    #[must_use]
    pub fn stdout(&self) -> String {
        self.read("stdout")
    }

    #[must_use]
    pub fn stderr(&self) -> String {
        self.read("stderr")
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.prints.path().join(name)).expect("what was printed is text")
    }

    /// Waits until standard output or error holds this text.
    ///
    /// # Panics
    /// When it does not come or the program ends first; what was printed is shown.
    pub fn wait_for(&mut self, text: &str, within: Duration) {
        poll(within, &format!("`{text}` is printed; {}", self.prints.path().display()), || {
            // Asked first: what it printed before its end is there then.
            let ended = self.child.try_wait().expect("it is our child");
            if self.stdout().contains(text) || self.stderr().contains(text) {
                return Some(());
            }
            assert!(ended.is_none(), "ended with {ended:?}:\n{}{}", self.stdout(), self.stderr());
            None
        });
    }

    pub fn signal(&self, name: &str) {
        signal(self.pid(), name);
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// When it does not.
    pub fn wait(&mut self, within: Duration) -> ExitStatus {
        poll(within, "the program ends", || self.child.try_wait().expect("it is our child"))
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- printed\n{}{}", self.stdout(), self.stderr());
        }
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            // A server takes its PostgreSQL along only when it is asked to.
            self.signal("TERM");
            poll(Duration::from_secs(30), "the program ends", || self.child.try_wait().ok()?);
        }
    }
}
