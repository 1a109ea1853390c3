//! The `assay-postgres` command: another process, that can be killed and be another user's.

use std::{
    fs,
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    process::{Output, Stdio},
};

use crate::machine::{folder, is_root, query, refusal, runs, send, start, wait_for};
use nix::{sys::signal::Signal, unistd::User};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::Command,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_assay-postgres");

fn command(data: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    // The caller's own settings for PostgreSQL must not lead anywhere else.
    command.env("PGPORT", "1").env("PGHOST", "/nowhere").env("PGSSLMODE", "require");
    command.arg(data).kill_on_drop(true);
    command
}

fn text(output: &Output) -> String {
    let (said, failed) = (&output.stdout, &output.stderr);
    format!("{}{}", String::from_utf8_lossy(said), String::from_utf8_lossy(failed))
}

#[tokio::test]
async fn the_command_runs_beside_the_server() {
    let folder = folder();
    let script = "psql -XAtc 'select 40 + 2' \"$DATABASE_URL\"; exit 7";
    let output = command(folder.path()).args(["sh", "-c", script]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", text(&output));
    assert!(text(&output).starts_with("42\n"), "{}", text(&output));
    assert!(!folder.path().join("postgres/cluster/postmaster.pid").exists(), "stopped");
}

#[tokio::test]
async fn the_server_of_a_killed_owner_is_adopted() {
    let folder = folder();
    let mut owner = command(folder.path())
        .args(["sh", "-c", "echo up; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert_eq!(said.next_line().await.unwrap().as_deref(), Some("up"));
    let text = refusal(folder.path()).await;
    assert!(text.contains(&format!("(process {})", owner.id().unwrap())), "{text}");

    let pid_file =
        fs::read_to_string(folder.path().join("postgres/cluster/postmaster.pid")).unwrap();
    let running: u32 = pid_file.lines().next().unwrap().parse().unwrap();
    owner.kill().await.unwrap();
    assert!(runs(running), "the server outlives its owner");

    let cluster = start(folder.path()).await;
    assert_eq!(cluster.pid(), Some(running));
    query(&cluster, "create table kept (n int)").await;
    // One that is not our child is watched over and stopped as well.
    send(running, Signal::SIGKILL);
    let second = wait_for("a new postmaster", || cluster.pid().filter(|pid| *pid != running)).await;
    assert_eq!(query(&cluster, "select count(*) from kept").await, "0");
    cluster.stop().await;
    assert!(!runs(second));
}

#[tokio::test]
async fn an_ordinary_user_needs_no_root() {
    if !is_root() {
        println!("SKIPPED: this test becomes another user; the others ran as one");
        return;
    }
    let folder = folder();
    let program = folder.path().join("assay-postgres");
    // By another process: whatever is started beside this test would hold a copy of our own open, and a
    // program that is open for writing cannot be run.
    assert!(Command::new("cp").arg(PROGRAM).arg(&program).status().await.unwrap().success());
    let nobody = User::from_name("nobody").unwrap().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    chown(&data, Some(nobody.uid.as_raw()), Some(nobody.gid.as_raw())).unwrap();
    for (script, said) in [
        ("create table kept (n int)", "CREATE TABLE\n"),
        ("insert into kept values (5) returning n", "5\nINSERT 0 1\n"),
        ("select n from kept", "5\n"),
    ] {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "nobody", "--regid", &nobody.gid.to_string(), "--clear-groups"]);
        command.arg(&program).arg(&data).args([
            "sh",
            "-c",
            "psql -XAtc \"$0\" \"$DATABASE_URL\"",
            script,
        ]);
        let output = command.current_dir("/").output().await.unwrap();
        assert_eq!(text(&output), said);
    }
    // Root may look after it, and the server still runs as the folder's owner.
    let cluster = start(&data).await;
    assert_eq!(query(&cluster, "select n from kept").await, "5");
    assert_eq!(
        fs::metadata(data.join("postgres/cluster/postmaster.pid")).unwrap().uid(),
        nobody.uid.as_raw()
    );
    cluster.stop().await;
}

#[tokio::test]
async fn missing_programs_say_what_to_do() {
    let folder = folder();
    let mut command = command(folder.path());
    let output = command.env("ASSAY_POSTGRES_BIN", "/nowhere").arg("true").output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    for part in ["apt-get install postgresql", "scripts/setup.sh run", "/nowhere"] {
        assert!(text(&output).contains(part), "{}", text(&output));
    }
}
