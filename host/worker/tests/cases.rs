//! Golden cases of an upload: what the plugin is at fault for, what the machine lacks, and what failed.

use std::fs::Permissions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

use assay_core::golden::{CaseFile, CaseJob, CaseReport, CaseState};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binary::{compile, guest, worker};

const TENANT: &str = "00000000-0000-0000-0000-000000000001";

/// An upload with all that its tenant was granted: every toolchain, and the storage roots in `roots`.
struct CaseFixture {
    folder: TempDir,
    component: Value,
    arguments: Vec<String>,
}

impl CaseFixture {
    fn new(name: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join("roots")).expect("created");
        let report = compile(&guest(name), &folder.path().join("compiled"));
        Self { folder, component: report["ok"].clone(), arguments: Vec::new() }
    }

    fn with_helper(mut self, helper: &Path) -> Self {
        self.arguments = vec!["--exec-program".into(), helper.display().to_string()];
        self
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn job(&self, cases: Vec<CaseFile>) -> CaseJob {
        CaseJob {
            tenant: TENANT.parse().expect("an id"),
            compiled: self.path("compiled"),
            compiled_digest: serde_json::from_value(self.component["compiled_digest"].clone())
                .expect("a digest"),
            description: serde_json::from_value(self.component["description"].clone())
                .expect("a description"),
            toolchains: None,
            hosts: Vec::new(),
            secrets: Vec::new(),
            storage: self.path("roots"),
            distant_roots: Vec::new(),
            time_ms_max: 300_000,
            cases,
        }
    }

    fn run(&self, job: &CaseJob) -> Vec<CaseReport> {
        let mut child = worker()
            .arg("cases")
            .arg("--cache")
            .arg(self.path("cache"))
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the worker starts");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(&serde_json::to_vec(job).expect("plain data")).expect("it reads");
        drop(stdin);
        let done = child.wait_with_output().expect("it ends");
        assert!(done.status.success());
        let lines = done.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).expect("a report")).collect()
    }

    /// The report on a request with this label, which is expected to be scored.
    fn report(&self, label: &Value) -> CaseReport {
        self.run(&self.job(vec![case("a", label)])).remove(0)
    }
}

fn case(name: &str, label: &Value) -> CaseFile {
    let request = json!({ "response": "pass", "label": label });
    let text = format!("name: {name}\nrequest: {request}\nexpect: {{outcome: scored}}\n");
    CaseFile { file: format!("{name}.yaml"), text }
}

#[test]
fn a_machine_without_boxes_runs_no_case_and_boxes_that_fail_break_it() {
    let python = json!({ "toolchain": "cpython-3" });
    let fixture = CaseFixture::new("execute");
    let missing = fixture.path("no-such-helper");
    let fixture = fixture.with_helper(&missing);
    let report = fixture.report(&python);
    assert_eq!(report.state, CaseState::NotRun, "{report:?}");
    assert!(report.reason.starts_with("this server runs no programs"), "{report:?}");

    let dies = fixture.path("dies");
    std::fs::write(&dies, "#!/bin/sh\nexit 1\n").expect("written");
    std::fs::set_permissions(&dies, Permissions::from_mode(0o755)).expect("executable");
    let fixture = fixture.with_helper(&dies);
    let report = fixture.report(&python);
    assert_eq!(report.state, CaseState::Broken, "{report:?}");
    // The grants that the tenant lacks are known all the same.
    let mut job = fixture.job(vec![case("a", &python)]);
    job.toolchains = Some(Vec::new());
    let report = fixture.run(&job).remove(0);
    assert_eq!(report.state, CaseState::NotRun, "{report:?}");
    assert!(report.reason.contains("not granted the toolchain `cpython-3`"), "{report:?}");
}

#[test]
fn storage_that_fails_breaks_a_case() {
    let fixture = CaseFixture::new("execute");
    let roots = fixture.path("roots");
    symlink(fixture.path("not-mounted"), roots.join("gone")).expect("linked");
    std::fs::create_dir(roots.join("mine")).expect("created");
    let reads = |name: &str| fixture.report(&json!({ "storage_get": name }));
    let report = reads("gone/object");
    assert_eq!(report.state, CaseState::Broken, "{report:?}");
    let report = reads("theirs/object");
    assert_eq!(report.state, CaseState::NotRun, "{report:?}");
    assert!(report.reason.contains("not granted a storage root `theirs`"), "{report:?}");
    let report = reads("mine/object");
    assert_eq!(report.state, CaseState::Failed, "{report:?}");
}

/// The shell stands for a server that is killed. The worker reads its job from a pipe that stays open, and the other
/// end of its standard output tells when it is gone.
#[test]
fn the_process_ends_with_its_host() {
    let folder = tempfile::tempdir().expect("a folder");
    let job = folder.path().join("job");
    let made = Command::new("mkfifo").arg(&job).status().expect("mkfifo runs");
    assert!(made.success());
    let mut host = Command::new("/bin/sh")
        .args(["-c", "\"$0\" cases --cache \"$1\" <\"$2\" & exec sleep 600 >/dev/null"])
        .arg(worker().get_program())
        .arg(folder.path().join("cache"))
        .arg(&job)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    let mut stdin = std::fs::OpenOptions::new().write(true).open(&job).expect("a reader came");
    // More than a pipe holds: the worker has begun to read.
    stdin.write_all(&vec![b' '; 1 << 20]).expect("it reads");
    host.kill().expect("our child");
    host.wait().expect("our child");
    let mut told = Vec::new();
    host.stdout.take().expect("piped").read_to_end(&mut told).expect("it ends");
    drop(stdin);
}

#[test]
fn cases_that_use_all_of_their_time_say_so() {
    let fixture = CaseFixture::new("liar");
    let case = |response: &str| CaseFile {
        file: format!("{response}.yaml"),
        text: format!(
            "name: {response}\nrequest: {{response: {response}}}\nexpect: {{outcome: timed_out}}\n"
        ),
    };
    let mut job = fixture.job(vec![case("spin"), case("spin")]);
    // Less than the stage's own limit: it was not given its time, so that it did not time out as expected.
    job.time_ms_max = 50;
    let states: Vec<_> = fixture.run(&job).into_iter().map(|report| report.state).collect();
    assert_eq!(states, [CaseState::TooSlow, CaseState::TooSlow]);
    job.time_ms_max = 300_000;
    let states: Vec<_> = fixture.run(&job).into_iter().map(|report| report.state).collect();
    assert_eq!(states, [CaseState::Passed, CaseState::Passed]);
}
