//! A server that cannot work yet: it answers its probes, waits for a database as long as it takes, and takes the place
//! of one that hangs, which commits nothing when it wakes up.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use assay_api::operations::{IncidentFilter, IncidentKind};
use assay_api::problem::Problem;
use assay_api::remote_workers::CreateWorkerToken;
use assay_client::Client;
use assay_postgres::{Cluster, Options};
use assay_tests::{
    Answers, Host, HostOptions, Psql, Spawned, item, ndjson, program, signal, until,
};
use tokio::net::{TcpListener as Front, TcpStream as Call, UnixStream};

use crate::launched::{joined, scores};

const SOON: Duration = Duration::from_secs(120);
const TWO_WORKERS: [&str; 2] = ["--workers", "cpu=2"];

/// An address on which nothing listens.
pub(crate) fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    listener.local_addr().expect("an address").to_string()
}

fn serve(data: &Path, address: &str, database: &str, arguments: &[&str]) -> Spawned {
    Spawned::start(&mut serve_command(data, address, database, arguments))
}

pub(crate) fn serve_command(
    data: &Path,
    address: &str,
    database: &str,
    arguments: &[&str],
) -> Command {
    let mut command = Command::new(program("assay"));
    command.args(["serve", "--listen", address, "--data"]).arg(data).args(arguments);
    command.arg("--ready-file").arg(data.join("ready")).args(["--database-url", database]);
    command
}

/// Waits until the server says that it is not ready, and why; it runs meanwhile.
pub(crate) async fn not_ready(address: &str, reason: &str) {
    assay_client::install_tls_provider();
    let http = reqwest::Client::new();
    let get = async |path: &str| http.get(format!("http://{address}{path}")).send().await.ok();
    until("the server says why it is not ready", async || {
        let answer = get("/readyz").await?;
        assert_eq!(answer.status(), 503);
        let problem: Problem = answer.json().await.expect("a problem");
        assert_eq!(problem.code, "not_ready");
        problem.detail.contains(reason).then_some(())
    })
    .await;
    assert_eq!(get("/livez").await.expect("answers").status(), 200);
    assert_eq!(get("/v1/batches").await.expect("answers").status(), 503);
    // Held for some seconds; verl repeats a call after this status alone.
    let run_code = get("/compat/sandbox-fusion/run@prod/r/run_code").await.expect("answers");
    assert_eq!(run_code.status(), 504);
}

pub(crate) fn client(data: &Path) -> Client {
    let ready = std::fs::read(data.join("ready")).expect("it is ready");
    let ready: serde_json::Value = serde_json::from_slice(&ready).expect("JSON");
    let text = |name: &str| ready[name].as_str().expect("a text").to_owned();
    Client::new(&text("url"), &text("key")).expect("a client")
}

#[tokio::test]
async fn a_server_that_hangs_is_replaced_and_commits_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Options { data: folder.path().join("shared") }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let database = Psql::of_cluster(&cluster);
    let first = Host::start(HostOptions {
        database_url: Some(cluster.url().to_owned()),
        ..HostOptions::with_own_postgres()
    });
    let (data, address) = (folder.path().join("standby"), free_address());
    std::fs::create_dir(&data).expect("makes the folder");
    std::os::unix::fs::symlink(first.data().join("objects"), data.join("objects")).expect("links");
    let plugin = first.publish("liar").await;
    let mut answers = Answers::announce_open(&first.client(), &plugin).await;
    let early = [item("early", "count", "null")];
    first.client().submit_ndjson(answers.batch, ndjson(&early)).await.expect("submits");
    answers.follow(&first.client(), 1).await;
    let mut second = serve(&data, &address, cluster.url(), &TWO_WORKERS);
    not_ready(&address, "another server dispatches").await;
    let path = "sandbox-fusion/run@prod/held/run_code";
    let held = format!("http://{address}/compat/{}/{path}", first.key);
    let held = reqwest::Client::new().post(held).body("{}").send().await.expect("answers");
    assert_eq!(held.status(), 504);

    signal(first.pid(), "STOP");
    // It finds this call when it wakes up.
    let body = ndjson(&[item("late", "count", "null")]);
    let mut late = TcpStream::connect(first.url.trim_start_matches("http://")).expect("connects");
    let head = format!(
        "POST /v1/batches/{}/requests HTTP/1.1\r\nHost: assay\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/x-ndjson\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answers.batch,
        first.key,
        body.len()
    );
    late.write_all(head.as_bytes()).and_then(|()| late.write_all(&body)).expect("writes");
    second.wait_for("hangs; taking its place", SOON);
    second.wait_for("ready on", SOON);
    signal(first.pid(), "CONT");
    let mut said = String::new();
    // It may close the connection instead.
    let _ = late.read_to_string(&mut said);
    assert!(!said.starts_with("HTTP/1.1 2"), "it acknowledged what it cannot commit: {said}");
    until("the first one ends", async || first.log().contains("lock is lost").then_some(())).await;
    assert_eq!(database.rows("select key from requests"), ["early"]);

    let client = client(&data);
    // Also the call that it refused while it stood by.
    let of_run = IncidentFilter { run: Some("held".into()), ..IncidentFilter::default() };
    let incident = until("the refused call is recorded", async || {
        client.incidents(&of_run).await.expect("incidents").items.into_iter().next()
    })
    .await;
    assert_eq!((incident.kind, incident.count), (IncidentKind::RewardMissing, 1));
    assert!(incident.detail.contains("could not work yet"), "{}", incident.detail);
    let items = [item("early", "count", "null"), item("own", "count", "null")];
    client.submit_ndjson(answers.batch, ndjson(&items)).await.expect("submits");
    client.seal(answers.batch, &Default::default()).await.expect("seals");
    let by_key = answers.finish(&client, &items).await;
    assert!(by_key.values().all(|item| item.outcome.reward() == Some(1.0)));
    answers.check_stored(&database);
    second.signal("TERM");
    assert!(second.wait(SOON).success());
    cluster.stop().await;
}

