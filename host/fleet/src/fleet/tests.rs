//! With a shell script in a worker's place.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use super::*;
use crate::gpu::{Device, Gpu};
use crate::programs::SandboxLayer;

const SOON: Duration = Duration::from_secs(20);

/// A fleet whose workers run this script, in a folder of their own that they find as `$DIR`.
struct Scripted {
    fleet: Fleet,
    failures: Failures,
    folder: tempfile::TempDir,
}

impl Scripted {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("worker");
        let text = format!("#!/bin/sh\nDIR='{}'\n{script}\n", folder.path().display());
        std::fs::write(&program, text).expect("writes");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("sets");
        let nowhere = folder.path().join("socket");
        let launch = Launch {
            program,
            socket: nowhere.clone(),
            token: String::new(),
            cache: nowhere,
            programs: Programs {
                toolchains: Some("/further/toolchains".into()),
                weaker: vec![SandboxLayer::Cgroups, SandboxLayer::Landlock],
                trust: Some("/further/authorities.pem".into()),
                gpu: Gpu {
                    device: Some(Device::Simulated),
                    arch: "compute_90".into(),
                    toolkit: Some("/cuda".into()),
                    pools: ["fast".into()].into(),
                },
            },
        };
        let (fleet, failures) = Fleet::new(launch);
        Self { fleet, failures, folder }
    }

    /// The pool of the next start that came to nothing.
    async fn failure(&mut self) -> Option<Arc<str>> {
        let process = self.failures.recv().await.expect("the fleet is there");
        self.fleet.start_failed(process)
    }

    /// The process ids that scripts have written, in the order of their starts.
    async fn pids(&self, count: usize) -> Vec<u32> {
        let file = self.folder.path().join("pids");
        until(|| {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let pids: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            (pids.len() >= count).then_some(pids)
        })
        .await
    }
}

async fn until<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let answer = async {
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, answer).await.expect("it comes to that")
}

fn lives(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Each line is whole, so that several scripts may write; the shell itself waits, as `exec` would
/// leave nobody to catch a signal.
const WAITS: &str = "echo $$ >> $DIR/pids; while :; do /bin/sleep 0.02; done";

#[test]
fn the_pause_doubles_up_to_its_limit() {
    let pauses = [1, 2, 3, 8, 9, 100, u32::MAX].map(|level| pause(level).as_millis());
    assert_eq!(pauses, [50, 100, 200, 6_400, 10_000, 10_000, 10_000]);
}

#[tokio::test]
async fn a_start_that_fails_is_reported_once_with_its_reason() {
    let mut scripted = Scripted::new("exit 3");
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 3);
    for _ in 0..3 {
        assert_eq!(scripted.failure().await.as_deref(), Some("cpu"));
    }
    let trouble = scripted.fleet.troubles().remove(&pool).expect("it is known");
    assert_eq!(trouble.failures, 3);
    assert!(trouble.error.contains("exit status: 3"), "{}", trouble.error);
    // They failed together: the pause is the first, not the third.
    assert_eq!(trouble.next_try_at.since(trouble.failed_at), Micros::from_ms(50));
    scripted.fleet.start(&pool, 1);
    assert!(scripted.failure().await.is_some());
    let trouble = scripted.fleet.troubles().remove(&pool).expect("it is known");
    assert_eq!(trouble.next_try_at.since(trouble.failed_at), Micros::from_ms(100));
    scripted.fleet.stop_all().await;
    assert!(scripted.failures.try_recv().is_err());
}

