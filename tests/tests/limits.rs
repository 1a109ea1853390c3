//! Input of careless or hostile clients: it is refused by the name and value of a limit, and never with a
//! 5xx.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use assay_api::batch::{Batch, ResultsPage};
use assay_api::request::{Request, SubmitReply};
use assay_core::limits;
use assay_tests::{Answer, Host, HostOptions, Http};
use reqwest::Method;
use serde_json::{Value, json};

const JSON: &str = "application/json";
const NDJSON: &str = "application/x-ndjson";

/// A server whose batches wait: only what comes in matters here.
fn waiting() -> Host {
    Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() })
}

async fn batch(host: &Host, http: &Http) -> String {
    let plugin = host.publish("trivial").await;
    let call = json!({ "plugin": plugin, "run": "limits" });
    let batch: Batch = http.post("/v1/batches", &call).await.json(201);
    format!("/v1/batches/{}", batch.id)
}

/// Answers that refuse a call and say why.
fn check(answer: &Answer, says: &str) {
    let problem = answer.problem(400, "bad_request");
    assert!(problem.detail.contains(says), "`{says}` is not in {problem:?}");
    assert!(problem.detail.len() < 1_000, "{problem:?}");
}

#[tokio::test]
async fn a_malformed_call_is_told_what_is_wrong() {
    let host = waiting();
    let http = Http::new(&host);
    let path = batch(&host, &http).await;
    let long = "r".repeat(limits::RUN_BYTES_MAX + 1);
    let deep = "[".repeat(100_000);
    for (body, says) in [
        (String::new(), "EOF"),
        ("{".into(), "EOF"),
        ("{\"plugin\": trivial}".into(), "line 1 column"),
        ("[]".into(), "an array instead of an object"),
        (deep, "an array instead of an object"),
        ("{}".into(), "missing field `plugin`"),
        (json!({ "plugin": "trivial@prod" }).to_string(), "missing field `run`"),
        (json!({ "plugin": 7, "run": "r" }).to_string(), "invalid type"),
        (json!({ "plugin": "trivial@prod", "run": "" }).to_string(), "run is empty"),
        (json!({ "plugin": "trivial@prod", "run": "a\nb" }).to_string(), "control character"),
        (
            json!({ "plugin": "trivial@prod", "run": long }).to_string(),
            "257 bytes, the limit is 256",
        ),
        (json!({ "plugin": "trivial", "run": "r" }).to_string(), "name@channel"),
        (json!({ "plugin": "\0@prod", "run": "r" }).to_string(), "NUL"),
        (json!({ "plugin": "x@\0", "run": "r" }).to_string(), "NUL"),
        (
            json!({ "plugin": "trivial@prod", "run": "r", "expectedSize": 3 }).to_string(),
            "unknown field `expectedSize`",
        ),
        (
            json!({ "plugin": "trivial@prod", "run": "r", "expected_size": 0 }).to_string(),
            "expected_size must be 1 to 131072",
        ),
        (
            json!({ "plugin": "trivial@prod", "run": "r", "group_size": 131_073 }).to_string(),
            "group_size must be 1 to 131072",
        ),
        (
            json!({ "plugin": "trivial@prod", "run": "r", "iteration": u64::MAX }).to_string(),
            "iteration",
        ),
        (
            json!({ "plugin": "trivial@prod", "run": "r", "settings": [1] }).to_string(),
            "settings must be a JSON object",
        ),
    ] {
        check(&http.post_bytes("/v1/batches", JSON, body).await, says);
    }
    let settings = json!({ "a": "s".repeat(limits::SETTINGS_BYTES_MAX) });
    let call = json!({ "plugin": "trivial@prod", "run": "r", "settings": settings });
    let large = http.post("/v1/batches", &call).await.problem(413, "too_large");
    assert!(large.detail.contains("settings has more than 65536 bytes"), "{large:?}");

    check(
        &http.post(&format!("{path}/seal"), &json!({ "count": 1 })).await,
        "unknown field `count`",
    );
    check(&http.get(&format!("{path}/results?limit=x")).await, "limit");
    check(&http.get(&format!("{path}/results?after=-1")).await, "after");
    check(&http.get("/v1/plugins/%00").await, "NUL");
    check(&http.get("/v1/plugins/%ff").await, "UTF-8");
    check(&http.get("/v1/keys?tenant=%00").await, "NUL");
    check(&http.get("/v1/keys?tenant=a&tenant=b").await, "tenant");
    let promote = http.request(Method::PUT, "/v1/plugins/trivial/channels/prod");
    check(&http.send(promote.json(&json!({ "version": "\0" }))).await, "NUL");
    for id in ["x", "%00", "0", "00000000-0000-0000-0000-000000000000", "a%2Fb"] {
        let _ = http.get(&format!("/v1/batches/{id}")).await.problem(404, "not_found");
        let _ = http.get(&format!("/v1/requests/{id}.0")).await.problem(404, "not_found");
    }
    let beyond = format!("{}.4294967295", path.replace("batches", "requests"));
    let _ = http.get(&beyond).await.problem(404, "not_found");
}

