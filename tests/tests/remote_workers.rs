//! Workers that join over TLS, as real processes on this machine: who is let in, who is refused, and that no request is
//! lost with one of them.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use assay_api::audit::AuditPage;
use assay_api::operations::{IncidentFilter, IncidentKind, Worker, WorkerState};
use assay_api::remote_workers::{CreateWorkerToken, RemoteWorker, WorkerToken};
use assay_api::request::SubmitItem;
use assay_api::result::ResultItem;
use assay_client::Client;
use assay_core::architecture::Architecture;
use assay_core::id::{TicketId, WorkerId};
use assay_tests::{
    Answers, Host, HostOptions, Http, Process, Sleepers, Spawned, assay, item, program, until,
};

const SOON: Duration = Duration::from_secs(120);

/// A server without workers of its own, to which workers join.
fn start(arguments: &[&str]) -> Host {
    start_on("127.0.0.1:0", arguments)
}

fn start_on(listen: &str, arguments: &[&str]) -> Host {
    let listening = ["--worker-listen", listen];
    let arguments = listening.iter().chain(arguments);
    Host::start(HostOptions {
        workers: vec!["cpu=0".into()],
        arguments: arguments.map(|&argument| argument.to_owned()).collect(),
        ..HostOptions::default()
    })
}

async fn token(client: &Client) -> WorkerToken {
    let call = CreateWorkerToken { pool: "cpu".into(), ttl_seconds: None };
    client.create_worker_token(&call).await.expect("makes a token")
}

fn join(token: &WorkerToken, options: &[&str]) -> Spawned {
    let mut command = Command::new(program("assay-worker"));
    command
        .args(["join", "--server", &token.listen, "--ca-pin", &token.ca_pin])
        .args(["--pool", &token.pool, "--token", &token.token])
        .args(options);
    Spawned::start(&mut command)
}

/// A worker whose stages last until their gate opens.
async fn join_sleeping(client: &Client, sleepers: &Sleepers) -> Spawned {
    join(&token(client).await, &["--serve-program", &sleepers.program()])
}

/// The folder of the socket by which the child of a worker serves.
fn folder_of(child: &Process) -> Option<PathBuf> {
    let arguments = std::fs::read_to_string(format!("/proc/{}/cmdline", child.pid)).ok()?;
    arguments.split('\0').find_map(|argument| argument.strip_suffix("/server").map(PathBuf::from))
}

/// Runs a join that is refused, and returns what it says.
fn refused(token: &WorkerToken) -> String {
    let mut joining = join(token, &[]);
    let ended = joining.wait(SOON);
    assert_eq!(ended.code(), Some(1), "{}", joining.stderr());
    joining.stderr()
}

async fn here(client: &Client, count: usize) -> Vec<Worker> {
    until("workers are connected", async || {
        let workers = client.workers().await.expect("answers").items;
        let here: Vec<Worker> = workers.into_iter().filter(|it| it.launcher == "joined").collect();
        (here.len() == count).then_some(here)
    })
    .await
}

async fn remote(client: &Client) -> Vec<RemoteWorker> {
    client.remote_workers().await.expect("answers").items
}

fn gated(count: usize, gate: &str) -> Vec<SubmitItem> {
    (0..count).map(|at| item(format!("gated{at}"), &format!("{gate} 1"), "4")).collect()
}

fn all_scored(results: &BTreeMap<String, ResultItem>, count: usize) {
    assert_eq!(results.len(), count);
    for result in results.values() {
        assert_eq!(result.outcome.kind(), "scored", "{result:?}");
    }
}

async fn scores(host: &Host, plugin: &str) {
    let client = host.client();
    let items: Vec<SubmitItem> = (0..20).map(|at| item(format!("r{at}"), "xx", "4")).collect();
    let mut answers = Answers::submit(&client, plugin, &items).await;
    all_scored(&answers.finish(&client, &items).await, items.len());
}