#[tokio::test]
async fn workers_are_told_what_the_operator_says_of_programs() {
    let mut scripted = Scripted::new("echo \"$@\" > $DIR/arguments; exit 1");
    let common = " --toolchains /further/toolchains --weaker cgroups,landlock \
                  --trust /further/authorities.pem \
                  --gpu simulated --gpu-arch compute_90 --cuda /cuda";
    for (pool, gpus) in [("cpu", ""), ("fast", " --gpus 1"), ("gpu", "")] {
        scripted.fleet.start(&pool.into(), 1);
        assert!(scripted.failure().await.is_some());
        let file = scripted.folder.path().join("arguments");
        let told = std::fs::read_to_string(file).expect("is told");
        let expected = format!("{common}{gpus}\n");
        assert!(told.starts_with("serve --connect ") && told.ends_with(&expected), "{told}");
    }
    assert!(Programs::default().arguments().is_empty());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_a_failed_start() {
    let mut scripted = Scripted::new("");
    std::fs::remove_file(scripted.folder.path().join("worker")).expect("removes");
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    assert!(scripted.failure().await.is_some());
    assert!(scripted.fleet.troubles()[&pool].error.contains("No such file"));
}

#[tokio::test]
async fn the_latest_starts_are_given_up_and_nobody_hears_of_them() {
    let mut scripted = Scripted::new(WAITS);
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    let first = scripted.pids(1).await[0];
    scripted.fleet.start(&pool, 2);
    let pids = scripted.pids(3).await;
    let processes = [scripted.fleet.find(first).await, scripted.fleet.find(pids[2]).await];
    let [first_member, last_member] = processes.map(|process| process.expect("was started here"));
    scripted.fleet.cancel(&pool, 2);
    assert!(!scripted.fleet.joined(last_member), "it was given up");
    until(|| (!lives(pids[1]) && !lives(pids[2])).then_some(())).await;
    assert!(scripted.fleet.find(pids[2]).await.is_none());
    assert!(scripted.fleet.joined(first_member) && lives(first));
    // Only who has not joined can be given up.
    scripted.fleet.cancel(&pool, 1);
    scripted.fleet.stop(first_member);
    until(|| (!lives(first)).then_some(())).await;
    assert!(scripted.failures.try_recv().is_err());
    assert!(scripted.fleet.troubles().is_empty());
}

#[tokio::test]
async fn a_start_is_given_up_while_its_failure_waits() {
    let mut scripted = Scripted::new("echo $$ >> $DIR/pids; exit 1");
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    until(|| scripted.fleet.troubles().remove(&pool)).await;
    scripted.fleet.cancel(&pool, 1);
    scripted.fleet.stop_all().await;
    assert!(scripted.failures.try_recv().is_err());
}

/// A start that its caller gave up is no longer counted, so its failure must not be reported as well.
#[tokio::test]
async fn a_start_is_given_up_after_its_failure_was_reported() {
    let mut scripted = Scripted::new("exit 1");
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 2);
    let [first, second] = [scripted.failures.recv().await, scripted.failures.recv().await]
        .map(|process| process.expect("both fail"));
    scripted.fleet.cancel(&pool, 1);
    let heard = [first.max(second), first.min(second)].map(|it| scripted.fleet.start_failed(it));
    assert_eq!(heard, [None, Some(pool)], "the latest was given up");
    assert_eq!(scripted.fleet.start_failed(first.min(second)), None, "it failed once");
    scripted.fleet.stop_all().await;
}

#[tokio::test]
async fn a_stop_waits_for_no_failure_to_be_heard() {
    let mut scripted = Scripted::new("exit 1");
    scripted.fleet.start(&"cpu".into(), 1);
    let process = scripted.failures.recv().await.expect("it fails");
    assert!(!scripted.fleet.is_stopping());
    scripted.fleet.stop_all().await;
    assert!(scripted.fleet.is_stopping());
    assert_eq!(scripted.fleet.start_failed(process), None);
}

#[tokio::test]
async fn one_that_does_not_hear_is_killed_in_the_end() {
    let scripted = Scripted::new(&format!("trap '' TERM; {WAITS}"));
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 2);
    let pids = scripted.pids(2).await;
    for pid in &pids {
        let process = scripted.fleet.find(*pid).await.expect("was started here");
        assert!(scripted.fleet.joined(process));
        assert!(!scripted.fleet.joined(process), "a process joins once");
    }
    let process = scripted.fleet.find(pids[0]).await.expect("still there");
    scripted.fleet.stop(process);
    scripted.fleet.kill(process);
    until(|| (!lives(pids[0])).then_some(())).await;
    // The other is asked, and killed after its time.
    scripted.fleet.stop_all().await;
    assert!(!lives(pids[1]));
}