#[tokio::test]
async fn an_item_over_a_limit_is_refused_alone() {
    let host = waiting();
    let http = Http::new(&host);
    let path = format!("{}/requests", batch(&host, &http).await);
    let text = |bytes: usize| "x".repeat(bytes);
    let with = |field: &str, value: Value| {
        let mut item = json!({ "key": field, "response": "" });
        item[field] = value;
        item
    };
    let bad = [
        (with("key", json!("")), "key is empty"),
        (with("key", json!(text(257))), "key has 257 bytes, the limit is 256"),
        (with("key", json!("a\u{7f}")), "control character"),
        (with("group", json!("")), "group is empty"),
        (with("group", json!(text(257))), "group has 257 bytes"),
        (with("group", json!("a\tb")), "control character"),
        (with("prompt", json!(text(limits::PROMPT_BYTES_MAX + 1))), "prompt has 1048577 bytes"),
        (with("response", json!(text(limits::RESPONSE_BYTES_MAX + 1))), "response has 2097153"),
        (with("label", json!(text(limits::LABEL_BYTES_MAX - 1))), "label has 1048577 bytes"),
        (with("metadata", json!(text(limits::METADATA_BYTES_MAX))), "metadata has 262146 bytes"),
        (with("answer", json!(1)), "unknown field `answer`"),
        (with("response", json!(1)), "invalid type"),
        (json!([1]), "not readable"),
        (json!("text"), "not readable"),
    ];
    let mut items: Vec<Value> = bad.iter().map(|(item, _)| item.clone()).collect();
    items.push(json!({
        "key": text(256), "group": text(256), "prompt": "", "label": null, "metadata": {},
        "response": text(limits::RESPONSE_BYTES_MAX),
    }));
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    let array: SubmitReply = http.post(&path, &Value::Array(items)).await.json(200);
    let ndjson: SubmitReply = http.post_bytes(&path, NDJSON, lines).await.json(200);
    for (reply, good) in [(&array, array.accepted), (&ndjson, ndjson.repeated)] {
        assert_eq!((good, reply.rejected as usize), (1, bad.len()), "{reply:?}");
        for ((at, item), (_, says)) in reply.items.iter().enumerate().zip(&bad) {
            let problem = item.problem.as_ref().expect("it was rejected");
            assert_eq!((problem.line as usize, problem.code.as_str()), (at + 1, "invalid_item"));
            assert!(problem.detail.contains(says), "`{says}` is not in {problem:?}");
        }
    }
    check(&http.post(&path, &json!({ "key": "a" })).await, "expected a sequence");
    check(&http.post_bytes(&path, JSON, "[{\"key\":\"a\"").await, "EOF");

    // Two lines of any length, and a good one behind each.
    let long = |bytes| format!(r#"{{"key":"long","response":"{}"}}"#, text(bytes));
    let good = |key| json!({ "key": key, "response": "" });
    let (longer, longest) = (long(limits::ITEM_BYTES_MAX), long(3 * limits::ITEM_BYTES_MAX));
    let lines = format!("\n{longer}\n{}\n{longest}\n{}", good("one"), good("two"));
    let reply: SubmitReply = http.post_bytes(&path, NDJSON, lines).await.json(200);
    assert_eq!((reply.accepted, reply.rejected, reply.items.len()), (2, 2, 4));
    for (at, line) in [(0, 2), (2, 4)] {
        let problem = reply.items[at].problem.as_ref().expect("it was rejected");
        assert_eq!(problem.line, line);
        assert!(problem.detail.contains("more than 4194304 bytes"), "{problem:?}");
    }
    let first = array.items.last().and_then(|item| item.id).expect("it was accepted");
    let whole: Request = http.get(&format!("/v1/requests/{first}")).await.json(200);
    assert_eq!(whole.response.len(), limits::RESPONSE_BYTES_MAX);
}

#[tokio::test]
async fn a_body_over_its_limit_is_refused_as_a_whole() {
    let host = waiting();
    let http = Http::new(&host);
    let path = batch(&host, &http).await;
    let spaces = |bytes: usize| " ".repeat(bytes);
    for (path, bytes, what) in [
        ("/v1/batches".to_owned(), limits::SMALL_BODY_BYTES_MAX, "the body"),
        ("/v1/keys".to_owned(), limits::SMALL_BODY_BYTES_MAX, "the body"),
        ("/v1/session".to_owned(), limits::OPEN_BODY_BYTES_MAX, "the body"),
        ("/v1/bootstrap".to_owned(), limits::OPEN_BODY_BYTES_MAX, "the body"),
        ("/v1/invitations/accept".to_owned(), limits::OPEN_BODY_BYTES_MAX, "the body"),
        ("/v1/rewards".to_owned(), limits::ITEM_BYTES_MAX, "the body"),
        (format!("{path}/requests"), limits::ARRAY_BODY_BYTES_MAX, "an array of items"),
        ("/v1/plugins".to_owned(), limits::PLUGIN_BYTES_MAX, "a component"),
    ] {
        // Also one that goes on long after the refusal.
        for more in [1, 3 << 20] {
            let answer = http.post_bytes(&path, JSON, spaces(bytes + more)).await;
            let problem = answer.problem(413, "too_large");
            let says = format!("{what} has more than {bytes} bytes");
            assert!(problem.detail.contains(&says), "{problem:?}");
        }
    }
    // Lines without a response: each is refused for itself until there are too many.
    // Refused before anything of it is read.
    let nobody = http.without_key();
    let answer = nobody.post_bytes("/v1/plugins", JSON, spaces(8 << 20)).await;
    let _ = answer.problem(401, "unauthenticated");
    let many = (0..=limits::BATCH_REQUESTS_MAX).map(|at| format!("{{\"key\":\"{at}\"}}\n"));
    let many = many.collect::<String>();
    let answer = http.post_bytes(&format!("{path}/requests"), NDJSON, many).await;
    check(&answer, "a batch has at most 131072 requests");
    // Pages have their limits, too.
    for limit in ["0", "1", "10000", "4294967295"] {
        let page = http.get(&format!("{path}/results?limit={limit}")).await;
        assert!(page.json::<ResultsPage>(200).items.is_empty());
    }
}

#[tokio::test]
async fn a_full_batch_takes_repeats_and_refuses_the_rest() {
    let host = waiting();
    let http = Http::new(&host);
    let path = batch(&host, &http).await;
    let item = |key: u32| format!("{{\"key\":\"{key}\",\"response\":\"\"}}\n");
    let full: String = (0..limits::BATCH_REQUESTS_MAX).map(item).collect();
    let requests = format!("{path}/requests");
    let reply: SubmitReply = http.post_bytes(&requests, NDJSON, full).await.json(200);
    assert_eq!(reply.accepted, limits::BATCH_REQUESTS_MAX);
    let more: String = [7, limits::BATCH_REQUESTS_MAX].map(item).concat();
    let reply: SubmitReply = http.post_bytes(&requests, NDJSON, more).await.json(200);
    assert_eq!((reply.repeated, reply.rejected), (1, 1), "{reply:?}");
    let problem = reply.items[1].problem.as_ref().expect("it was rejected");
    assert_eq!((problem.line, problem.code.as_str()), (2, "batch_full"));
    assert!(problem.detail.contains("at most 131072"), "{problem:?}");
}

/// Sends bytes as they are and returns the status line of what comes back, if anything does.
fn raw(host: &Host, bytes: &[u8]) -> Option<String> {
    let address = host.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time-out");
    stream.write_all(bytes).expect("is taken");
    let mut answer = Vec::new();
    // Nothing but a closed connection is an answer as well.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.lines().next().map(str::to_owned)
}

#[tokio::test]
async fn noise_never_breaks_the_server() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let path = batch(&host, &http).await;
    for junk in [
        "GET /v1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(),
        "GET /v1/batches/\u{1} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "x".repeat(70_000)),
        format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(200)),
        format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "b".repeat(500_000)),
        "POST /v1/batches HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n".to_owned(),
        "POST /v1/batches HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
            .to_owned(),
        "\u{0}\u{0}\u{0}\r\n\r\n".to_owned(),
    ] {
        if let Some(status) = raw(&host, junk.as_bytes()) {
            assert!(status.starts_with("HTTP/1.1 4"), "{status}");
        }
    }
    let seals = format!("{path}/seal");
    let requests = format!("{path}/requests");
    let targets =
        ["/v1/batches", "/v1/rewards", "/v1/tenants", "/v1/keys", "/v1/plugins", &seals, &requests];
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).expect("randomness");
    let mut noise = Noise(u64::from_le_bytes(seed) | 1);
    for round in 0..400 {
        let target = targets[noise.below(targets.len())];
        let body = noise.body();
        let kind = [JSON, NDJSON, "", "text/plain"][noise.below(4)];
        let answer = http.post_bytes(target, kind, body.clone()).await;
        let shown = String::from_utf8_lossy(&body);
        assert!(
            answer.status < 500,
            "seed {seed:?}, round {round}: {} {shown}: {}",
            answer.call,
            answer.text()
        );
        if answer.status >= 400 {
            let _: assay_api::problem::Problem = answer.json(answer.status);
        }
    }
    assert_eq!(http.get("/readyz").await.status, 200);
    assert!(!host.log().contains("ERROR"), "{}", host.log());
}