#[tokio::test]
async fn the_printed_command_joins_a_worker_that_answers_and_leaves_when_it_is_drained() {
    let host = start(&[]);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let printed = assay(Some(&host), &["worker", "token", "--pool", "cpu"]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    let words: Vec<&str> = printed.stdout.split_whitespace().collect();
    assert_eq!(words[..3], ["assay", "worker", "join"]);
    let mut worker = Spawned::start(Command::new(program("assay")).args(&words[1..]));
    let joined = here(&client, 1).await;
    let capacity = client.capacity().await.expect("answers");
    assert_eq!(capacity.pools[0].workers.joined, 1, "{capacity:?}");
    scores(&host, &plugin).await;

    let known = remote(&client).await;
    assert_eq!((known.len(), known[0].id, known[0].connected), (1, joined[0].ticket, true));
    let listed = assay(Some(&host), &["worker", "ls", "--remote"]);
    assert!(listed.stdout.contains(&known[0].id.to_string()), "{listed:?}");
    let acts: AuditPage = Http::new(&host).get("/v1/audit?action=worker.join").await.json(200);
    assert_eq!(acts.items[0].subject, known[0].id.to_string());

    client.drain_worker(WorkerId(joined[0].id.expect("joined"))).await.expect("drains");
    let ended = worker.wait(SOON);
    assert!(ended.success(), "{}", worker.stderr());
    here(&client, 0).await;
}

#[tokio::test]
async fn a_token_joins_one_worker_of_its_pool_in_its_time() {
    let host = start(&["--workers", "other=0"]);
    let client = host.client();
    let good = token(&client).await;
    let other = WorkerToken { pool: "other".into(), ..good.clone() };
    assert!(refused(&other).contains("another pool"));
    let _worker = join(&good, &[]);
    here(&client, 1).await;
    assert!(refused(&good).contains("used"), "a replayed join");

    let stolen = token(&client).await;
    let _ = host.psql().rows("update worker_tokens set expires_at = now() - interval '1 second'");
    assert!(refused(&stolen).contains("expired"));
    let forged = WorkerToken { token: format!("assay_join_{}", "0".repeat(64)), ..good.clone() };
    assert!(refused(&forged).contains("unknown"));
    // A server that is not the one of the pin gets no token at all.
    let pin = format!("sha256:{}", "0".repeat(64));
    let fresh = token(&client).await;
    assert!(refused(&WorkerToken { ca_pin: pin, ..fresh }).contains("UnknownIssuer"));
    assert_eq!(remote(&client).await.len(), 1);

    let nowhere = CreateWorkerToken { pool: "nowhere".into(), ttl_seconds: None };
    client.create_worker_token(&nowhere).await.expect_err("there is no such pool");
    let forever = CreateWorkerToken { pool: "cpu".into(), ttl_seconds: Some(u32::MAX) };
    client.create_worker_token(&forever).await.expect_err("a day at most");
}

#[tokio::test]
async fn a_removed_worker_is_cut_off_and_another_runs_its_request() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start(&[]);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let mut first = join_sleeping(&client, &sleepers).await;
    let ticket = here(&client, 1).await[0].ticket;
    let items = gated(1, "removed");
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    busy(&client, |worker| worker.ticket == ticket).await;
    let _second = join_sleeping(&client, &sleepers).await;
    here(&client, 2).await;

    let removed = assay(Some(&host), &["worker", "remove", &ticket.to_string()]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    let ended = first.wait(SOON);
    assert!(!ended.success() && first.stderr().contains("was removed"), "{}", first.stderr());
    busy(&client, |worker| worker.ticket != ticket).await;
    sleepers.open("removed");
    let results = answers.finish(&client, &items).await;
    all_scored(&results, 1);
    assert_eq!(results["gated0"].stages[0].attempts, 2);
    assert_eq!(remote(&client).await.len(), 1);
    no_worker_died(&client).await;
    client.remove_remote_worker(ticket).await.expect_err("it is gone");
    client.remove_remote_worker(TicketId::generate()).await.expect_err("it never was");
}

#[tokio::test]
async fn a_killed_worker_loses_nothing() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start(&[]);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let mut workers = BTreeMap::new();
    for count in 1..=2 {
        let worker = join_sleeping(&client, &sleepers).await;
        let here = here(&client, count).await;
        let new = here.iter().find(|it| !workers.contains_key(&it.ticket)).expect("a new one");
        workers.insert(new.ticket, worker);
    }
    let items = gated(4, "killed");
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    let busy = busy(&client, |_| true).await;
    let killed = workers.remove(&busy.ticket).expect("one of them");
    let children = Process::descendants(killed.pid());
    let folder = children.iter().find_map(folder_of).expect("its child knows its socket");
    Process::find(killed.pid()).expect("it runs").kill();
    until("nothing of it is left", async || {
        children.iter().all(|child| !child.lives()).then_some(())
    })
    .await;
    sleepers.open("killed");
    all_scored(&answers.finish(&client, &items).await, items.len());
    let _next = join_sleeping(&client, &sleepers).await;
    until("the next worker deletes what the killed one left", async || {
        (!folder.exists()).then_some(())
    })
    .await;
}

