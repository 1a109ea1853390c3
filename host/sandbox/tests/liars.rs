//! Every lie has an outcome that says what happened, and the sandbox serves on after it.

use std::process::Command;
use std::time::Duration;

use assay_core::limits;
use assay_core::outcome::{ErrorCode, Scored, StageEnd};
use assay_sandbox::capability::log::Level;
use assay_sandbox::{Input, StageCall, StageRun};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::guests::{call, liar};

/// Runs a lie and then the truth: whatever the guest did, the next call finds nothing of it.
fn run(call: StageCall<'_>) -> StageRun {
    let run = liar().run(call);
    let after = liar().run(crate::guests::call("count"));
    assert_eq!(reward(&after.end), 1.0, "the sandbox serves on, in a fresh instance");
    run
}

fn scored(end: &StageEnd) -> &Scored {
    match end {
        StageEnd::Scored(scored) => scored,
        other => panic!("expected a reward, got {other:?}"),
    }
}

fn reward(end: &StageEnd) -> f64 {
    scored(end).reward
}

fn fails(call: StageCall<'_>, code: ErrorCode, message: &str) {
    let lie = call.request.response.to_owned();
    match run(call).end {
        StageEnd::Failed(error) => {
            assert_eq!(error.code, code, "{lie}: {}", error.message);
            assert!(error.message.contains(message), "{lie}: {}", error.message);
            assert!(error.message.len() <= limits::ERROR_MESSAGE_BYTES_MAX);
        }
        other => panic!("{lie}: expected {code}, got {other:?}"),
    }
}

#[test]
fn an_endless_guest_is_stopped_at_its_deadline() {
    for lie in ["spin", "sleep_for_ever"] {
        let timeout = Duration::from_millis(50);
        let run = run(StageCall { timeout, ..call(lie) });
        assert_eq!(run.end, StageEnd::TimedOut, "{lie}");
        assert!(run.ran.0 >= 50_000, "{lie} ended early, after {} µs", run.ran.0);
        // The number itself is a benchmark's; here it must only not hang.
        assert!(run.ran.0 < 60_000_000, "{lie} ended late, after {} µs", run.ran.0);
    }
}

#[test]
fn sleeping_returns_at_once() {
    let run = run(StageCall { timeout: Duration::from_secs(20), ..call("sleep") });
    assert_eq!(scored(&run.end).explanation, "slept");
}

#[test]
fn memory_is_limited_by_the_stage() {
    let limited = StageCall { memory_bytes_max: 16 << 20, ..call("allocate") };
    fails(limited, ErrorCode::OutOfMemory, "the limit is 16777216");
    let too_small_to_start = StageCall { memory_bytes_max: 1 << 16, ..call("count") };
    fails(too_small_to_start, ErrorCode::OutOfMemory, "the limit is 65536");
}

/// Its process may have no more data than that of a guest that has begun.
#[test]
#[ignore = "the other one runs it"]
fn a_worker_without_memory() {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    reward(&liar().run(call("count")).end);
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).expect("on Linux");
    let kib: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    let bytes_max = (kib << 10) + (64 << 20);
    let (before, most) = getrlimit(Resource::RLIMIT_DATA).expect("Linux");
    setrlimit(Resource::RLIMIT_DATA, bytes_max, most).expect("less than before");
    let run = liar().run(StageCall { memory_bytes_max: 1 << 30, ..call("allocate") });
    // The test itself still needs memory.
    setrlimit(Resource::RLIMIT_DATA, before, most).expect("as before");
    match run.end {
        StageEnd::Failed(error) => {
            assert_eq!(error.code, ErrorCode::LeaseExpired, "{}", error.message);
            assert!(error.message.contains("did not give the memory"), "{}", error.message);
        }
        other => panic!("expected a failure, got {other:?}"),
    }
    println!("\nit lacked memory");
}

#[test]
fn memory_that_the_machine_lacks_is_no_fault_of_the_guest() {
    let child = Command::new(std::env::current_exe().expect("a running test has a path"))
        .args(["--ignored", "--exact", "--nocapture", "liars::a_worker_without_memory"])
        .output()
        .expect("started");
    let printed = String::from_utf8_lossy(&child.stdout);
    let failure = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && printed.contains("it lacked memory"), "{printed}{failure}");
}

#[test]
fn both_stacks_are_limited() {
    for lie in ["recurse", "recurse_deep"] {
        let mut deep = call(lie);
        deep.request.seed = u64::MAX;
        fails(deep, ErrorCode::StackOverflow, "stack overflowed");
    }
}

