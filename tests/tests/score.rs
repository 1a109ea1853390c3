//! The command line as its users have it: files scored, plugins, tenants and keys kept.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use assay_api::key::Key;
use assay_api::plugin::Plugin;
use assay_api::tenant::Tenant;
use assay_tests::{CommandResult, Host, HostOptions, Http, assay, checkout, component, shared};
use serde_json::{Value, json};
use tempfile::TempDir;

const ROWS: &str = r#"{"key":"right","group":"g","response":"Answer: 42","label":"42","expected":1}
{"key":"wrong","group":"g","response":"Answer: 41","label":"42","expected":0.5}

{"key":"none","response":"I do not know.","label":"42"}
"#;

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn write(folder: &TempDir, name: &str, rows: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, rows).expect("a file");
    path
}

fn score(host: &Host, file: &Path, more: &[&str]) -> CommandResult {
    let mut arguments = vec!["score", text(file), "--plugin", "hello@prod", "-o", "json"];
    arguments.extend_from_slice(more);
    assay(Some(host), &arguments)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the results");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON a line")).collect()
}

#[tokio::test]
async fn a_file_is_scored_once_and_what_is_wrong_is_named() {
    let host = Host::start(HostOptions::default());
    host.publish("assay_plugin_hello").await;
    let folder = tempfile::tempdir().expect("a folder");

    let good = write(&folder, "good.jsonl", ROWS);
    let summary: Value = score(&host, &good, &[]).json(0);
    assert_eq!((&summary["rows"], &summary["requests"]), (&json!(3), &json!(3)));
    assert_eq!((&summary["scored"], &summary["error"]), (&json!(3), &json!(0)));
    assert_eq!(summary["mean_reward"], json!(1.0 / 3.0));
    assert_eq!(summary["verdicts"], json!({ "success": 1, "wrong": 1, "no_answer": 1 }));
    let agreement = &summary["agreement"];
    assert_eq!((&agreement["compared"], &agreement["agreed"]), (&json!(2), &json!(1)));
    assert_eq!(agreement["disagreements"][0]["line"], json!(2));

    let results = folder.path().join("good.jsonl.results.jsonl");
    let written = std::fs::read(&results).expect("the results");
    let keys: BTreeSet<String> = lines(&results)
        .iter()
        .map(|line| line["key"].as_str().expect("a key").to_owned())
        .collect();
    assert_eq!(keys, ["none", "right", "wrong"].map(str::to_owned).into());
    // Said again, nothing is done again.
    let again: Value = score(&host, &good, &[]).json(0);
    assert_eq!((&again["requests"], &again["skipped"]), (&json!(0), &json!(3)));
    assert_eq!((&again["batches"], &again["mean_reward"]), (&json!([]), &summary["mean_reward"]));
    assert_eq!(std::fs::read(&results).expect("the results"), written);
    let strict = score(&host, &good, &["--require-agreement"]);
    assert_eq!(strict.code, Some(1), "{strict:#?}");

    // A row more is the only one that is scored; a bad line is named by its number.
    let row = r#"{"key":"more","response":"Answer: 1","label":"1"}"#;
    std::fs::write(&good, format!("{ROWS}{row}\n{{\"key\":\"x\",\n")).expect("a file");
    let summary: Value = score(&host, &good, &[]).json(1);
    assert_eq!((&summary["requests"], &summary["skipped"]), (&json!(1), &json!(3)));
    assert_eq!(summary["malformed_rows"], json!(1));
    assert_eq!(summary["malformed"][0]["line"], json!(6));
    assert_eq!(lines(&results).len(), 4);
    let told = assay(Some(&host), &["score", text(&good), "--plugin", "hello@prod"]);
    assert_eq!((told.code, told.stdout.as_str()), (Some(1), ""));
    assert!(told.stderr.contains("line 6"), "{}", told.stderr);

    // A reward is of the row and the settings with which it was computed.
    let changed = ROWS.replace("Answer: 41", "Answer: 42");
    std::fs::write(&good, &changed).expect("a file");
    let summary: Value = score(&host, &good, &[]).json(1);
    assert_eq!((&summary["requests"], &summary["skipped"]), (&json!(0), &json!(2)));
    let problem = summary["malformed"][0]["problem"].as_str().expect("a text");
    assert!(problem.contains("the row `wrong`") && problem.contains("--output"), "{problem}");
    let summary: Value = score(&host, &good, &["--settings", r#"{"a":1}"#]).json(1);
    assert_eq!((&summary["requests"], &summary["skipped"]), (&json!(0), &json!(0)));

    // An error is no number; it is tried again the next time, and the lines go where they are sent.
    let bad = write(&folder, "bad.jsonl", r#"{"key":"bad","response":"Answer: 42"}"#);
    let ended = score(&host, &bad, &["--output", "-"]);
    let line: Value = ended.json(1);
    assert_eq!(line["outcome"]["code"], "bad_request");
    assert!(line["outcome"].get("reward").is_none());
    assert!(ended.stderr.contains(r#""error": 1"#), "{}", ended.stderr);
    for requests in [1, 1] {
        let summary: Value = score(&host, &bad, &[]).json(1);
        assert_eq!(summary["requests"], json!(requests));
        assert_eq!(summary["mean_reward"], Value::Null);
    }
    // A label that the plugin's schema refuses is told by its line and field.
    let row = r#"{"key":"odd","response":"Answer: 42","label":[42]}"#;
    let ended = assay(
        Some(&host),
        &["score", text(&write(&folder, "odd.jsonl", row)), "--plugin", "hello@prod"],
    );
    let told = "line 1: label must be of type string; it is an array (rule `type`) (invalid_label)";
    assert!(ended.code == Some(1) && ended.stderr.contains(told), "{ended:#?}");
}

#[tokio::test]
async fn what_cannot_be_done_is_explained() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let file = write(&folder, "rows.jsonl", ROWS);
    let explained = |ended: CommandResult, says: &str| {
        assert!(ended.code.is_some_and(|code| code != 0), "{ended:#?}");
        assert!(ended.stderr.contains(says), "`{says}` is not in {ended:#?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
        assert!(ended.stdout.is_empty(), "{ended:#?}");
    };
    let call = ["score", text(&file), "--plugin", "hello@prod"];
    explained(assay(None, &call), "ASSAY_API_KEY");
    explained(assay(None, &["plugin", "versions"]), "assay dev");
    let nowhere = ["--url", "http://127.0.0.1:1", "--key", "assay_test_0_0"];
    explained(assay(None, &[&["tenant"], &nowhere[..], &["ls"]].concat()), "cannot reach");
    let odd = ["key", "--url", "localhost", "--key", "k", "ls"];
    explained(assay(None, &odd), "http://127.0.0.1:7700");
    explained(assay(Some(&host), &["key", "--key", "nonsense", "ls"]), "unauthenticated");
    explained(assay(Some(&host), &call), "there is no channel `prod`");
    let missing = folder.path().join("missing.jsonl");
    let missing = text(&missing);
    explained(assay(Some(&host), &["score", missing, "--plugin", "hello@prod"]), missing);
    assert!(!folder.path().join("missing.jsonl.results.jsonl").exists());
    explained(assay(Some(&host), &["score", text(&file), "--plugin", "hello"]), "name@channel");
    let settings = [&call[..], &["--settings", "[1]"]].concat();
    explained(assay(Some(&host), &settings), "JSON object");
    explained(assay(Some(&host), &["plugin", "publish", missing]), missing);
    explained(assay(Some(&host), &["plugin", "publish", text(&file)]), "component");
    let channel = ["plugin", "publish", text(&file), "--channel", "bad channel!"];
    explained(assay(Some(&host), &channel), "lower-case letters");
    let tolerance = [&call[..], &["--tolerance", "nan"]].concat();
    explained(assay(Some(&host), &tolerance), "finite number");
    let expired =
        ["key", "create", "--scope", "batches:read", "--expires-at", "2020-01-01T00:00:00Z"];
    explained(assay(Some(&host), &expired), "the time is past");
    explained(assay(Some(&host), &["plugin", "promote", "hello"]), "NAME@VERSION");
    let scope = ["key", "create", "--scope", "batches:fly"];
    explained(assay(Some(&host), &scope), "batches:write");
}

#[tokio::test]
async fn plugins_tenants_and_keys_are_kept_from_the_command_line() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("trivial.wasm");
    std::fs::write(&file, component("trivial")).expect("a file");
    let run = |arguments: &[&str]| assay(Some(&host), &[arguments, &["-o", "json"]].concat());
    let plugin = |arguments: &[&str]| -> Plugin {
        let mut answer: Vec<Plugin> = run(arguments).json(0);
        answer.pop().expect("a plugin")
    };

    let published = plugin(&["plugin", "publish", text(&file), "--channel", "beta"]);
    assert_eq!((published.name.as_str(), published.version.as_str()), ("trivial", "1.0.0"));
    assert_eq!(published.channels, ["beta"]);
    let promoted = plugin(&["plugin", "promote", "trivial@1.0.0"]);
    assert_eq!(promoted.channels, ["beta", "prod"]);
    assert_eq!(plugin(&["plugin", "versions", "trivial"]).digest, published.digest);
    assert_eq!(plugin(&["plugin", "versions"]).digest, published.digest);
    let yanked = plugin(&["plugin", "yank", "trivial@1.0.0", "--reason", "it is only a test"]);
    assert_eq!(yanked.yanked.as_deref(), Some("it is only a test"));
    let told = assay(Some(&host), &["plugin", "versions"]);
    assert!(
        told.stdout.contains("trivial@1.0.0") && told.stdout.contains("only a test"),
        "{told:#?}"
    );

    let made: Vec<Tenant> = run(&["tenant", "create", "team"]).json(0);
    let all: Vec<Tenant> = run(&["tenant", "ls"]).json(0);
    assert!(all.iter().any(|tenant| tenant.id == made[0].id && tenant.name == "team"));
    assert_eq!(run(&["tenant", "create", "team"]).code, Some(1));

    let keys: Vec<Key> = run(&[
        "key",
        "create",
        "--name",
        "ci",
        "--scope",
        "batches:read",
        "--scope",
        "batches:write",
    ])
    .json(0);
    let secret = keys[0].secret.clone().expect("shown when it is made");
    let listed: Vec<Key> = run(&["key", "ls"]).json(0);
    assert!(listed.iter().any(|key| key.id == keys[0].id && key.secret.is_none()));
    let with_it = ["plugin", "versions", "--key", &secret];
    assert_eq!(run(&with_it[..]).code, Some(0));
    let revoked: Vec<Key> = run(&["key", "revoke", &keys[0].id.to_string()]).json(0);
    assert!(revoked[0].revoked_at.is_some());
    assert_eq!(run(&with_it[..]).code, Some(1));

    let printed: Value = assay(None, &["openapi"]).json(0);
    let served: Value = Http::new(&host).get("/openapi.json").await.json(200);
    assert_eq!(printed, served);
    assert!(printed["openapi"].as_str().is_some_and(|version| version.starts_with("3.")));
}

#[tokio::test]
async fn math_agrees_with_every_expected_reward() {
    let host = Host::start(HostOptions::default());
    host.publish("assay_plugin_math").await;
    let folder = tempfile::tempdir().expect("a folder");
    let sample = checkout().join("plugins/math/sample.jsonl");
    let check = |file: &Path, name: &str, rows_min: u64| {
        let results = folder.path().join(name);
        let call = [
            "score",
            text(file),
            "--plugin",
            "math@prod",
            "--output",
            text(&results),
            "--require-agreement",
            "-o",
            "json",
        ];
        let summary: Value = assay(Some(&host), &call).json(0);
        let rows = summary["rows"].as_u64().expect("a number");
        assert!(rows >= rows_min, "{rows} rows");
        for count in
            [&summary["scored"], &summary["agreement"]["compared"], &summary["agreement"]["agreed"]]
        {
            assert_eq!(count.as_u64(), Some(rows), "{summary:#}");
        }
        assert_eq!(lines(&results).len() as u64, rows);
    };
    check(&sample, "sample", 300);
    match shared("data/gsm8k_answers.jsonl") {
        Some(file) => check(&file, "gsm8k", 5_276),
        None => eprintln!(
            "\n!!! NOT CHECKED: the 5,276 GSM8K answers are not here; put data/gsm8k_answers.jsonl \
             into the folder that ASSAY_SHARED names !!!\n"
        ),
    }
}
