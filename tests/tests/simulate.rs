//! `assay simulate` as its user runs it: traces drawn, replayed, compared, drawn as charts.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use assay_tests::{CommandResult, assay, program};
use serde_json::{Value, json};
use tempfile::TempDir;

const SMALL: [&str; 6] =
    ["--tasks=2", "--iterations=3", "--batch=48", "--seed=2", "--stagger-s=30", "--group-size=8"];

fn simulate(arguments: &[&str]) -> CommandResult {
    assay(None, &[&["simulate"], arguments].concat())
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

fn drawn(more: &[&str]) -> String {
    let ended = simulate(&[&["generate"], &SMALL[..], more].concat());
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "{ended:#?}");
    ended.stdout
}

/// A small trace in a folder.
fn trace(folder: &TempDir) -> String {
    let path = folder.path().join("trace.jsonl");
    fs::write(&path, drawn(&[])).expect("a file");
    text(&path).to_owned()
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, says: &[&str]) {
    let ended = simulate(arguments);
    assert_eq!((ended.code, &*ended.stdout), (Some(code), ""), "{ended:#?}");
    for part in says {
        assert!(ended.stderr.contains(part), "no `{part}` in {}", ended.stderr);
    }
}

#[test]
fn cells_plan_alone_and_are_told_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("many.jsonl");
    let five = SMALL.map(|argument| if argument == "--tasks=2" { "--tasks=5" } else { argument });
    let drawn = simulate(&[&["generate"], &five[..]].concat()).stdout;
    fs::write(&path, drawn).expect("a file");
    let replayed = |cells: &str| -> Value {
        simulate(&[text(&path), "--cells", cells, "--policy", "assay,limit", "-o", "json"]).json(0)
    };
    let (whole, cells) = (replayed("1"), replayed("2"));
    for (whole, cells) in [0, 1].map(|at| (&whole["policies"][at], &cells["policies"][at])) {
        assert_eq!(whole["cells"], Value::Null, "one cell is no cell among several");
        assert_eq!(
            (&whole["batches"], &whole["requests"]),
            (&cells["batches"], &cells["requests"])
        );
        let number = |value: &Value| value.as_f64().expect("a number");
        let parts = cells["cells"].as_array().expect("cells");
        assert_eq!(parts.len(), 2);
        for part in ["batches", "requests"] {
            assert_eq!(
                parts.iter().map(|cell| number(&cell[part])).sum::<f64>(),
                number(&cells[part])
            );
        }
        for pool in ["compile", "execute"] {
            let all = &cells["pools"][pool];
            let of_cells = |what: &str| {
                parts.iter().map(|cell| number(&cell["pools"][pool][what])).collect::<Vec<_>>()
            };
            let time: f64 = of_cells("allocated_worker_s").iter().sum();
            assert!((time - number(&all["allocated_worker_s"])).abs() < 1e-3, "{cells:#}");
            let (peaks, peak) = (of_cells("peak_workers"), number(&all["peak_workers"]));
            assert!(
                peaks.iter().all(|one| *one <= peak) && peak <= peaks.iter().sum(),
                "{cells:#}"
            );
        }
    }
    let ended = simulate(&[text(&path), "--cells", "2", "--policy", "assay"]);
    assert!(
        ended.stdout.contains("policy, cell") && ended.stdout.contains("assay, 2 "),
        "{ended:#?}"
    );
    refused(&[text(&path), "--cells", "0"], 2, &["--cells"]);
    refused(&[text(&path), "--cells", "2", "--weight", "a=2"], 2, &["--cells", "--weight"]);
}

#[test]
fn a_drawn_trace_is_replayed_under_every_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let policies = "assay,distrs,history,zq,ideal,limit,fixed:compile=96,execute=20";
    let report: Value = simulate(&[&trace(&folder), "--policy", policies, "-o", "json"]).json(0);
    assert_eq!(keys(&report), ["policies"].into());
    let policies = report["policies"].as_array().expect("policies");
    assert_eq!(policies.len(), 7);
    for policy in policies {
        let wanted = [
            "batches",
            "extra_delay_s",
            "failed_requests",
            "group_delay_s",
            "planner_s",
            "policy",
            "pools",
            "requests",
        ];
        assert_eq!(keys(policy), wanted.into());
        assert_eq!(keys(&policy["pools"]), ["compile", "execute"].into());
        let wanted = [
            "allocated_worker_s",
            "executed_worker_s",
            "norm",
            "peak_workers",
            "ratio_to_zq",
            "starts",
        ];
        let pool = &policy["pools"]["execute"];
        assert_eq!(keys(pool), wanted.into());
        assert_eq!(keys(&policy["extra_delay_s"]), ["max", "mean", "p50", "p90", "p99"].into());
        assert_eq!(keys(&policy["group_delay_s"]), ["max", "mean", "p99"].into());
        assert_eq!(keys(&policy["planner_s"]), ["max", "mean", "plans"].into());
        // The first iteration of each task is history; the work is the same under every policy.
        assert_eq!((&policy["batches"], &policy["requests"]), (&json!(4), &json!(192)));
        assert_eq!(policy["failed_requests"], json!(0));
        let executed = policies[0]["pools"]["execute"]["executed_worker_s"].as_f64().expect("it");
        assert!((pool["executed_worker_s"].as_f64().expect("it") - executed).abs() < 1e-3);
        assert!(pool["norm"].as_f64().expect("it") >= 1.0, "{policy}");
    }
    assert_eq!(policies[3]["pools"]["execute"]["ratio_to_zq"], json!(1.0));
    assert_eq!(policies[6]["pools"]["execute"]["peak_workers"], json!(20));
}

