//! `assay doctor` on machines that have all, lack something, or lack what Assay cannot do without.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use assay_tests::{Bucket, CommandResult, Host, HostOptions, assay};
use serde_json::Value;
use tempfile::TempDir;

const BOXES: &str = r#"{"ok":{"cgroups":"hybrid","landlock":6,"missing":[]}}"#;

/// A machine whose worker program prints this.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new(exec: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let report = format!(
            r#"{{"engine":"e1","exec":{exec},"toolchains":[{{"id":"cpp","version":"12.2"}}],
                "cuda":{{"Err":"there is no toolkit"}},"gpu":null}}"#
        );
        let arguments = folder.path().join("arguments");
        let arguments = arguments.display();
        let script = format!("#!/bin/sh\necho \"$@\" > '{arguments}'\necho '{report}'\n");
        let program = folder.path().join("worker");
        fs::write(&program, script).expect("writes");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("sets");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn doctor(&self, more: &[&str]) -> CommandResult {
        let (worker, data) = (self.path("worker"), self.path("data"));
        let mut arguments =
            vec!["doctor", "--worker-program", text(&worker), "--data", text(&data)];
        arguments.extend(more);
        assay(None, &arguments)
    }

    /// Its findings as JSON, and the exit code that goes with them.
    fn findings(&self, more: &[&str], code: i32) -> Vec<Value> {
        let report: Value = self.doctor(&[more, &["-o", "json"]].concat()).json(code);
        assert_eq!(report["ok"], code == 0, "{report}");
        report["findings"].as_array().expect("a list").clone()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn state<'a>(findings: &'a [Value], check: &str) -> &'a str {
    finding(findings, check)["state"].as_str().expect("a text")
}

fn finding<'a>(findings: &'a [Value], check: &str) -> &'a Value {
    let found = findings.iter().find(|finding| finding["check"] == check);
    found.unwrap_or_else(|| panic!("no {check} in {findings:#?}"))
}

#[test]
fn a_machine_with_everything() {
    let machine = Machine::new(BOXES);
    let printed = machine.doctor(&[]);
    assert_eq!(printed.code, Some(0), "{printed:#?}");
    for line in ["ok    machine ", "ok    data folder ", "ok    PostgreSQL ", "ok    sandbox "] {
        assert!(printed.stdout.contains(line), "{line}\n{}", printed.stdout);
    }
    assert!(printed.stdout.contains("cpp (12.2)"), "{}", printed.stdout);
    assert!(!machine.path("data").exists(), "it changes nothing");

    let folder = machine.path("further");
    fs::create_dir(&folder).expect("makes");
    let toolchains = ["--toolchains", text(&folder), "--weaker-sandbox", "landlock,cgroups"];
    let gpu = ["--gpu", "simulated", "--gpu-arch", "compute_80", "--cuda", text(&folder)];
    let more = [&toolchains[..], &gpu].concat();
    assert_eq!(machine.doctor(&more).code, Some(0));
    let told = fs::read_to_string(machine.path("arguments")).expect("it was called");
    let folder = text(&folder);
    let expected = format!(
        "doctor --toolchains {folder} --weaker cgroups,landlock --gpu simulated --gpu-arch compute_80 \
         --cuda {folder}\n"
    );
    assert_eq!(told, expected);
}

