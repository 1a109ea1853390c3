//! `assay login` and `assay logout`: an address and a key that later calls use by default. They are
//! saved in a file that only its owner can read; the key is sent only to that address.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use assay_client::Client;
use nix::libc::{SIGINT, SIGTERM};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};

use super::Connection;

/// The saved address and key.
#[derive(Serialize, Deserialize)]
pub(super) struct Credentials {
    pub url: String,
    pub key: String,
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  assay login --url https://assay.example.com      asks for the key\n  assay login --url https://assay.example.com < key-file"
)]
pub(super) struct LoginCommand {
    #[command(flatten)]
    connection: Connection,
}

/// Saves the address and the key after the server has accepted the key.
pub(super) async fn log_in(options: LoginCommand) -> anyhow::Result<ExitCode> {
    let key = match options.connection.key() {
        Some(key) => key.to_owned(),
        None => ask()?,
    };
    let url = options.connection.url();
    let session = Client::new(url, &key)?.session().await.context("checking the key")?;
    let file = file().context("cannot save the key: neither XDG_CONFIG_HOME nor HOME is set")?;
    write(&file, &Credentials { url: url.to_owned(), key })?;
    println!("logged in to {url} as tenant {}; saved in {}", session.tenant, file.display());
    Ok(ExitCode::SUCCESS)
}

/// Deletes the saved address and key.
pub(super) fn log_out() -> anyhow::Result<ExitCode> {
    let forgotten = file().map(std::fs::remove_file);
    match forgotten {
        Some(Ok(())) => println!("the saved key is deleted; `assay key revoke` revokes it"),
        Some(Err(error)) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error.into());
        }
        Some(Err(_)) | None => println!("no key was saved"),
    }
    Ok(ExitCode::SUCCESS)
}

/// The saved address and key, if the file can be read.
pub(super) fn kept() -> Option<Credentials> {
    let text = std::fs::read_to_string(file()?).ok()?;
    serde_json::from_str(&text).ok()
}

fn file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(config.join("assay/credentials.json"))
}

/// Reads the key from standard input; a terminal does not show it. Must be called on a runtime with several threads.
fn ask() -> anyhow::Result<String> {
    let input = std::io::stdin();
    let terminal = input.is_terminal().then(|| tcgetattr(&input).ok()).flatten();
    if let Some(before) = &terminal {
        restore_at_signals(before.clone()).context("listening for signals")?;
        eprint!("API key: ");
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&input, SetArg::TCSANOW, &silent).context("hiding the typed key")?;
    }
    let mut key = String::new();
    let read = input.lock().read_line(&mut key);
    if let Some(before) = &terminal {
        tcsetattr(&input, SetArg::TCSANOW, before).context("showing typed text again")?;
        eprintln!();
    }
    read.context("reading the key")?;
    let key = key.trim().to_owned();
    ensure!(!key.is_empty(), "no API key: type it, or give it on standard input or with --key");
    Ok(key)
}

/// Ends the process at Ctrl-C and SIGTERM from now on, after the terminal shows typed text again: it outlives the process.
fn restore_at_signals(terminal: Termios) -> std::io::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        let signal = tokio::select! {
            _ = interrupt.recv() => SIGINT,
            _ = terminate.recv() => SIGTERM,
        };
        // Where that fails, nothing else can be done.
        let _ = tcsetattr(std::io::stdin(), SetArg::TCSANOW, &terminal);
        eprintln!();
        std::process::exit(128 + signal);
    });
    Ok(())
}

/// The file is never readable to others, and never half written.
fn write(file: &Path, credentials: &Credentials) -> anyhow::Result<()> {
    let folder = file.parent().expect("a file lies in a folder");
    let shown = file.display();
    let writing = || -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let mut options = OpenOptions::new();
        let mut made = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
        made.write_all(serde_json::to_string(credentials)?.as_bytes())?;
        std::fs::rename(&temporary, file)
    };
    writing().with_context(|| format!("writing {shown}"))
}
