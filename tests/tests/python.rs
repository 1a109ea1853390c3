//! Plugins in Python: the template, one with packages and one that misbehaves, built by the builder, published
//! to a real server, run by real workers.
//!
//! The result of a build is kept in the target folder and is built anew when its inputs changed.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_api::plugin::PromotePlugin;
use assay_api::request::{LogLine, Reward, SubmitItem};
use assay_api::result::ResultItem;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{
    Answers, Host, HostOptions, Http, Process, assay, checkout, item, program, until,
};
use serde_json::json;
use tokio::sync::Mutex;

use crate::rubric::server::{Model, status};

/// The ending of each word of `tests/python/liar`: the outcome's verdict, and a part of its message.
const LIES: &[(&str, &str, &str)] = &[
    ("spin", "timed_out", ""),
    ("catch", "timed_out", ""),
    ("allocate", "out_of_memory", "the limit is 134217728"),
    ("allocate_small", "out_of_memory", "the limit is 134217728"),
    ("recurse", "plugin_error", "RecursionError"),
    ("recurse_in_c", "stack_overflow", "stack overflowed"),
    ("raises", "plugin_error", "KeyError: 'no such key' (plugin.py, line "),
    ("exits", "plugin_error", "SystemExit"),
    ("leaves", "plugin_trap", "exit status"),
    ("aborts", "plugin_trap", ""),
    ("imports_late", "plugin_error", "there is no module `tkinter"),
    ("reads_files", "plugin_error", "FileNotFoundError"),
    ("lists_files", "plugin_error", "Error"),
    ("connects", "plugin_error", "gaierror"),
    ("starts_thread", "plugin_error", "can't start new thread"),
    ("starts_process", "plugin_error", "Error"),
    ("unavailable", "unavailable", "no data today"),
    ("nothing", "plugin_error", "neither Scored nor Artifact"),
    ("nan", "bad_outcome", "NaN"),
    ("no_number", "plugin_error", "reward is a number, not str"),
    ("explanation_huge", "bad_outcome", "1048576 bytes"),
    ("artifact_huge", "bad_outcome", "must not end in `next`"),
    ("next", "bad_outcome", "last stage"),
    ("no such word", "plugin_error", "KeyError"),
    ("prints", "success", ""),
    ("logs", "success", ""),
    ("sleeps", "success", ""),
    ("environment", "success", ""),
    ("surrogate", "success", ""),
];

/// Compiling takes all cores and, in a debug build, much of the time that an upload has.
static COMPILES: Mutex<()> = Mutex::const_new(());

/// Where builds share their tools and leave what they made; none where the tools cannot be had.
fn installed() -> Option<PathBuf> {
    let test = std::env::current_exe().expect("a running test has a path");
    let target = test.ancestors().nth(3).expect("a test lies in target/<profile>/deps");
    target.join("python-tools/assay-ready.txt").is_file().then(|| target.to_path_buf())
}

fn kept() -> Option<PathBuf> {
    let found = installed();
    if found.is_none() {
        // Past the capture of what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: plugins in Python: no componentize-py (`scripts/setup.sh test`)"
        );
    }
    found
}

/// The component of a project, made from nothing with the builder at `builder`.
fn built(kept: &Path, builder: &Path, project: &Path, name: &str) -> PathBuf {
    let mut python = Command::new("python3");
    python.env_remove("ASSAY_WORKER_PROGRAM").env_remove("ASSAY_CACHE");
    let (component, _) = build(python, kept, builder, project, name);
    component
}

/// The component of a project, made from a kept interpreter, as `assay plugin` has it made.
fn continued(kept: &Path, project: &Path, name: &str) -> PathBuf {
    let mut python = Command::new("python3");
    python.env("ASSAY_WORKER_PROGRAM", program("assay-worker"));
    python.env("ASSAY_CACHE", kept.join("python-cache"));
    let (component, said) = build(python, kept, &sdk().join("build.py"), project, name);
    assert!(!said.contains("the kept Python cannot be used"), "{said}");
    component
}

fn build(
    mut python: Command,
    kept: &Path,
    builder: &Path,
    project: &Path,
    name: &str,
) -> (PathBuf, String) {
    let work = kept.join("python-plugins").join(name);
    let component = work.join("plugin.wasm");
    let output = python
        .arg(builder)
        .arg("--project")
        .arg(project)
        .arg("--work")
        .arg(&work)
        .arg("--output")
        .arg(&component)
        .env("ASSAY_PYTHON_TOOLS", kept.join("python-tools"))
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(output.stdout.is_empty(), "standard output is for others");
    (component, said)
}

fn sdk() -> PathBuf {
    checkout().join("sdk/python-plugin")
}