/// xorshift; the seed is told when a round fails.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a small number")
    }

    /// A valid call of some route with a few bytes changed, or nothing but noise.
    fn body(&mut self) -> Vec<u8> {
        const CALLS: [&str; 7] = [
            r#"{"plugin":"trivial@prod","run":"r","iteration":3,"expected_size":2,"settings":{"a":1}}"#,
            r#"{"plugin":"trivial@1.0.0","response":"x","label":{"a":[1,2]},"metadata":null}"#,
            r#"{"name":"noise"}"#,
            r#"{"scopes":["batches:read"],"name":"n","expires_at":"2030-01-01T00:00:00Z"}"#,
            r#"{"final_count":0}"#,
            r#"[{"key":"a","group":"g","response":"x","label":1e400}]"#,
            "{\"key\":\"b\",\"response\":\"\\ud800\"}\n{\"key\":\"c\",\"response\":\"\"}\n",
        ];
        if self.below(4) == 0 {
            return (0..self.below(200)).map(|_| self.next().to_le_bytes()[0]).collect();
        }
        let mut body = CALLS[self.below(CALLS.len())].as_bytes().to_vec();
        for _ in 0..self.below(4) {
            let at = self.below(body.len());
            match self.below(4) {
                0 => body[at] = self.next().to_le_bytes()[0],
                1 => body.truncate(at.max(1)),
                2 => body.splice(at..at, *b"\\u0000").for_each(drop),
                _ => body.splice(at..at, *b"99999999999").for_each(drop),
            }
        }
        body
    }
}
