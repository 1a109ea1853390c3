//! With a shell script in a worker's place.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::*;
use crate::fleet::{Failures, Fleet};
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
        let (fleet, failures) = Fleet::new(|events| ProcessLauncher::new(launch, events));
        Self { fleet, failures, folder }
    }

    /// The pool of the next start that came to nothing.
    async fn failure(&mut self) -> Option<Arc<str>> {
        let failed = self.failures.recv().await.expect("the fleet is there");
        self.fleet.start_failed(failed)
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    /// The process ids and tickets that scripts have written, in the order of their starts.
    async fn workers(&self, count: usize) -> Vec<(u32, String)> {
        until(|| {
            let text = self.file("workers");
            let lines = text.lines().filter_map(|line| line.split_once(' '));
            let workers: Vec<(u32, String)> =
                lines.filter_map(|(pid, text)| Some((pid.parse().ok()?, text.into()))).collect();
            (workers.len() >= count).then_some(workers)
        })
        .await
    }

    /// Lets the worker that has this ticket join.
    fn join(&self, ticket: &str) -> TicketId {
        let id = self.fleet.admit(ticket, "cpu").expect("the ticket is good");
        assert!(self.fleet.joined(id));
        id
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
const WAITS: &str =
    "echo $$ $ASSAY_WORKER_TICKET >> $DIR/workers; while :; do /bin/sleep 0.02; done";

#[tokio::test]
async fn a_process_that_ends_is_a_failed_start() {
    let mut scripted = Scripted::new("exit 3");
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    assert_eq!(scripted.failure().await, Some(Arc::clone(&pool)));
    let trouble = scripted.fleet.troubles().remove(&pool).expect("it is known");
    assert!(trouble.error.contains("exit status: 3"), "{}", trouble.error);
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
        let told = scripted.file("arguments");
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
async fn a_worker_is_known_by_its_ticket_and_its_process_is_information() {
    let scripted = Scripted::new(WAITS);
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    let (pid, ticket) = scripted.workers(1).await.remove(0);
    assert_eq!(scripted.fleet.launcher("cpu"), "process");
    let id = scripted.join(&ticket);
    assert_eq!(scripted.fleet.pid(id), Some(pid));
    scripted.fleet.reconcile().await.expect("it lists its children");
    assert!(lives(pid) && scripted.fleet.authenticate(&ticket) == Some(id));
    scripted.fleet.kill(id);
    until(|| scripted.fleet.authenticate(&ticket).is_none().then_some(())).await;
    assert!(!lives(pid));
    assert_eq!(scripted.fleet.pid(id), None);
}

#[tokio::test]
async fn the_latest_starts_are_given_up_and_nobody_hears_of_them() {
    let mut scripted = Scripted::new(WAITS);
    let pool: Arc<str> = "cpu".into();
    scripted.fleet.start(&pool, 1);
    scripted.workers(1).await;
    scripted.fleet.start(&pool, 2);
    let workers = scripted.workers(3).await;
    scripted.fleet.cancel(&pool, 2);
    let [(first, ticket), (second, _), (third, given_up)] = &workers[..] else { panic!("three") };
    assert!(scripted.fleet.admit(given_up, "cpu").is_err(), "it was given up");
    until(|| (!lives(*second) && !lives(*third)).then_some(())).await;
    let id = scripted.join(ticket);
    assert!(lives(*first));
    // Only who has not joined can be given up.
    scripted.fleet.cancel(&pool, 1);
    scripted.fleet.stop(id);
    until(|| (!lives(*first)).then_some(())).await;
    assert!(scripted.failures.try_recv().is_err());
    assert!(scripted.fleet.troubles().is_empty());
}

#[tokio::test]
async fn one_that_does_not_hear_is_killed_in_the_end() {
    let scripted = Scripted::new(&format!("trap '' TERM; {WAITS}"));
    scripted.fleet.start(&"cpu".into(), 2);
    let workers = scripted.workers(2).await;
    let ids: Vec<TicketId> = workers.iter().map(|(_, ticket)| scripted.join(ticket)).collect();
    assert!(!scripted.fleet.joined(ids[0]), "a worker joins once");
    scripted.fleet.stop(ids[0]);
    scripted.fleet.kill(ids[0]);
    until(|| (!lives(workers[0].0)).then_some(())).await;
    // The other is asked, and killed after its time.
    scripted.fleet.stop_all().await;
    assert!(!lives(workers[1].0));
}