/// Runs a project's golden cases as `assay plugin test` does.
fn check_cases(component: &Path, cases: &Path) {
    let mut files: Vec<_> = std::fs::read_dir(cases)
        .expect("a folder of cases")
        .map(|entry| entry.expect("a case").path())
        .collect();
    files.sort();
    assert!(!files.is_empty());
    let output = Command::new(program("assay-worker"))
        .arg("test")
        .arg(component)
        .args(&files)
        .output()
        .expect("the worker runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}

async fn publish(host: &Host, component: &Path) -> String {
    let client = host.client();
    let bytes = std::fs::read(component).expect("a component");
    let plugin = client.publish(bytes.into()).await.expect("publishes");
    let version = PromotePlugin { version: plugin.version };
    client.promote(&plugin.name, "prod", &version).await.expect("promotes");
    format!("{}@prod", plugin.name)
}

async fn logs(host: &Host, result: &ResultItem) -> Vec<LogLine> {
    let call = reqwest::Client::new()
        .get(format!("{}/v1/requests/{}/logs", host.url, result.id))
        .bearer_auth(&host.key);
    let reply = call.send().await.expect("answers").error_for_status().expect("there are logs");
    reply.json().await.expect("log lines")
}

fn explanation(result: &ResultItem) -> &str {
    match &result.outcome {
        Outcome::Scored(scored) => &scored.explanation,
        other => panic!("{}: {other:?}", result.key),
    }
}

/// The SDK's own tests, and those of the template, on plain Python.
#[test]
fn the_sdk_holds_on_plain_python() {
    let python = |folder: &Path, path: String| {
        let mut command = Command::new("python3");
        command.args(["-B", "-m", "unittest", "discover", "tests"]).current_dir(folder);
        if let Some(kept) = installed() {
            command.env("ASSAY_PYTHON_TOOLS", kept.join("python-tools"));
        }
        let output = command.env("PYTHONPATH", path).output().expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("OK"), "{said}");
    };
    let source = sdk().join("src").display().to_string();
    python(&sdk(), source.clone());
    python(&checkout().join("sdk/templates/python"), format!(".:{source}"));
}

#[test]
fn a_project_from_the_template_is_built_tested_and_not_built_again() {
    let Some(kept) = kept() else { return };
    let scratch = tempfile::tempdir().expect("a folder");
    let project = scratch.path().join("capitals");
    let folder = project.to_str().expect("text");
    let made = assay(None, &["plugin", "new", "capitals", "--template", "python", "--to", folder]);
    assert_eq!(made.code, Some(0), "{made:#?}");
    let builder = project.join("vendor/assay-plugin/build.py");
    let component = built(&kept, &builder, &project, "template");
    let written = std::fs::metadata(&component).and_then(|file| file.modified()).expect("a file");
    assert_eq!(built(&kept, &builder, &project, "template"), component);
    let again = std::fs::metadata(&component).and_then(|file| file.modified()).expect("a file");
    assert_eq!(written, again, "equal inputs were built again");
    let _turn = COMPILES.blocking_lock();
    check_cases(&component, &project.join("cases"));
}

#[test]
fn sympy_decides_what_is_equal() {
    let Some(kept) = kept() else { return };
    let project = sdk().join("examples/sympy_equal");
    let component = built(&kept, &sdk().join("build.py"), &project, "sympy_equal");
    let _turn = COMPILES.blocking_lock();
    check_cases(&component, &project.join("cases"));
}

#[tokio::test]
async fn a_plugin_asks_the_service_that_its_tenant_was_granted() {
    let Some(kept) = kept() else { return };
    let project = sdk().join("examples/remote_score");
    let component = continued(&kept, &project, "remote_score");
    let service = Model::start(|question, before| match before {
        0 => status(503, "retry-after: 1\r\n", "{}"),
        _ if question.body["response"] == "odd" => status(200, "", "[]"),
        _ => status(200, "", r#"{"score": 0.75}"#),
    })
    .await;
    let host = Host::start(HostOptions::default());
    let client = host.client();
    let granted = format!("private:http://127.0.0.1:{}", service.port);
    let tenants = client.tenants().await.expect("lists").items;
    let patch = json!({ "grants": { "hosts": [granted] } });
    client.set_tenant(&tenants[0].name, &patch).await.expect("grants");
    let plugin = {
        let _turn = COMPILES.lock().await;
        check_cases(&component, &project.join("cases"));
        publish(&host, &component).await
    };
    let http = Http::new(&host);
    let ask = async |response: &str, port: u16| {
        let url = format!("http://127.0.0.1:{port}/score?of=this");
        let call = json!({
            "plugin": plugin, "prompt": "", "response": response, "label": [42], "settings": { "url": url },
        });
        http.post("/v1/rewards", &call).await.json::<Reward>(200).outcome
    };
    // The first answer asks for patience.
    assert_eq!(ask("42", service.port).await.reward(), Some(0.75));
    let asked = service.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].head.starts_with("POST /score?of=this HTTP/1.1\r\n"), "{}", asked[0].head);
    assert_eq!(asked[1].body, json!({ "response": "42", "label": [42] }));
    for (response, port, expected) in
        [("odd", service.port, ErrorCode::Unavailable), ("42", 9, ErrorCode::BadSettings)]
    {
        match ask(response, port).await {
            Outcome::Error { code, .. } if code == expected => {}
            other => panic!("expected {expected}, got {other:?}"),
        }
    }
}