/// The workers only say that they are of those architectures: what they were to run is looked at here.
#[tokio::test]
async fn each_worker_gets_code_for_its_architecture() {
    let host = start(&["--worker-architectures", "aarch64"]);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    for (architecture, elf) in [(Architecture::X86_64, 62), (Architecture::Aarch64, 183)] {
        let sleepers = Sleepers::on(architecture);
        let mut worker = join_sleeping(&client, &sleepers).await;
        let workers = here(&client, 1).await;
        assert_eq!(workers[0].architecture.as_deref(), Some(architecture.name()));
        let items = [item(architecture.name(), "code code", "4")];
        let mut answers = Answers::submit(&client, &plugin, &items).await;
        let results = answers.finish(&client, &items).await;
        all_scored(&results, 1);
        let lines = client.request_logs(results[architecture.name()].id).await.expect("answers");
        let digest = &lines[0].message;
        let code = std::fs::read(host.data().join("objects").join(&digest[..2]).join(digest));
        assert_eq!(code.expect("it is stored")[18..20], [elf, 0], "the machine of an ELF file");
        worker.signal("TERM");
        worker.wait(SOON);
        here(&client, 0).await;
    }
    let stored = host.psql().rows("select count(*), count(distinct engine) from compilations");
    assert_eq!(stored, ["2|2"]);
}

#[tokio::test]
async fn a_worker_that_must_end_finishes_its_request_first() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = start(&[]);
    let client = host.client();
    let plugin = host.publish("worker_load").await;
    let mut worker = join_sleeping(&client, &sleepers).await;
    let items = gated(1, "leaving");
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    busy(&client, |_| true).await;
    worker.signal("TERM");
    until("it leaves", async || {
        let mut workers = client.workers().await.expect("answers").items.into_iter();
        workers.find(|it| it.state == WorkerState::Draining && it.in_hand == 1)
    })
    .await;
    let _next = join_sleeping(&client, &sleepers).await;
    sleepers.open("leaving");
    let results = answers.finish(&client, &items).await;
    all_scored(&results, 1);
    assert_eq!(results["gated0"].stages[0].attempts, 1);
    let ended = worker.wait(SOON);
    assert!(ended.success(), "{}", worker.stderr());
    no_worker_died(&client).await;
}

#[tokio::test]
async fn a_worker_comes_again_when_the_server_does() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound");
    let mut host = start_on(&port.to_string(), &[]);
    let client = host.client();
    let plugin = host.publish("trivial").await;
    let _worker = join(&token(&client).await, &[]);
    let ticket = here(&client, 1).await[0].ticket;
    let known = remote(&client).await;
    for end in [Host::kill, |host: &mut Host| assert!(host.stop(), "it ends well")] {
        end(&mut host);
        host.restart();
        assert_eq!(here(&host.client(), 1).await[0].ticket, ticket);
        scores(&host, &plugin).await;
    }
    let again = remote(&host.client()).await;
    assert_eq!((again.len(), again[0].joined_at), (1, known[0].joined_at));
    assert!(again[0].expires_at > known[0].expires_at, "it has another certificate");
}

#[tokio::test]
async fn a_certificate_is_renewed_and_ends_its_worker_where_it_is_not() {
    let host = start(&["--worker-certificate-seconds", "6"]);
    let client = host.client();
    let mut worker = join(&token(&client).await, &[]);
    let first = here(&client, 1).await.remove(0);
    let issued = remote(&client).await.remove(0);
    until("its first certificate has expired", async || {
        let now = remote(&client).await.remove(0);
        let last = now.expires_at.since(issued.expires_at).as_secs_f64();
        (last > 6.0).then_some(())
    })
    .await;
    let still = here(&client, 1).await.remove(0);
    assert_eq!((still.id, still.joined_at), (first.id, first.joined_at), "one connection");

    worker.signal("STOP");
    until("its last certificate has expired", async || {
        remote(&client).await.is_empty().then_some(())
    })
    .await;
    here(&client, 0).await;
    worker.signal("CONT");
    let ended = worker.wait(SOON);
    let said = worker.stderr();
    assert!(!ended.success() && said.contains("has expired"), "{said}");
}

#[tokio::test]
async fn without_an_address_for_workers_there_are_no_tokens() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let refused = assay(Some(&host), &["worker", "token"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("--worker-listen"), "{refused:?}");
}

/// A worker that was asked to end is no incident. There may be others, such as a batch that is late on a slow machine.
async fn no_worker_died(client: &Client) {
    let incidents = client.incidents(&IncidentFilter::default()).await.expect("answers").items;
    let died = [IncidentKind::WorkerDied, IncidentKind::WorkerKilled];
    assert!(incidents.iter().all(|it| !died.contains(&it.kind)), "{incidents:?}");
}

async fn busy(client: &Client, which: impl Fn(&Worker) -> bool) -> Worker {
    until("a worker is busy", async || {
        let workers = client.workers().await.expect("answers").items;
        workers.into_iter().find(|it| it.state == WorkerState::Busy && which(it))
    })
    .await
}
