//! Tenants beside each other: what one of them holds keeps no other waiting.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use assay_api::batch::Batch;
use assay_api::key::{Key, Scope};
use assay_api::request::{Reward, SubmitReply};
use assay_api::tenant::Tenant;
use assay_client::Client;
use assay_core::id::BatchId;
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_tests::{Answers, Host, HostOptions, Http, Sleepers, component, item, until};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

/// A second tenant, by its key.
async fn team(host: &Host) -> (Http, Client) {
    let platform = Http::new(host);
    let _: Tenant = platform.post("/v1/tenants", &json!({ "name": "team" })).await.json(201);
    let scopes = [Scope::BatchesWrite, Scope::BatchesRead, Scope::PluginsPublish];
    let key = json!({ "tenant": "team", "name": "theirs", "scopes": scopes });
    let key: Key = platform.post("/v1/keys", &key).await.json(201);
    let secret = key.secret.expect("shown when it is made");
    (platform.with_key(&secret), Client::new(&host.url, &secret).expect("a key"))
}

/// Both workers run stages that do not end. The reward can only be computed on a worker that was taken.
#[tokio::test]
async fn a_reward_takes_a_worker_from_another_tenants_long_stages() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let host = Host::start(HostOptions {
        workers: vec!["cpu=2".into(), "gpu=1".into()],
        arguments: vec!["--worker-program".into(), sleepers.program()],
        ..HostOptions::default()
    });
    let client = host.client();
    let plugin = host.publish("two_pools").await;
    let items: Vec<_> = (0..4).map(|at| item(format!("r{at}"), "gate 0", "null")).collect();
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    until("both workers are busy", async || {
        let pools = client.capacity().await.expect("answers").pools;
        let cpu = pools.into_iter().find(|pool| pool.pool == "cpu").expect("a pool");
        (cpu.workers.busy == 2).then_some(())
    })
    .await;

    let (theirs, their_client) = team(&host).await;
    let published = their_client.publish(component("two_pools").into()).await.expect("publishes");
    let plugin = published.version_name().to_string();
    let call = json!({ "plugin": plugin, "response": "1 0" });
    let reward: Reward = theirs.post("/v1/rewards", &call).await.json(200);
    assert!(matches!(reward.outcome, Outcome::Scored(_)), "{:?}", reward.outcome);
    let metrics = Http::new(&host).get("/metrics").await.text();
    assert!(metrics.contains("assay_workers_preempted_total{pool=\"cpu\"} 1"), "{metrics}");
    assert!(
        metrics.contains("assay_tenant_waiting{cause=\"worker\",pool=\"cpu\",tenant=\"platform\"}")
    );

    sleepers.open("gate");
    let results = answers.finish(&client, &items).await;
    for result in results.values() {
        assert!(matches!(result.outcome, Outcome::Scored(_)), "{result:?}");
    }
}

/// Each connection sends the first part of a body and no more, so that its call waits with its place taken.
#[tokio::test]
async fn bodies_that_do_not_come_keep_no_other_tenant_waiting() {
    let host = Host::start(HostOptions::default());
    let plugin = host.publish("trivial").await;
    let client = host.client();
    let answers = Answers::announce_open(&client, &plugin).await;
    let (theirs, their_client) = team(&host).await;
    let published = their_client.publish(component("trivial").into()).await.expect("publishes");
    let plugin = published.version_name().to_string();
    let call = json!({ "plugin": plugin, "run": "run", "expected_size": 1 });
    let batch: Batch = theirs.post("/v1/batches", &call).await.json(201);

    // A quarter is kept for others.
    let (calls, taken) = (limits::BUFFERED_CALLS_MAX + 8, limits::BUFFERED_CALLS_MAX * 3 / 4);
    let waiting = |calls: usize| {
        format!("assay_tenant_waiting{{cause=\"body\",tenant=\"platform\"}} {calls}\n")
    };
    let platform = Http::new(&host);
    // A body of which little has come takes no place.
    let mut silent: Vec<TcpStream> =
        (0..calls).map(|_| begin_submit(&host, answers.batch)).collect();
    let metrics = platform.get("/metrics").await.text();
    assert!(metrics.contains("assay_tenant_waiting{cause=\"body\"} 0\n"), "{metrics}");
    let part = vec![b' '; limits::BODY_BYTES_WITHOUT_TURN_MAX + 1];
    for stream in &mut silent {
        stream.write_all(&part).expect("writes");
    }
    until("the places are taken", async || {
        let metrics = platform.get("/metrics").await.text();
        metrics.contains(&waiting(calls - taken)).then_some(())
    })
    .await;
    let path = format!("/v1/batches/{}/requests", batch.id);
    let response = "1".repeat(2 * limits::BODY_BYTES_WITHOUT_TURN_MAX);
    let items = json!([{ "key": "0", "response": response }]);
    let reply: SubmitReply = theirs.post(&path, &items).await.json(200);
    assert_eq!(reply.accepted, 1);
    assert_eq!(platform.without_key().get("/livez").await.status, 200);
    // Nothing became free for it: the server still waits for the bodies of the calls with a place.
    assert!(platform.get("/metrics").await.text().contains(&waiting(calls - taken)));
    assert!(silent.into_iter().all(is_unanswered));
}

