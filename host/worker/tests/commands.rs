//! The commands that need no host.

use assay_core::architecture::Architecture;
use assay_core::id::Digest;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

use crate::binary::{compile, guest, worker};

#[test]
fn the_engine_has_a_name() {
    let done = worker().arg("engine").output().expect("the worker starts");
    assert!(done.status.success());
    let name = String::from_utf8(done.stdout).expect("text");
    assert_eq!(name.trim_end(), assay_sandbox::engine_id());
}

#[test]
fn a_plugin_is_compiled_for_the_other_architecture() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let run = |arguments: &[&str]| {
        let done = worker().args(arguments).output().expect("the worker starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("text")
    };
    for architecture in Architecture::ALL.map(Architecture::name) {
        let engine = run(&["engine", "--architecture", architecture]);
        let (component, out) = (guest("liar"), out.to_str().expect("text"));
        let component = component.to_str().expect("text");
        let line = run(&["cross-compile", component, "--architecture", architecture, "--out", out]);
        let report: Value = serde_json::from_str(&line).expect("JSON");
        let digest = Digest::of(&std::fs::read(out).expect("a file")).to_string();
        let code = json!({"engine": engine.trim_end(), "compiled_digest": digest});
        assert_eq!(report, json!({"ok": code}));
        let is_own = architecture == Architecture::own().name();
        assert_eq!(engine.trim_end() == assay_sandbox::engine_id(), is_own);
    }
}

/// A release has no fake driver.
#[cfg(debug_assertions)]
#[test]
fn a_driver_is_found_where_the_environment_says() {
    let program = std::env::current_exe().expect("a test has a path");
    let driver = program.with_file_name("libassay_fake_cuda.so");
    assert!(driver.exists(), "{} is missing: cargo build -p assay-fake-cuda", driver.display());
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("libcuda.so");
    std::os::unix::fs::symlink(driver, library).expect("a link");
    let mut command = worker();
    command.args(["doctor", "--gpu", "cuda"]).env("LD_LIBRARY_PATH", folder.path());
    let done = command.output().expect("the worker starts");
    let report: Value = serde_json::from_slice(&done.stdout).expect("a line of JSON");
    assert_eq!(report["gpu"]["Ok"]["simulated"], false, "{report}");
}

#[test]
fn an_upload_becomes_a_plugin() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    let report = compile(&guest("liar"), &out);
    let plugin = &report["ok"];
    assert_eq!(plugin["engine"], assay_sandbox::engine_id());
    assert_eq!(plugin["description"]["name"], "liar");
    assert_eq!(plugin["description"]["stages"][1]["name"], "score");
    assert!(
        plugin["imports"].as_array().expect("a list").iter().any(|i| i == "assay:reward/log@0.1.0")
    );
    let digest = |path| Digest::of(&std::fs::read(path).expect("a file")).to_string();
    assert_eq!(plugin["digest"], digest(guest("liar")));
    assert_eq!(plugin["compiled_digest"], digest(out));
}

#[test]
fn a_refusal_is_a_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let (upload, out) = (folder.path().join("upload"), folder.path().join("out"));
    std::fs::write(&upload, "not a component").expect("written");
    let report = compile(&upload, &out);
    let message = report["refused"]["message"].as_str().expect("a reason");
    assert!(message.contains("no WebAssembly component"), "{message}");
    assert!(!out.exists());
}

#[test]
fn a_failure_of_ours_is_no_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("missing");
    let done = worker().arg("compile").arg(&missing).arg("--out").arg(&missing).output();
    let done = done.expect("the worker starts");
    assert!(!done.status.success());
    assert!(done.stdout.is_empty());
}

/// The component is a pipe, from which the compiler has not read when its limits are looked at.
#[test]
fn processor_time_is_limited_and_wall_time_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let component = folder.path().join("component");
    let made = std::process::Command::new("mkfifo").arg(&component).status();
    assert!(made.expect("mkfifo runs").success());
    let mut child = worker()
        .arg("compile")
        .arg(&component)
        .arg("--out")
        .arg(folder.path().join("out"))
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("the worker starts");
    let pipe = std::fs::OpenOptions::new().write(true).open(&component).expect("a reader came");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("it runs");
    let line = limits.lines().find(|line| line.starts_with("Max cpu time")).expect("has a line");
    let seconds = assay_core::limits::COMPILE_CPU_SECONDS_MAX.to_string();
    assert!(line.split_whitespace().any(|word| word == seconds), "{line}");
    drop(pipe);
    assert!(child.wait().expect("it ends").success(), "an empty component is refused");
}

/// A component of 240 kB, for which the compiler keeps a place for each variable in each of many loops.
fn memory_bomb() -> Vec<u8> {
    const LOOPS: usize = 40_000;
    const VARIABLES: u32 = 20_000;
    let mut code = Vec::new();
    code.extend([1]);
    number(&mut code, VARIABLES);
    code.push(0x7f);
    code.extend([0x03, 0x40, 0x0b].repeat(LOOPS));
    for variable in 0..VARIABLES {
        code.extend([0x41, 0, 0x21]);
        number(&mut code, variable);
    }
    code.push(0x0b);
    let mut bodies = vec![1];
    number(&mut bodies, u32::try_from(code.len()).expect("small"));
    bodies.extend(code);
    let mut module = b"\0asm\x01\0\0\0".to_vec();
    for (section, content) in [(1, vec![1, 0x60, 0, 0]), (3, vec![1, 0]), (10, bodies)] {
        part(&mut module, section, &content);
    }
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    part(&mut component, 1, &module);
    component
}

fn part(binary: &mut Vec<u8>, section: u8, content: &[u8]) {
    binary.push(section);
    number(binary, u32::try_from(content.len()).expect("small"));
    binary.extend(content);
}

/// A number of WebAssembly (LEB128).
fn number(binary: &mut Vec<u8>, mut number: u32) {
    while number > 0x7f {
        binary.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    binary.push(number.to_le_bytes()[0]);
}

#[test]
fn a_compilation_that_takes_all_memory_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (upload, out) = (folder.path().join("upload"), folder.path().join("out"));
    let bomb = memory_bomb();
    assert!(bomb.len() < 250_000, "{}", bomb.len());
    std::fs::write(&upload, bomb).expect("written");
    let report = compile(&upload, &out);
    let message = report["refused"]["message"].as_str().expect("a reason");
    assert!(
        message.contains("more than 2 GiB of memory") && message.contains("split"),
        "{message}"
    );
    assert!(!out.exists());
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).expect("the kernel counts").max_rss();
    assert!(used < 3 << 20, "{used} KiB");
}

#[test]
fn golden_cases_pass_or_fail_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, bad) = (folder.path().join("good.yaml"), folder.path().join("bad.yaml"));
    let case = |name: &str, reward: f64| {
        format!(
            "name: {name}\nrequest: {{response: ab}}\nexpect: {{outcome: scored, reward: {reward}}}\n"
        )
    };
    std::fs::write(&good, case("even length", 1.0)).expect("written");
    std::fs::write(&bad, case("odd length", 0.0)).expect("written");
    let test = |cases: &[&std::path::Path]| {
        let done = worker().arg("test").arg(guest("trivial")).args(cases).output();
        let done = done.expect("the worker starts");
        (done.status.success(), String::from_utf8(done.stdout).expect("text"))
    };
    assert_eq!(test(&[&good]), (true, "ok      even length\n1 passed, 0 failed\n".into()));
    let (passed, said) = test(&[&good, &bad]);
    assert!(!passed);
    assert!(said.contains("FAILED  odd length: expected the reward 0"), "{said}");
}
