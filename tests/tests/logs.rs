//! The lines that plugins log, as they come: by the REST interface and by `assay logs --follow`.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_api::authoring::{BatchLogPage, RunLogLine};
use assay_api::batch::Batch;
use assay_tests::{Host, HostOptions, Http, Spawned, program};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(120);

async fn announce(http: &Http, run: &str) -> Batch {
    let call = json!({ "plugin": "hello@prod", "run": run });
    http.post("/v1/batches", &call).await.json(201)
}

/// `hello` logs the number of an answer's bytes, and nothing where there is no answer.
async fn submit(http: &Http, batch: &Batch, answers: &[&str]) {
    let item = |answer: &&str| json!({ "key": answer, "response": answer, "label": "42" });
    let items: Vec<Value> = answers.iter().map(item).collect();
    let path = format!("/v1/batches/{}/requests", batch.id);
    assert_eq!(http.post(&path, &json!(items)).await.status, 200);
}

async fn seal(http: &Http, batch: &Batch) {
    let _: Batch = http.post(&format!("/v1/batches/{}/seal", batch.id), &json!({})).await.json(200);
    let ended = http.get_when_ended(&format!("/v1/batches/{}", batch.id)).await;
    let _: Batch = ended.json(200);
}

#[tokio::test]
async fn lines_come_in_the_order_in_which_requests_end() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    host.publish("assay_plugin_hello").await;
    let batch = announce(&http, "order").await;
    submit(&http, &batch, &["none", "Answer: 1", "Answer: 42"]).await;
    seal(&http, &batch).await;
    let path = format!("/v1/batches/{}/logs", batch.id);
    let page = async |query: &str| -> BatchLogPage {
        http.get(&format!("{path}?{query}")).await.json(200)
    };
    let all = page("").await;
    assert_eq!((all.items.len(), all.full), (2, false), "{all:?}");
    let first = page("limit=1").await;
    assert_eq!((&first.items[..], first.full), (&all.items[..1], true));
    let second = page(&format!("limit=1&after={}", first.next)).await;
    assert_eq!(second.items, all.items[1..]);
    // After the last line the cursor stays where it is.
    let last = page(&format!("after={}", second.next)).await;
    assert_eq!((last.items.len(), last.full, &last.next), (0, false, &second.next));
    // All lines of the results up to this one are left out.
    assert!(page("after=3").await.items.is_empty());
    let wrong = page("verdict=wrong").await.items;
    assert!(wrong.len() == 1 && wrong[0].message.contains("comparing 1 bytes"), "{wrong:?}");
    assert!(page("level=error").await.items.is_empty());
    let _ = http.get(&format!("{path}?after=x")).await.problem(400, "bad_request");
    let _ = http.get(&format!("{path}?level=loud")).await.problem(400, "bad_request");
}

/// An address that stays, before a server that gets another one by a restart.
struct Front {
    url: String,
    server: Arc<Mutex<String>>,
}

impl Front {
    fn of(host: &Host) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let server = Arc::new(Mutex::new(String::new()));
        let front = Self { url, server: server.clone() };
        front.turn_to(host);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let address = server.lock().expect("whole").clone();
                // Nobody there: the connection is closed.
                let Ok(far) = TcpStream::connect(address) else { continue };
                let back =
                    (far.try_clone().expect("a handle"), near.try_clone().expect("a handle"));
                std::thread::spawn(move || carry(near, far));
                std::thread::spawn(move || carry(back.0, back.1));
            }
        });
        front
    }

    fn turn_to(&self, host: &Host) {
        let address = host.url.strip_prefix("http://").expect("plain HTTP");
        address.clone_into(&mut self.server.lock().expect("whole"));
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
}

#[tokio::test]
async fn lines_are_followed_over_batches_and_a_restart() {
    let mut host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    host.publish("assay_plugin_hello").await;
    let before = announce(&http, "talks").await;
    submit(&http, &before, &["Answer: 1"]).await;
    seal(&http, &before).await;
    let open = announce(&http, "talks").await;

    let front = Front::of(&host);
    let mut command = Command::new(program("assay"));
    command.args(["logs", "--run", "talks", "--follow", "-o", "json"]);
    command.env("ASSAY_URL", &front.url).env("ASSAY_API_KEY", &host.key);
    let mut follows = Spawned::start(&mut command);
    follows.wait_for("following the run talks", SOON);
    submit(&http, &open, &["Answer: 12"]).await;
    follows.wait_for("comparing 2 bytes", SOON);

    host.kill();
    follows.wait_for("It is asked again", SOON);
    host.restart();
    front.turn_to(&host);
    let http = Http::new(&host);
    submit(&http, &open, &["none", "Answer: 123"]).await;
    follows.wait_for("comparing 3 bytes", SOON);
    assert!(follows.stderr().contains("answers again"), "{}", follows.stderr());
    let later = announce(&http, "talks").await;
    submit(&http, &later, &["Answer: 1234"]).await;
    follows.wait_for("comparing 4 bytes", SOON);

    follows.signal("INT");
    assert_eq!(follows.wait(SOON).code(), Some(0), "{}", follows.stderr());
    let told = follows.stdout();
    let lines: Vec<RunLogLine> =
        told.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let messages: Vec<&str> = lines.iter().map(|line| line.message.as_str()).collect();
    // Neither the line of a request that had ended, nor one of them twice.
    let expected = [2, 3, 4].map(|bytes| format!("comparing {bytes} bytes with 2"));
    assert_eq!(messages, expected, "{told}");
    assert!(lines.iter().all(|line| line.verdict.as_deref() == Some("wrong")), "{told}");
}
