//! The interfaces that a plugin may use beyond the empty system interface: the call grants them, not the
//! import, and they end with the call's time.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::outcome::{ErrorCode, StageEnd};
use assay_gpu::session::{DeviceKind, Gpu, GpuSettings};
use assay_sandbox::StageCall;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::gpu::StageDevice;
use assay_sandbox::capability::storage::{ObjectError, Storage};

use crate::guests::{Plugin, call, liar};
use crate::machine::{bare, with_helper, without_toolchains};

fn execute() -> &'static Plugin {
    static EXECUTE: OnceLock<Plugin> = OnceLock::new();
    EXECUTE.get_or_init(|| Plugin::new("execute"))
}

/// A call of the guest `execute`.
fn labelled(label: &str, capabilities: Option<Capabilities>) -> StageCall<'_> {
    let mut call = StageCall { stage: "run", capabilities, ..call("") };
    call.request.label = label;
    call
}

fn end(call: StageCall<'_>) -> StageEnd {
    execute().run(call).end
}

fn failed(end: &StageEnd, code: ErrorCode, message: &str) {
    match end {
        StageEnd::Failed(error) if error.code == code => {
            assert!(error.message.contains(message), "{}", error.message);
        }
        other => panic!("expected {code}, got {other:?}"),
    }
}

#[test]
fn a_plugin_that_imports_them_asks_for_them() {
    let plugin = execute();
    for import in ["assay:exec/exec@0.1.0", "assay:reward/storage@0.1.0"] {
        assert!(plugin.compiled.imports.iter().any(|name| name == import), "{import}");
    }
    assert!(plugin.loaded.asks());
    assert!(!liar().loaded.asks());
}

#[test]
fn a_call_without_them_finds_them_unavailable() {
    for (label, message) in [
        (r#"{"toolchain": "cpython-3"}"#, "no programs are run here"),
        (r#"{"storage_get": "judge/sum/1.in"}"#, "there is no storage here"),
        (r#"{"storage_names": "judge"}"#, "there is no storage here"),
    ] {
        failed(&end(labelled(label, None)), ErrorCode::Unavailable, message);
    }
}

#[test]
fn a_machine_without_boxes_is_no_verdict_and_is_not_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = bare(folder.path());
    let end = end(labelled(r#"{"toolchain": "cpython-3"}"#, Some(granted)));
    failed(&end, ErrorCode::Unavailable, "");
    let place = folder.path().to_str().expect("text");
    assert!(!format!("{end:?}").contains(place), "{end:?}");
}

#[test]
fn toolchains_that_cannot_be_listed_are_not_missing() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = bare(folder.path());
    // The guest looks for it in the list of all.
    let end = end(labelled(r#"{"toolchain": "nowhere"}"#, Some(granted)));
    failed(&end, ErrorCode::Unavailable, "No such file");
}

#[test]
fn objects_are_read_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("roots/judge");
    std::fs::create_dir_all(root.join("sum")).expect("created");
    std::fs::write(root.join("sum/1.in"), "1 2\n").expect("written");
    std::fs::write(folder.path().join("secret"), "out of reach").expect("written");
    let granted = bare(folder.path());
    let told = |label: &str| match end(labelled(label, Some(granted.clone()))) {
        StageEnd::Scored(scored) => scored.explanation,
        other => format!("{other:?}"),
    };
    assert_eq!(told(r#"{"storage_get": "judge/sum/1.in"}"#), "1 2\n");
    assert_eq!(told(r#"{"storage_names": "judge"}"#), r#"["judge/sum/1.in"]"#);
    for label in [
        r#"{"storage_get": "judge/../../secret"}"#,
        r#"{"storage_get": "/etc/passwd"}"#,
        r#"{"storage_get": "judge/sum/2.in"}"#,
        r#"{"storage_names": "other"}"#,
    ] {
        let said = told(label);
        assert!(said.contains("BadRequest"), "{label}: {said}");
    }
}

#[test]
fn who_may_run_programs_hands_over_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = without_toolchains(folder.path());
    let padded = |mib: usize, granted: Option<&Capabilities>| {
        let label = format!(r#"{{"toolchain": "cpython-3", "pad_bytes": {}}}"#, mib << 20);
        let call = labelled(&label, granted.cloned());
        end(StageCall { memory_bytes_max: 1 << 30, ..call })
    };
    failed(&padded(40, None), ErrorCode::PluginTrap, "fuel");
    failed(&padded(200, None), ErrorCode::PluginTrap, "fuel");
    match padded(200, Some(&granted)) {
        StageEnd::Failed(error) => assert_ne!(error.code, ErrorCode::PluginTrap, "{error:?}"),
        other => panic!("{other:?}"),
    }
    failed(&padded(300, Some(&granted)), ErrorCode::PluginTrap, "fuel");
}

/// The time of a stage that waits for longer than that.
const SHORT: Duration = Duration::from_millis(500);

/// Answers after the time that a stage of [`SHORT`] may use.
struct Slow;

impl Slow {
    fn wait() {
        let until = Instant::now() + SHORT * 2;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left.max(Duration::from_micros(1)));
        }
    }
}

impl Storage for Slow {
    fn get(&self, _name: &str, _deadline: Instant) -> Result<Vec<u8>, ObjectError> {
        Self::wait();
        Ok(b"1 2\n".to_vec())
    }

    fn locate(&self, _name: &str, _deadline: Instant) -> Result<Digest, ObjectError> {
        Self::wait();
        Err(ObjectError::Deadline)
    }

    fn names(&self, _folder: &str, _deadline: Instant) -> Result<Vec<String>, ObjectError> {
        Self::wait();
        Err(ObjectError::Deadline)
    }
}

/// The guest would make an error of what it is told, and gets no chance to.
#[test]
fn a_slow_object_uses_no_time_of_the_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = Capabilities { storage: Arc::new(Slow), ..bare(folder.path()) };
    let run = |label: &str| {
        let call = labelled(label, Some(granted.clone()));
        execute().run(StageCall { timeout: SHORT, ..call })
    };
    let got = run(r#"{"storage_get": "judge/x"}"#);
    assert!(matches!(&got.end, StageEnd::Scored(it) if it.explanation == "1 2\n"), "{got:?}");
    let late = run(r#"{"storage_names": "judge"}"#);
    failed(&late.end, ErrorCode::LeaseExpired, "an object");
    for run in [got, late] {
        assert!(run.ran.0 > run.used.0, "{run:?}");
    }
}

/// A program that takes longer to end than a stage of [`SHORT`] may take, and is of no use.
fn slow_program(folder: &std::path::Path) -> PathBuf {
    let program = folder.join("slow");
    std::fs::write(&program, "#!/bin/sh\nsleep 1\n").expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("ours");
    program
}

#[test]
fn a_device_that_gets_ready_uses_no_time_of_the_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = slow_program(folder.path());
    let kind = DeviceKind::Simulated;
    let device = StageDevice::Gpu(Gpu::new(GpuSettings { program, kind }));
    let mut call = call("");
    call.capabilities = Some(Capabilities { device, ..bare(folder.path()) });
    call.timeout = SHORT;
    let run = Plugin::new("gpu_opener").run(call);
    failed(&run.end, ErrorCode::Unavailable, "the executor ended");
}

#[test]
fn a_helper_that_is_started_uses_no_time_of_the_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = with_helper(folder.path(), slow_program(folder.path()));
    let call = labelled(r#"{"toolchain": "cpython-3"}"#, Some(granted));
    let run = execute().run(StageCall { timeout: SHORT, ..call });
    failed(&run.end, ErrorCode::Unavailable, "the helper is gone");
}
