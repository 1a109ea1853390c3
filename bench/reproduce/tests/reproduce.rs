//! `assay-reproduce` as its user runs it: the report with its charts, and the comparison of vectors.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

#[derive(Debug)]
struct CommandResult {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn reproduce(arguments: &[&str]) -> CommandResult {
    let program = env!("CARGO_BIN_EXE_assay-reproduce");
    let output = Command::new(program).args(arguments).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("it writes text");
    let (stdout, stderr) = (text(output.stdout), text(output.stderr));
    CommandResult { code: output.status.code(), stdout, stderr }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// A file of the reference folder beside the checkout, if it exists.
fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = env::var_os("ASSAY_SHARED").map_or_else(beside, PathBuf::from);
    Some(folder.join(name)).filter(|file| file.exists())
}

/// Two requests of 2 s for one stage; their batch may take 5 s, so one worker is enough.
fn vector() -> Value {
    let request = json!({ "arr": 0.0, "s": [2.0], "stage": 0, "running": false, "batch": 0 });
    json!({
        "case": 7, "now": 0.0, "D": 0.0, "lt_check": false, "policy": "EBF", "timeout": [10.0],
        "cost": [1.0], "T": [5.0], "priority": [5.0], "requests": [request, request],
        "algorithm1": [1],
        "simulate": [{ "num": [1], "sat": true, "batch_finish": [4.0] }],
    })
}

#[test]
fn a_row_of_vectors_that_differs_is_named_and_fails_the_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |vector: &Value| {
        let path = folder.path().join("vectors.jsonl");
        fs::write(&path, vector.to_string()).expect("a file");
        reproduce(&["vectors", text(&path)])
    };
    let sound = check(&vector());
    assert_eq!((sound.code, &*sound.stdout), (Some(0), "1 vectors, 2 rows: 0 differences\n"));
    let mut tampered = vector();
    tampered["simulate"][0]["batch_finish"] = json!([3.5]);
    let differs = check(&tampered);
    assert_eq!(differs.code, Some(1), "{differs:#?}");
    assert!(differs.stdout.contains("case 7, [1] workers: batch 0 ends at 4 s, not 3.5 s"));
    tampered["algorithm1"] = json!([2]);
    let differs = check(&tampered);
    assert!(differs.stdout.contains("case 7, algorithm 1: [1], not [2]"), "{differs:#?}");
    assert!(differs.stdout.ends_with("1 vectors, 2 rows: 2 differences\n"), "{differs:#?}");
    tampered["cost"] = json!([]);
    let broken = check(&tampered);
    assert_eq!((broken.code, broken.stderr.contains("line 1: ")), (Some(1), true), "{broken:#?}");
}

#[test]
fn the_reference_agrees_on_its_vectors() {
    let Some(vectors) = shared("traces/simulate_vectors.jsonl.gz") else {
        println!("skipped: the reference's vectors are not beside the checkout");
        return;
    };
    let ended = reproduce(&["vectors", text(&vectors)]);
    let wanted = "36 vectors, 180 rows: 0 differences\n";
    assert_eq!((ended.code, &*ended.stdout), (Some(0), wanted));
}

#[test]
fn a_report_is_a_page_with_its_charts() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("docs");
    let ended = reproduce(&["report", "--quick", "--out", text(&out)]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert!(ended.stdout.contains("goals met"), "{ended:#?}");
    let page = fs::read_to_string(out.join("reproduction.md")).expect("the page");
    assert!(page.contains("its numbers mean nothing"), "a quick page must not pass for a real one");
    let mut charts = 0;
    for line in page.lines() {
        let Some((_, link)) = line.split_once("](reproduction/") else { continue };
        let chart = out.join("reproduction").join(link.trim_end_matches(')'));
        assert!(fs::read_to_string(&chart).expect(link).starts_with("<svg"), "{link}");
        charts += 1;
    }
    assert_eq!(charts, 12);
    for figure in 10..=15 {
        assert!(page.contains(&format!("Figure {figure}")), "no figure {figure}");
    }
}

#[test]
fn a_report_refuses_traces_that_are_no_folder() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let ended = reproduce(&["report", "--traces", text(file.path())]);
    assert_eq!((ended.code, &*ended.stdout), (Some(1), ""), "{ended:#?}");
    assert!(ended.stderr.contains("is not a folder"), "{ended:#?}");
}