#[tokio::test]
async fn a_worker_of_another_machine_finds_the_server_that_takes_over() {
    finds_the_next_server(Host::kill).await;
}

/// The kernel goes on acknowledging what the worker sends to a server that hangs.
#[tokio::test]
async fn a_worker_of_another_machine_leaves_a_server_that_hangs() {
    finds_the_next_server(|first| signal(first.pid(), "STOP")).await;
}

async fn finds_the_next_server(end: impl FnOnce(&mut Host)) {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Options { data: folder.path().join("shared") }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let [one, two] = [free_address(), free_address()];
    let own = |listen| ["--workers", "cpu=0", "--worker-listen", listen];
    let mut first = Host::start(HostOptions {
        database_url: Some(cluster.url().to_owned()),
        workers: Vec::new(),
        arguments: own(&one).map(String::from).into(),
        ..HostOptions::default()
    });
    let (data, address) = (folder.path().join("standby"), free_address());
    std::fs::create_dir(&data).expect("makes the folder");
    std::os::unix::fs::symlink(first.data().join("objects"), data.join("objects")).expect("links");
    let mut second = serve(&data, &address, cluster.url(), &own(&two));
    not_ready(&address, "another server dispatches").await;

    let plugin = first.publish("trivial").await;
    let call = CreateWorkerToken { pool: "cpu".into(), ttl_seconds: None };
    let token = first.client().create_worker_token(&call).await.expect("makes a token");
    // The server that stands by does not answer, nor does the one that has ended or hangs.
    let servers = format!("{two},{one}");
    let mut worker = Spawned::start(
        Command::new(program("assay-worker"))
            .args(["join", "--server", &servers, "--ca-pin", &token.ca_pin])
            .args(["--token", &token.token]),
    );
    let before = joined(&first.client(), 1).await.remove(0);
    scores(&first, &plugin).await;
    end(&mut first);
    second.wait_for("ready on", SOON);
    let client = client(&data);
    assert_eq!(joined(&client, 1).await[0].ticket, before.ticket, "the worker kept its identity");
    let items = [item("after", "xx", "4")];
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    assert_eq!(answers.finish(&client, &items).await["after"].outcome.kind(), "scored");
    // One that hangs cannot end well.
    first.kill();
    worker.signal("TERM");
    assert!(worker.wait(SOON).success(), "{}", worker.stderr());
    second.signal("TERM");
    assert!(second.wait(SOON).success());
    cluster.stop().await;
}

const CRASHED: u8 = 0;
const GONE: u8 = 1;
const RECOVERING: u8 = 2;
const OPEN: u8 = 3;

/// PostgreSQL behind an address at which it is in this state.
async fn recovering(socket: String, state: Arc<AtomicU8>) -> String {
    let front = Front::bind("127.0.0.1:0").await.expect("binds");
    let address = front.local_addr().expect("an address").to_string();
    tokio::spawn(async move {
        while let Ok((call, _)) = front.accept().await {
            tokio::spawn(answer(call, socket.clone(), state.load(Ordering::Relaxed)));
        }
    });
    address
}

async fn answer(mut call: Call, socket: String, state: u8) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let fields = match state {
        CRASHED => &b"SFATAL\0VFATAL\0C57P02\0Mterminating connection because of crash\0\0"[..],
        RECOVERING => b"SFATAL\0VFATAL\0C57P03\0Mthe database system is in recovery mode\0\0",
        OPEN => {
            let mut database = UnixStream::connect(socket).await.expect("PostgreSQL answers");
            // Either side may hang up.
            let _ = tokio::io::copy_bidirectional(&mut call, &mut database).await;
            return;
        }
        _ => return,
    };
    let length = u32::try_from(fields.len() + 4).expect("small").to_be_bytes();
    let mut startup = [0; 1_024];
    let _ = call.read(&mut startup).await;
    let _ = call.write_all(&[&b"E"[..], &length, fields].concat()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_restarts_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let cluster = Cluster::start(Options { data: folder.path().join("shared") }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let after = |mark: &str| {
        let (_, after) = cluster.url().split_once(mark).expect("a URL of ours");
        after.split('&').next().expect("the first").to_owned()
    };
    let socket = after("host=") + "/.s.PGSQL.5432";
    let state = Arc::new(AtomicU8::new(CRASHED));
    let database = recovering(socket, state.clone()).await;
    let url = format!("postgres://assay@{database}/assay?sslmode=disable");
    let (data, address) = (folder.path().join("data"), free_address());
    std::fs::create_dir(&data).expect("makes the folder");
    let server = serve(&data, &address, &url, &TWO_WORKERS);
    not_ready(&address, "because of crash").await;
    state.store(GONE, Ordering::Relaxed);
    not_ready(&address, "cannot be reached").await;
    state.store(RECOVERING, Ordering::Relaxed);
    not_ready(&address, "in recovery mode").await;
    assert!(!data.join("ready").exists());
    state.store(OPEN, Ordering::Relaxed);
    until("the server is ready", async || data.join("ready").exists().then_some(())).await;
    client(&data).plugins().await.expect("it works");
    drop(server);
    cluster.stop().await;
}
