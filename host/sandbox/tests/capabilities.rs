//! The interfaces that a plugin may use beyond the empty system interface: the call grants them, not the
//! import, and they end with the call's time.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use assay_core::id::Digest;
use assay_core::outcome::{ErrorCode, StageEnd, StageError};
use assay_gpu::session::{DeviceKind, Gpu, GpuSettings};
use assay_sandbox::StageCall;
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::gpu::StageDevice;
use assay_sandbox::capability::storage::{ObjectError, Storage};

use crate::guests::{Plugin, call, liar};
use crate::machine::{bare, without_toolchains};

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

/// Answers when the stage's time is over, as a store that cannot be reached.
struct Late;

impl Late {
    fn wait<T>(deadline: Instant) -> Result<T, ObjectError> {
        while let Some(left) = deadline.checked_duration_since(Instant::now()) {
            std::thread::park_timeout(left.max(Duration::from_micros(1)));
        }
        Err(ObjectError::Unavailable("the store cannot be reached".into()))
    }
}

impl Storage for Late {
    fn get(&self, _name: &str, deadline: Instant) -> Result<Vec<u8>, ObjectError> {
        Self::wait(deadline)
    }

    fn locate(&self, _name: &str, deadline: Instant) -> Result<Digest, ObjectError> {
        Self::wait(deadline)
    }

    fn names(&self, _folder: &str, deadline: Instant) -> Result<Vec<String>, ObjectError> {
        Self::wait(deadline)
    }
}

/// The guest would make an error of what it is told, and gets no chance to.
#[test]
fn what_takes_until_the_deadline_ends_the_stage() {
    let folder = tempfile::tempdir().expect("a folder");
    let granted = Capabilities { storage: Arc::new(Late), ..bare(folder.path()) };
    for label in [r#"{"storage_get": "judge/x"}"#, r#"{"storage_names": "judge"}"#] {
        let timeout = Duration::from_millis(50);
        let run = execute().run(StageCall { timeout, ..labelled(label, Some(granted.clone())) });
        // Where the machine stands still meanwhile, the time was not the guest's.
        let ours = |error: &StageError| error.code == ErrorCode::LeaseExpired;
        let starved = matches!(&run.end, StageEnd::Failed(error) if ours(error));
        assert!(run.end == StageEnd::TimedOut || starved, "{label}: {:?}", run.end);
        assert!(run.ran.0 >= 50_000, "{label} ended early, after {} µs", run.ran.0);
        assert!(run.ran.0 < 60_000_000, "{label} ended late, after {} µs", run.ran.0);
    }
}

/// A device whose executor starts and is never ready.
fn silent_device(folder: &std::path::Path) -> StageDevice {
    let program = folder.join("silent");
    std::fs::write(&program, "#!/bin/sh\nexec sleep 1000\n").expect("written");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("ours");
    let (kind, locks) = (DeviceKind::Simulated, folder.to_owned());
    StageDevice::Gpu(Gpu::new(GpuSettings { program, kind, locks }))
}

#[test]
fn a_device_that_is_opened_uses_the_time_of_the_call() {
    let folder = tempfile::tempdir().expect("a folder");
    let device = silent_device(folder.path());
    let mut call = call("");
    call.capabilities = Some(Capabilities { device, ..bare(folder.path()) });
    call.timeout = Duration::from_millis(500);
    let run = Plugin::new("gpu_opener").run(call);
    assert_eq!(run.end, StageEnd::TimedOut, "{:?}", run.logs);
}
