//! `assay dev` as a newcomer runs it: on a machine that is not tidy, as a user who is nobody, and
//! with what it prints pasted into a shell.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_postgres::{Cluster, Options};
use assay_tests::{Process, Spawned, checkout, component, poll, program};
use tempfile::TempDir;

const SOON: Duration = Duration::from_secs(240);

/// A folder that PostgreSQL's user may pass through.
fn folder(prefix: &str) -> TempDir {
    let mut builder = tempfile::Builder::new();
    let builder = builder.prefix(prefix).permissions(Permissions::from_mode(0o711));
    builder.tempdir().expect("a temporary folder")
}

/// A folder with the plugins that a newcomer has built, and nothing else.
fn plugins(parent: &Path) -> PathBuf {
    let folder = parent.join("plugins");
    std::fs::create_dir(&folder).expect("makes the folder");
    for name in ["assay_plugin_math", "assay_plugin_hello"] {
        let file = folder.join(format!("{name}.wasm"));
        std::fs::write(file, component(name)).expect("writes");
    }
    folder
}

fn sample() -> PathBuf {
    checkout().join("plugins/math/sample.jsonl")
}

/// The summary of the sample, whose every line says what it should get.
fn check_summary(printed: &str) {
    let rows = std::fs::read_to_string(sample()).expect("the sample").lines().count();
    let line = |name: &str| {
        let line = printed.lines().find_map(|line| line.trim_start().strip_prefix(name));
        line.unwrap_or_else(|| panic!("no `{name}` in:\n{printed}")).trim().to_owned()
    };
    assert!(line("done: ").starts_with("math@"), "{printed}");
    assert_eq!(line("rows "), rows.to_string());
    // Two of its lines ask what others ask.
    let outcomes = format!("{rows} scored, 0 timed out, 0 error; 2 shared with equal requests");
    assert_eq!(line("outcomes "), outcomes);
    let mean: f64 = line("mean reward ").parse().expect("a number");
    assert!(mean > 0.0 && mean < 1.0, "{mean}");
    assert!(line("verdicts ").contains(char::is_numeric));
    assert_eq!(line("expected "), format!("{rows} of {rows} agree (100.00 %)"));
    let speed = line("speed ");
    assert!(speed.starts_with(&format!("{rows} requests in ")), "{speed}");
    assert!(speed.contains(" a second, extra delay ") && speed.ends_with(" ms"), "{speed}");
}

/// Port 7700 is taken by somebody, and another PostgreSQL runs.
#[tokio::test]
async fn twice_on_a_machine_that_is_not_tidy() {
    let folder = folder("assay-dev-");
    let plugins = plugins(folder.path());
    let other = Options { data: folder.path().join("another") };
    let other = Cluster::start(other).await.expect("another PostgreSQL starts");
    // Refused when somebody has it already, which is just as well.
    let port = TcpListener::bind("127.0.0.1:7700");
    for _ in 0..2 {
        let mut command = Command::new(program("assay"));
        command.args(["dev", "--once", "--workers", "cpu=2", "--plugins"]).arg(&plugins);
        command.arg("--score").arg(sample()).arg("--data").arg(folder.path().join("data"));
        let mut dev = Spawned::start(&mut command);
        let ended = dev.wait(SOON);
        assert!(ended.success(), "{ended}:\n{}{}", dev.stdout(), dev.stderr());
        check_summary(&dev.stdout());
        assert!(dev.stderr().contains("127.0.0.1:7700 is in use; taking another port"));
        assert!(dev.stderr().contains("is ready as hello@prod"), "{}", dev.stderr());
        assert_eq!(Process::postgres(&folder.path().join("data")), []);
    }
    drop(port);
    assert!(other.pid().is_some(), "the other PostgreSQL was touched");
    other.stop().await;
}

fn give(path: &Path, owner: (u32, u32)) {
    chown(path, Some(owner.0), Some(owner.1)).expect("root gives it away");
}

