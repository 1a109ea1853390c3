//! Programs that plugins run on this machine, in real boxes: from golden cases, and under a host's
//! deadline.

use std::path::Path;
use std::process::{Command, Output};

use assay_wire::proto::finished::End;
use assay_wire::proto::{Finished, ToWorker, Toolchains};
use serde_json::{Value, json};

use crate::binary::{guest, reward, worker};
use crate::host::{Conversation, TestHost, execute, host};

/// The helper's program lies beside the worker's.
fn with_helper(command: &mut Command) -> Output {
    let helper = Path::new(env!("CARGO_BIN_EXE_assay-worker")).with_file_name("assay-exec");
    assert!(helper.exists(), "{} is missing; `cargo build -p assay-exec`", helper.display());
    command.output().expect("the worker starts")
}

fn case(name: &str, source: &str, label: &Value, expect: &str) -> String {
    format!(
        "name: {name}\nrequest: {}\nexpect: {{{expect}}}\n",
        json!({"response": source, "label": label})
    )
}

#[test]
fn golden_cases_run_real_programs() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(folder.path().join("roots/judge")).expect("created");
    std::fs::write(folder.path().join("roots/judge/1.in"), "1 2\n").expect("written");
    let sum = "a, b = map(int, input().split())\nassert a + b == 3\n";
    let includes = "#include <cstdio>\nint main() { puts(\"\"); return VALUE; }\n";
    let cpp = |options: Value| json!({"toolchain": "cpp17-gcc", "options": options});
    let cases = [
        case(
            "standard input",
            sum,
            &json!({"toolchain": "cpython-3", "stdin": "1 2\n"}),
            "outcome: scored, reward: 1, verdict: exited_0",
        ),
        case(
            "an object as standard input",
            sum,
            &json!({"toolchain": "cpython-3", "storage": "judge/1.in"}),
            "outcome: scored, reward: 1, verdict: exited_0",
        ),
        case(
            "compiled",
            includes,
            &cpp(json!(["-DVALUE=7"])),
            "outcome: scored, reward: 0, verdict: exited_7",
        ),
        case(
            "rejected",
            includes,
            &cpp(json!([])),
            "outcome: scored, reward: 0, verdict: rejected",
        ),
        case(
            "stopped at its CPU time",
            "while True: pass",
            &json!({"toolchain": "cpython-3", "limits": {"cpu_ms": 200}}),
            "outcome: scored, reward: 0, verdict: limited_cpu",
        ),
        case(
            "not a toolchain",
            "",
            &json!({"toolchain": "cobol"}),
            "outcome: error, code: bad_request",
        ),
        case(
            "too many handles",
            "",
            &json!({"toolchain": "cpython-3", "handles": 5_000}),
            "outcome: error, code: plugin_error",
        ),
    ];
    let mut command = worker();
    command.arg("test").arg(guest("execute"));
    for (at, text) in cases.iter().enumerate() {
        let path = folder.path().join(format!("{at}.yaml"));
        std::fs::write(&path, text).expect("written");
        command.arg(path);
    }
    let done = with_helper(command.arg("--storage").arg(folder.path().join("roots")));
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.ends_with("7 passed, 0 failed\n"), "{said}");
}

#[test]
fn the_doctor_says_what_programs_find_here() {
    let done = with_helper(worker().arg("doctor"));
    let report: Value = serde_json::from_slice(&done.stdout).expect("a line of JSON");
    assert_eq!(report["engine"], assay_sandbox::engine_id());
    assert!(report["exec"]["ok"]["cgroups"].is_string(), "{report}");
    let python = report["toolchains"].as_array().expect("a list").iter();
    let python = python.clone().find(|toolchain| toolchain["id"] == "cpython-3");
    assert!(python.expect("built in")["version"].is_string(), "{report}");
}

#[test]
fn the_doctor_says_why_there_is_no_box() {
    let done = worker().args(["doctor", "--exec-program", "/nonexistent/assay-exec"]).output();
    let done = done.expect("the worker starts");
    assert!(done.status.success(), "a result, not a failure");
    let report: Value = serde_json::from_slice(&done.stdout).expect("a line of JSON");
    assert!(report["exec"]["refused"].is_string(), "{report}");
    assert!(report["toolchains"][0]["missing"].is_string(), "{report}");
}

#[test]
fn only_known_parts_may_be_missing() {
    let done = worker().args(["doctor", "--weaker", "cgroups,seccomp"]).output();
    let done = done.expect("the worker starts");
    assert!(!done.status.success());
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("seccomp") && said.contains("cgroups, landlock"), "{said}");
}

async fn run(talk: &mut Conversation, grant: assay_wire::proto::Grant) -> Finished {
    talk.say(ToWorker { grants: vec![grant], ..ToWorker::default() }).await;
    talk.finished().await
}

#[tokio::test]
async fn a_stage_is_over_when_its_time_is_whatever_runs() {
    let (mut host, digest): (TestHost, _) = host("execute");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let label = r#"{"toolchain": "cpython-3"}"#;
    // Also finds the toolchains, which takes the first caller's time.
    assert_eq!(reward(&run(&mut talk, execute(1, digest, label, "")).await), 1.0);
    let long = r#"{"toolchain": "cpython-3", "limits": {"cpu_ms": 60000, "wall_ms": 200000}}"#;
    for (lease, source) in [(2, "import time; time.sleep(100)"), (3, "while True: pass")] {
        let mut grant = execute(lease, digest, long, source);
        grant.timeout_us = 1_000_000;
        let done = run(&mut talk, grant).await;
        assert_eq!(done.end, Some(End::TimedOut(Default::default())), "{source}");
        assert!(done.ran_us >= 1_000_000, "{source} ended early, after {} µs", done.ran_us);
        // Left alone it takes 60 s and more.
        assert!(done.ran_us < 30_000_000, "{source} ended late, after {} µs", done.ran_us);
    }
    assert_eq!(reward(&run(&mut talk, execute(4, digest, label, "")).await), 1.0);
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn a_toolchain_that_was_not_granted_is_not_there() {
    let (mut host, digest): (TestHost, _) = host("execute");
    let mut child = host.spawn();
    let (_, mut talk) = host.accept().await;
    let label = r#"{"toolchain": "cpython-3"}"#;
    for (lease, granted, ends) in [(1, vec!["cpython-3".to_owned()], true), (2, vec![], false)] {
        let mut grant = execute(lease, digest, label, "");
        grant.toolchains = Some(Toolchains { names: granted });
        let done = run(&mut talk, grant).await;
        match done.end {
            Some(End::Scored(_)) => assert!(ends, "{done:?}"),
            Some(End::Failed(ref problem)) => {
                assert!(!ends && problem.message.contains("cpython-3"), "{problem:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    child.kill().expect("our child");
    child.wait().expect("our child");
}