#[test]
fn a_trace_can_be_drawn_again_from_its_own_specification() {
    let folder = tempfile::tempdir().expect("a folder");
    let once = drawn(&["--shift", "at=2,execute=2.5,timeouts=0.08", "--mode", "disaggregated"]);
    let meta: Value = serde_json::from_str(once.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&meta["mode"], &meta["seed"]), (&json!("disaggregated"), &json!(2)));
    let spec = folder.path().join("spec.json");
    fs::write(&spec, meta["spec"].to_string()).expect("a file");
    let again = simulate(&["generate", "--spec", text(&spec)]);
    assert_eq!((again.code, again.stdout == once), (Some(0), true));
    let other = simulate(&["generate", "--spec", text(&spec), "--seed", "3"]);
    assert_eq!((other.code, other.stdout == once), (Some(0), false));
}

#[test]
fn every_workload_is_drawn_and_gzip_is_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    for (workload, last) in
        [("cuda", "execute"), ("judge", "run"), ("mixture", "grade"), ("agent", "gpu")]
    {
        let path = folder.path().join(format!("{workload}.jsonl.gz"));
        let mut command = Command::new(program("assay"));
        command.args(["simulate", "generate", "-z", "--workload", workload]).args(SMALL);
        let output = command.output().expect("assay runs");
        assert!(output.status.success() && output.stdout.starts_with(&[0x1f, 0x8b]));
        fs::write(&path, output.stdout).expect("a file");
        let report: Value = simulate(&[text(&path), "--policy", "zq", "-o", "json"]).json(0);
        let pools = &report["policies"][0]["pools"];
        assert!(pools[last]["executed_worker_s"].as_f64() > Some(0.0), "{report}");
    }
}

#[test]
fn charts_are_drawn_for_every_stage_and_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let charts = folder.path().join("a/new/folder");
    let ended = simulate(&[&trace(&folder), "--policy", "zq,distrs", "--plot", text(&charts)]);
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    assert_eq!(ended.stdout.lines().count(), 3, "{}", ended.stdout);
    let mut names: Vec<String> = fs::read_dir(&charts)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    let wanted = [
        "delays.svg",
        "norms.svg",
        "stage-distrs-compile.svg",
        "stage-distrs-execute.svg",
        "stage-zq-compile.svg",
        "stage-zq-execute.svg",
        "workers-compile.svg",
        "workers-execute.svg",
    ];
    assert_eq!(names, wanted);
    for name in names {
        let chart = fs::read_to_string(charts.join(name)).expect("a chart");
        assert!(chart.starts_with("<svg") && chart.trim_end().ends_with("</svg>"));
    }
}

#[test]
fn errors_say_what_to_change() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = trace(&folder);
    refused(&["/nowhere/trace"], 1, &["cannot open /nowhere/trace"]);
    let other = folder.path().join("other.jsonl");
    fs::write(&other, "{}\n").expect("a file");
    refused(&[text(&other)], 1, &["other.jsonl is not a trace", "line 1"]);
    refused(&[&trace, "--policy", "best"], 2, &["`best` is none of assay, distrs"]);
    refused(&[&trace, "--quota", "gpu=3"], 1, &["no pool `gpu`", "compile, execute"]);
    refused(&[&trace, "--quota", "execute=0"], 2, &["1 or more"]);
    refused(&["generate", "--shift", "length=2"], 2, &["the iteration is missing"]);
    refused(&["generate", "--shift", "at=1,width=2"], 2, &["`width=2` is not one of at=ITERATION"]);
    refused(&["generate", "--shift", "at=1,length=0"], 1, &["shifts.length is 0", "between"]);
    refused(&["generate", "--batch", "0"], 1, &["trainer.batch is 0", "between 1 and"]);
    let large = ["generate", "--tasks", "1000", "--iterations", "1000", "--batch", "1000"];
    refused(&large, 1, &["1000000000 requests", "the limit is 10000000"]);
    refused(&["generate", "--spec", "/nowhere"], 1, &["cannot open /nowhere"]);
    fs::write(&other, r#"{"trainer":{"task":1}}"#).expect("a file");
    let says = ["is not a specification", "unknown field `task`"];
    refused(&["generate", "--spec", text(&other)], 1, &says);
}