#[test]
fn as_a_user_who_is_nobody() {
    let root = std::fs::metadata("/proc/self").expect("the kernel tells").uid() == 0;
    if !root || Command::new("setpriv").arg("--version").output().is_err() {
        eprintln!("SKIPPED: only root can become somebody else, and needs setpriv for it");
        return;
    }
    let folder = tempfile::Builder::new()
        .prefix("assay dev of nobody ")
        .permissions(Permissions::from_mode(0o755))
        .tempdir()
        .expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["assay", "assay-worker"] {
        // By another process: what other tests start would hold a copy of our own open for writing.
        let copied = Command::new("cp").arg(program(name)).arg(path(name)).status();
        assert!(copied.is_ok_and(|status| status.success()), "{name} is not copied");
    }
    std::fs::copy(sample(), path("sample.jsonl")).expect("copies the sample");
    let judge = plugins(folder.path()).join("assay_plugin_judge.wasm");
    std::fs::write(judge, component("assay_plugin_judge")).expect("writes");
    std::fs::create_dir(path("home")).expect("makes the folder");
    let id = |what: &str, name: &str| {
        let output = Command::new("getent").args([what, name]).output().expect("getent runs");
        let line = String::from_utf8(output.stdout).expect("text");
        line.split(':').nth(2).and_then(|id| id.trim().parse().ok()).expect("an id")
    };
    let nobody = (id("passwd", "nobody"), id("group", "nogroup"));
    give(&path("home"), nobody);

    let mut command = Command::new("setpriv");
    command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(path("assay"));
    // As in a release, the plugins are beside the program.
    command.args(["dev", "--once", "--workers", "cpu=1", "--listen", "127.0.0.1:0", "--score"]);
    command.arg(path("sample.jsonl"));
    command.env_remove("XDG_DATA_HOME").env("HOME", path("home")).current_dir(folder.path());
    let mut dev = Spawned::start(&mut command);
    let ended = dev.wait(SOON);
    assert!(ended.success(), "{ended}:\n{}{}", dev.stdout(), dev.stderr());
    check_summary(&dev.stdout());
    // One plain line, without what is for programs.
    let told = dev.stderr();
    let judge = told.lines().find(|line| line.starts_with("judge is not published: "));
    let judge = judge.unwrap_or_else(|| panic!("nothing of judge in:\n{told}"));
    assert!(judge.contains("--hosts") && !judge.contains("HTTP 403"), "{judge}");
    assert!(!told.contains("Request-Id"), "{told}");
    let kept = path("home").join(".local/share/assay/postgres/cluster");
    assert_eq!(std::fs::metadata(kept).expect("his own data folder").uid(), nobody.0);
    assert_eq!(Process::postgres(&path("home").join(".local/share/assay")), []);
}

/// The command that starts so, with the lines that belong to it, as somebody would copy it.
fn printed_command(printed: &str, starts: &str) -> String {
    let lines = printed.lines().skip_while(|line| !line.trim_start().starts_with(starts));
    let command: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(!command.is_empty(), "no `{starts}` in:\n{printed}");
    command.join("\n") + "\n"
}

fn pasted(command: &str) -> String {
    let output = Command::new("bash").args(["-c", command]).output().expect("bash runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{command}\n{errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn is_here(program: &str) -> bool {
    let here = Command::new(program).arg("--version").output().is_ok();
    if !here {
        eprintln!("SKIPPED: {program} is not here");
    }
    here
}

#[test]
fn what_it_prints_works_until_it_is_interrupted() {
    let folder = folder("assay-dev-");
    let data = folder.path().join("data");
    let mut command = Command::new(program("assay"));
    command.args(["dev", "--workers", "cpu=1", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
    command.arg("--plugins").arg(plugins(folder.path())).arg("--score").arg(sample());
    let mut dev = Spawned::start(&mut command);
    dev.wait_for("\nEND\n", SOON);
    let printed = dev.stdout();
    check_summary(&printed);

    if is_here("curl") {
        let answer = pasted(&printed_command(&printed, "curl "));
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["outcome"]["reward"], 1.0, "{answer}");
    }
    if is_here("python3") {
        let answer = pasted(&printed_command(&printed, "python3 "));
        assert!(answer.contains("'kind': 'scored', 'reward': 1.0"), "{answer}");
    }
    let exports = printed_command(&printed, "export ");
    let assay = program("assay");
    let listed = pasted(&format!("{exports}'{}' plugin versions", assay.display()));
    assert!(listed.contains("math") && listed.contains("hello"), "{listed}");

    let mut processes = Process::descendants(dev.pid());
    processes.extend(Process::postgres(&data));
    assert!(processes.len() >= 3, "a worker and PostgreSQL: {processes:?}");
    dev.signal("INT");
    let ended = dev.wait(SOON);
    assert!(ended.success(), "{ended}: {}", dev.stderr());
    poll(Duration::from_secs(60), "nothing is left behind", || {
        processes.iter().all(|process| !process.lives()).then_some(())
    });
}