#[test]
fn what_cannot_be_a_component_is_told_before_it_is_built() {
    let Some(kept) = kept() else { return };
    let scratch = tempfile::tempdir().expect("a folder");
    let refused = |plugin: &str, expected: &str| {
        std::fs::write(scratch.path().join("plugin.py"), plugin).expect("a file");
        let output = Command::new("python3")
            .arg(sdk().join("build.py"))
            .arg("--project")
            .arg(scratch.path())
            .env("ASSAY_PYTHON_TOOLS", kept.join("python-tools"))
            .output()
            .expect("python3 runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("error: ") && said.contains(expected), "{said}");
        assert!(!said.contains("Traceback"), "{said}");
    };
    refused("answer = 42\n", "exports no plugin");
    refused("import numpy\nfrom assay_plugin import export\n", "plugin.py:1: `numpy` cannot be");
}

#[tokio::test]
async fn lies_end_as_what_they_are() {
    let Some(kept) = kept() else { return };
    let project = checkout().join("tests/python/liar");
    let component = continued(&kept, &project, "liar");
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let plugin = {
        let _turn = COMPILES.lock().await;
        publish(&host, &component).await
    };
    let client = host.client();
    let warm = [item("warm", "remembers", "null")];
    Answers::submit(&client, &plugin, &warm).await.finish(&client, &warm).await;

    let mut items: Vec<_> = LIES.iter().map(|(word, ..)| item(*word, word, "null")).collect();
    items.extend((0..20).map(|at| item(format!("remembers-{at}"), "remembers", "null")));
    items.extend((0..2).map(|at| item(format!("random-{at}"), "is_random", "null")));
    let by_key = judged_in_time(&host, &plugin, &items).await;
    for (word, verdict, text) in LIES {
        let result = &by_key[*word];
        assert_eq!(result.outcome.verdict(), *verdict, "{result:?}");
        if let Outcome::Error { message, .. } = &result.outcome {
            assert!(message.contains(text), "{word}: {message}");
            assert_eq!(result.outcome.reward(), None);
        }
    }
    for at in 0..20 {
        let result = &by_key[&format!("remembers-{at}")];
        assert_eq!(result.outcome.reward(), Some(1.0), "a call saw another one: {result:?}");
    }
    // Each has a seed of its own.
    let [one, other] = [0, 1].map(|at| &by_key[&format!("random-{at}")]);
    assert_ne!(one.outcome.reward(), other.outcome.reward());
    let hashed = |result| explanation(result).split_once(' ').expect("two words").1.to_owned();
    assert_eq!(hashed(one), hashed(other), "text is hashed the same way in every call");
    assert_eq!(explanation(&by_key["sleeps"]), "0.0 2000");
    assert_eq!(explanation(&by_key["environment"]), "{}[]");
    assert_eq!(explanation(&by_key["surrogate"]), "half ? a pair");

    let lines = logs(&host, &by_key["raises"]).await;
    let traceback: Vec<_> = lines.iter().map(|line| line.message.as_str()).collect();
    assert!(
        traceback.iter().any(|line| line.contains("File \"plugin.py\", line ")),
        "{traceback:?}"
    );
    assert!(traceback.iter().any(|line| line.contains("no such key\"]")), "{traceback:?}");
}

/// The results of a batch that took no worker along. Where a machine stalls until the time of an honest
/// stage is over, the batch is judged again.
async fn judged_in_time(
    host: &Host,
    plugin: &str,
    items: &[SubmitItem],
) -> BTreeMap<String, ResultItem> {
    let client = host.client();
    let workers = || Process::children(host.pid(), "assay-worker");
    let late = || host.log().matches("a stage ran past its deadline").count();
    for _ in 0..3 {
        let one = until("a worker", async || Some(workers()).filter(|now| now.len() == 1)).await;
        let late_before = late();
        let by_key = Answers::submit(&client, plugin, items).await.finish(&client, items).await;
        let endless = |key: &str| LIES.iter().any(|lie| lie.0 == key && lie.1 == "timed_out");
        let in_time =
            by_key.iter().all(|(key, result)| endless(key) || result.outcome.kind() != "timed_out");
        assert!(workers() == one || late() > late_before, "a worker was lost:\n{}", host.log());
        if in_time && workers() == one {
            return by_key;
        }
    }
    panic!("each time a stage ran past its deadline");
}