#[test]
fn a_machine_without_boxes_runs_everything_else() {
    let machine = Machine::new(r#"{"refused":"no user namespaces"}"#);
    let findings = machine.findings(&[], 0);
    assert_eq!(state(&findings, "sandbox"), "warn");
    assert_eq!((state(&findings, "CUDA compiler"), state(&findings, "GPU")), ("warn", "warn"));
    let sandbox = finding(&findings, "sandbox");
    assert!(sandbox["found"].as_str().is_some_and(|found| found.contains("no user namespaces")));
    assert!(sandbox["do"].as_str().is_some_and(|advice| advice.contains("--weaker-sandbox")));
}

#[test]
fn storage_is_listed_root_by_root() {
    let machine = Machine::new(BOXES);
    let bucket = Bucket::open("judge", "right");
    bucket.put("a", "a");
    let closed = Bucket::open("judge", "right");
    let unreachable = closed.endpoint();
    drop(closed);
    fs::create_dir(machine.path("here")).expect("makes");
    fs::write(machine.path("here/file"), "text").expect("writes");
    let remote = |name: &str, endpoint: &str, key: &str| {
        format!(
            "[roots.{name}]\nurl = 's3://judge'\ntenants = ['*']\noptions = {{ endpoint = \
             '{endpoint}', allow_http = true, access_key_id = '{key}', secret_access_key = 'hush' }}\n"
        )
    };
    let file = machine.path("storage.toml");
    let roots = [
        format!("[roots.here]\nurl = 'file://{}'\ntenants = ['*']\n", text(&machine.path("here"))),
        remote("bucket", &bucket.endpoint(), "right"),
    ];
    fs::write(&file, roots.concat()).expect("writes");
    let storage = ["--storage", text(&file)];
    let findings = machine.findings(&storage, 0);
    for root in ["storage here", "storage bucket"] {
        let found = finding(&findings, root)["found"].as_str().expect("a text");
        assert!(found.ends_with("has 1 objects"), "{found}");
    }

    let roots = [
        remote("bucket", &bucket.endpoint(), "right"),
        remote("key", &bucket.endpoint(), "wrong"),
        remote("gone", &unreachable, "right"),
    ];
    fs::write(&file, roots.concat()).expect("writes");
    let findings = machine.findings(&storage, 1);
    assert_eq!(state(&findings, "storage bucket"), "ok");
    assert_eq!(state(&findings, "storage key"), "fail");
    assert_eq!(state(&findings, "storage gone"), "fail");
    assert!(!format!("{findings:?}").contains("hush"), "{findings:?}");

    fs::write(&file, "[roots.judge]\nurl = 's3://judge'\n").expect("writes");
    let findings = machine.findings(&storage, 1);
    let found = finding(&findings, "storage")["found"].as_str().expect("a text");
    assert!(found.contains("storage root `judge`: `tenants` must be a list"), "{found}");
}

#[test]
fn what_is_broken_fails() {
    let machine = Machine::new(BOXES);
    fs::write(machine.path("data"), "a file").expect("writes");
    assert_eq!(state(&machine.findings(&[], 1), "data folder"), "fail");
    fs::remove_file(machine.path("data")).expect("removes");

    let database = ["--database-url", "postgres://nobody:hush@127.0.0.1:1/nothing"];
    let findings = machine.findings(&database, 1);
    assert_eq!(state(&findings, "PostgreSQL"), "fail");
    assert!(!format!("{findings:?}").contains("hush"), "{findings:?}");

    fs::write(machine.path("worker"), "#!/bin/sh\necho nonsense\n").expect("writes");
    assert_eq!(state(&machine.findings(&[], 1), "worker"), "fail");
    fs::write(machine.path("worker"), "#!/bin/sh\necho broken >&2; exit 3\n").expect("writes");
    let findings = machine.findings(&[], 1);
    let found = finding(&findings, "worker")["found"].as_str().expect("a text");
    assert!(found.contains("broken") && found.contains("exit status: 3"), "{found}");
    fs::remove_file(machine.path("worker")).expect("removes");
    assert_eq!(state(&machine.findings(&[], 1), "worker"), "fail");
}

#[tokio::test]
async fn a_running_server_is_asked() {
    let host = Host::start(HostOptions::default());
    let machine = Machine::new(BOXES);
    let findings = machine.findings(&["--url", &host.url], 0);
    assert_eq!(state(&findings, "server"), "ok");
    let findings = machine.findings(&["--url", "http://127.0.0.1:1"], 1);
    assert_eq!(state(&findings, "server"), "fail");
}