#[test]
fn a_trap_says_what_the_guest_said() {
    fails(call("abort"), ErrorCode::PluginTrap, "panicked or aborted");
    fails(call("panic"), ErrorCode::PluginTrap, "the answer was not there");
    fails(call("divide"), ErrorCode::PluginTrap, "divide by zero");
    fails(call("exit"), ErrorCode::PluginTrap, "exit status");
}

#[test]
fn nonsense_is_no_reward() {
    for (lie, message) in [
        ("nan", "NaN"),
        ("infinite", "inf"),
        ("verdict_huge", "the verdict has 1048576 bytes"),
        ("verdict_empty", "the verdict has 0 bytes"),
        ("explanation_huge", "the explanation has 1048576 bytes"),
        ("components_many", "1000 components"),
        ("components_twice", "two components are called `same`"),
        ("next", "last stage"),
    ] {
        fails(call(lie), ErrorCode::BadOutcome, message);
    }
}

#[test]
fn an_artifact_is_limited() {
    let first = |lie| StageCall { stage: "prepare", last: false, ..call(lie) };
    fails(first("artifact_huge"), ErrorCode::BadOutcome, "the artifact has 16777217 bytes");
    let roomy = StageCall { memory_bytes_max: 256 << 20, ..first("artifact_enormous") };
    fails(roomy, ErrorCode::BadOutcome, "cannot be read");
    fails(first("artifact_type_huge"), ErrorCode::BadOutcome, "content type has 1048576 bytes");
    match run(first("next")).end {
        StageEnd::Next(artifact) => assert_eq!(artifact.bytes, b"for the next stage"),
        other => panic!("expected an artifact, got {other:?}"),
    }
}

#[test]
fn a_guest_s_own_errors_keep_their_kind() {
    fails(call("bad_request"), ErrorCode::BadRequest, "no label");
    fails(call("bad_settings"), ErrorCode::BadSettings, "no such knob");
    fails(call("unavailable"), ErrorCode::Unavailable, "no GPU");
    fails(call("internal"), ErrorCode::PluginError, "xxx");
}

#[test]
fn floods_are_cut_off_and_never_an_error() {
    let flooded = run(call("log_flood"));
    assert_eq!(reward(&flooded.end), 1.0);
    assert_eq!(flooded.logs.len(), limits::LOG_LINES_MAX);
    assert_eq!(flooded.logs[0].message, "line 0");
    assert_eq!(flooded.logs[63].message, "9937 more lines were dropped");

    let long = run(call("log_long"));
    assert_eq!(long.logs.len(), 1);
    assert_eq!(long.logs[0].level, Level::Warn);
    assert_eq!(long.logs[0].message.len(), limits::LOG_LINE_BYTES_MAX);

    let printed = run(call("print_flood"));
    assert_eq!(reward(&printed.end), 1.0);
    let lines = |level| printed.logs.iter().filter(|line| line.level == level).count();
    // 16 whole lines of 1,000 bytes and a part of the next fit, of each.
    assert_eq!((lines(Level::Info), lines(Level::Warn)), (17, 17));
}

#[test]
fn nothing_of_the_machine_is_seen() {
    let run = run(call("ambient"));
    let expected = "variables: 0\narguments: 0\nfile: refused\nfolder: refused\nwritten: refused\n\
                    stdin: Ok(0)\nelapsed: 0ns\ntoday: Ok(946684800s)";
    assert_eq!(scored(&run.end).explanation, expected);
}

#[test]
fn there_is_no_network() {
    let run = run(call("network"));
    assert_eq!(scored(&run.end).explanation, "tcp: refused\nudp: refused\nname: refused");
}

#[test]
fn randomness_comes_from_the_seed() {
    let random = |seed| {
        let mut call = call("random");
        call.request.seed = seed;
        scored(&run(call).end).explanation.clone()
    };
    assert_eq!(random(1), random(1));
    assert_ne!(random(1), random(2));
}

#[test]
fn everything_sent_arrives() {
    let input = Some(Input { content_type: "text/plain", bytes: b"\x01\x02" });
    let sent = StageCall { settings: "{\"knob\":1}", input, ..call("seen") };
    assert_eq!(
        scored(&run(sent).end).explanation,
        "score {\"knob\":1} a-request Some(\"a-group\") a prompt seen {\"answer\":42} null 2 7 \
         Some((\"text/plain\", [1, 2]))"
    );
}

#[test]
fn calls_from_several_threads_do_not_meet() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(reward(&liar().run(call("count")).end), 1.0);
                }
            });
        }
    });
}
