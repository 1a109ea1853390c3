//! The shipped plugins' golden cases, run by the program that plugin authors run.

use std::process::Command;

use assay_tests::{checkout, component_path, is_root, program};

fn check(plugin: &str, component: &str, cases: usize) {
    check_with(&[], plugin, component, cases);
}

fn check_with(options: &[&str], plugin: &str, component: &str, cases: usize) {
    let folder = checkout().join("plugins").join(plugin).join("cases");
    let files: Vec<_> = std::fs::read_dir(&folder)
        .expect("a plugin has cases")
        .map(|entry| entry.expect("readable").path())
        .collect();
    assert!(files.len() >= cases, "{} has {} cases", folder.display(), files.len());
    let run = Command::new(program("assay-worker"))
        .arg("test")
        .args(options)
        .arg(component_path(component))
        .args(&files)
        .output()
        .expect("the worker program runs");
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{told}{}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn hello_keeps_its_golden_cases() {
    check("hello", "assay_plugin_hello", 4);
}

#[test]
fn math_keeps_its_golden_cases() {
    check("math", "assay_plugin_math", 8);
}

#[test]
fn judge_keeps_its_golden_cases() {
    check("judge", "assay_plugin_judge", 3);
}

#[test]
fn format_keeps_its_golden_cases() {
    check("format", "assay_plugin_format", 6);
}

#[test]
fn run_keeps_its_golden_cases() {
    let weaker: &[&str] = if is_root() { &[] } else { &["--weaker", "cgroups"] };
    check_with(weaker, "run", "assay_plugin_run", 5);
}
