//! Makes a new cluster. An interrupted attempt leaves nothing that looks like a cluster: it is made
//! beside its place and moved there when complete and on disk.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
    process::Stdio,
};

use crate::{
    error::{Error, FileContext},
    folder::Layout,
    owner::Owner,
    programs::ServerPrograms,
    settings,
};

/// Makes the cluster and its database.
pub(crate) async fn initialize(
    layout: &Layout,
    programs: &ServerPrograms,
    owner: &Owner,
) -> Result<(), Error> {
    let fresh = layout.home.join("cluster.new");
    if fresh.exists() {
        fs::remove_dir_all(&fresh).doing("remove", &fresh)?;
    }
    let mut initdb = owner.command(&programs.path("initdb"), &layout.home);
    initdb.arg("--pgdata").arg(&fresh).arg(format!("--username={}", settings::NAME));
    // The socket's folder is closed to everyone but the owner and root: that is the authentication.
    initdb.args(["--auth-local=trust", "--auth-host=reject"]);
    initdb.args(["--encoding=UTF8", "--locale=C", "--no-instructions"]);
    run(initdb, None, &programs.path("initdb")).await?;

    let mut single = owner.command(&programs.path("postgres"), &layout.home);
    single.args(["--single", "-j", "-D"]).arg(&fresh).arg("postgres");
    let statement = format!("create database {}", settings::NAME);
    run(single, Some(&statement), &programs.path("postgres")).await?;

    // After initdb's own settings, which suit the machine: ours come last and win. They need not exist
    // for the server to be asked what it was built with.
    let settings = fresh.join("postgresql.conf");
    let mut file = OpenOptions::new().append(true).open(&settings).doing("open", &settings)?;
    writeln!(file, "\ninclude_if_exists '{}'", settings::FILE).doing("write", &settings)?;
    file.sync_all().doing("write to disk", &settings)?;

    fs::rename(&fresh, &layout.cluster).doing("move into place", &fresh)?;
    let home = File::open(&layout.home).doing("open", &layout.home)?;
    home.sync_all().doing("write to disk", &layout.home)
}

async fn run(
    mut command: tokio::process::Command,
    input: Option<&str>,
    program: &Path,
) -> Result<(), Error> {
    if let Some(input) = input {
        let (reader, mut writer) = io::pipe().doing("make a pipe to", program)?;
        // A statement is far smaller than a pipe's buffer, so this cannot block.
        writer.write_all(input.as_bytes()).doing("write to", program)?;
        command.stdin(Stdio::from(reader));
    }
    let output = command.output().await.doing("run", program)?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    // The single-user server says `ERROR` and exits with 0.
    if output.status.success() && !said.contains("ERROR:") {
        return Ok(());
    }
    Err(Error::Program { program: program.into(), output: format!("{}: {said}", output.status) })
}