fn is_unanswered(mut stream: TcpStream) -> bool {
    stream.set_nonblocking(true).expect("sets");
    let mut read = Vec::new();
    let end = stream.read_to_end(&mut read).map_err(|error| error.kind());
    // The end of the line that asks for the body may be left.
    end == Err(ErrorKind::WouldBlock) && read.trim_ascii().is_empty()
}

/// Sends the head of a submission, until the server asks for the body (100).
fn begin_submit(host: &Host, batch: BatchId) -> TcpStream {
    let address = host.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("connects");
    let head = format!(
        "POST /v1/batches/{batch}/requests HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 999999\r\nExpect: 100-continue\r\n\r\n",
        host.key
    );
    stream.write_all(head.as_bytes()).expect("writes");
    let mut line = String::new();
    BufReader::new(&stream).read_line(&mut line).expect("an answer");
    assert_eq!(line.trim_end(), "HTTP/1.1 100 Continue");
    stream
}

/// A store of S3 whose objects come a byte a second.
async fn drip(listener: tokio::net::TcpListener) {
    while let Ok((connection, _)) = listener.accept().await {
        tokio::spawn(drip_object(connection));
    }
}

async fn drip_object(mut connection: tokio::net::TcpStream) -> std::io::Result<()> {
    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: \"one\"\r\n\
        Last-Modified: Fri, 20 Nov 2026 12:00:00 GMT\r\n\r\n";
    let mut call = Vec::new();
    while !call.ends_with(b"\r\n\r\n") {
        call.push(connection.read_u8().await?);
    }
    connection.write_all(HEAD).await?;
    let mut seconds = tokio::time::interval(Duration::from_secs(1));
    loop {
        seconds.tick().await;
        connection.write_u8(b'x').await?;
    }
}

/// One tenant's stage reads more objects of a slow store at once than may be read; another tenant's reads a file.
#[tokio::test]
async fn reads_of_a_slow_store_keep_no_other_tenants_reads_waiting() {
    let slow = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let endpoint = format!("http://{}", slow.local_addr().expect("it has an address"));
    tokio::spawn(drip(slow));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (quick, roots) = (folder.path().join("quick"), folder.path().join("storage.toml"));
    std::fs::create_dir(&quick).expect("makes");
    std::fs::write(quick.join("object"), "text").expect("writes");
    let file = format!(
        "[roots.quick]\nurl = 'file://{}'\ntenants = ['*']\n\
         [roots.slow]\nurl = 's3://slow'\ntenants = ['*']\n\
         options = {{ endpoint = '{endpoint}', allow_http = true, region = 'x', \
         access_key_id = 'any', secret_access_key = 'env:PATH' }}\n",
        quick.display(),
    );
    std::fs::write(&roots, file).expect("writes");
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let storage = roots.to_str().expect("a plain path").to_owned();
    let host = Host::start(HostOptions {
        workers: vec!["cpu=2".into()],
        arguments: vec!["--worker-program".into(), sleepers.program(), "--storage".into(), storage],
        ..HostOptions::default()
    });
    let http = Http::new(&host);
    host.publish("trivial").await;
    let (theirs, their_client) = team(&host).await;
    let published = their_client.publish(component("trivial").into()).await.expect("publishes");
    let plugin = published.version_name().to_string();

    let stage = |http: Http, response: String| {
        let call = json!({ "plugin": plugin, "response": response });
        tokio::spawn(async move { http.post("/v1/rewards", &call).await.json::<Reward>(200) })
    };
    let asked = async |file: &Path| {
        until("the stage has asked", async || std::fs::read_to_string(file).ok()).await
    };
    let (crowd, one) = (folder.path().join("crowd"), folder.path().join("one"));
    let reading = stage(http, format!("#{} slow/object", crowd.display()));
    let _ = asked(&crowd).await;
    let read = stage(theirs, format!("@{} quick/object", one.display()));
    let answers: Value = serde_json::from_str(&asked(&one).await).expect("JSON");
    assert_eq!(answers["with_own_lease"], 0, "{answers}");
    for file in [crowd, one] {
        std::fs::remove_file(file).expect("the stage may end");
    }
    for reward in [reading, read] {
        let reward = reward.await.expect("no panic");
        assert_eq!(reward.outcome.reward(), Some(1.0), "{reward:?}");
    }
}
