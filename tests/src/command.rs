//! The command line as its user runs it.

use std::process::Command;

use serde::de::DeserializeOwned;

use crate::{Host, program};

/// The result of a command that ended.
#[derive(Debug)]
pub struct CommandResult {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl CommandResult {
    /// Standard output as JSON.
    ///
    /// # Panics
    /// When it is not, or the command ended with another code than `code`.
    #[must_use]
    pub fn json<T: DeserializeOwned>(&self, code: i32) -> T {
        assert_eq!(self.code, Some(code), "{self:#?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

/// Runs `assay` to its end; with `host`, against its address and with its key.
///
/// # Panics
/// When it cannot be run or writes what is no text.
#[must_use]
pub fn assay(host: Option<&Host>, arguments: &[&str]) -> CommandResult {
    let mut command = Command::new(program("assay"));
    command.args(arguments).env_remove("ASSAY_URL").env_remove("ASSAY_API_KEY");
    if let Some(host) = host {
        command.env("ASSAY_URL", &host.url).env("ASSAY_API_KEY", &host.key);
    }
    let output = command.output().expect("assay runs");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    CommandResult { code: output.status.code(), stdout, stderr }
}
