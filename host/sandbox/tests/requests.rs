//! Requests to other hosts: only to those that were granted, only to addresses that may be reached, and
//! never for longer than the call. The guest `requester` tells what it got.

mod lookups;
mod parts;
mod tls;

use std::io::Write as _;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use assay_core::limits;
use assay_core::outcome::{ErrorCode, StageEnd};
use assay_sandbox::capability::Capabilities;
use assay_sandbox::capability::http::{HeaderSecret, Network, Outbound};
use assay_sandbox::{StageCall, StageRun};
use serde_json::{Value, json};

use crate::guests::{Plugin, call, liar};
use crate::machine::bare;
use crate::server::{Server, ok};

fn requester() -> &'static Plugin {
    static REQUESTER: OnceLock<Plugin> = OnceLock::new();
    REQUESTER.get_or_init(|| Plugin::new("requester"))
}

/// A name's addresses, one list a look.
fn names(answers: &[&[&str]]) -> (Network, Arc<Mutex<u32>>) {
    let parsed =
        |list: &&[&str]| list.iter().map(|text| text.parse().expect("an address")).collect();
    let answers: Vec<Vec<IpAddr>> = answers.iter().map(parsed).collect();
    let looks = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&looks);
    let network = Network::with(Arc::new(move |_| {
        let mut looks = counted.lock().expect("whole");
        let answer = answers[(*looks as usize).min(answers.len() - 1)].clone();
        *looks += 1;
        Ok(answer)
    }));
    (network, looks)
}

struct Granted {
    hosts: Vec<String>,
    network: Network,
    secrets: Vec<HeaderSecret>,
    timeout: Duration,
}

impl Granted {
    fn hosts(hosts: &[String]) -> Self {
        let (network, _) = names(&[&["127.0.0.1"]]);
        let timeout = Duration::from_secs(30);
        Self { hosts: hosts.to_vec(), network, secrets: Vec::new(), timeout }
    }

    /// The server by its address.
    fn to(server: &Server) -> Self {
        Self::hosts(&[format!("private:http://127.0.0.1:{}", server.port())])
    }

    /// The server by a name, whose addresses are the resolver's to say.
    fn named(server: &Server, network: Network) -> Self {
        let hosts = [format!("http://judge.example:{}", server.port())];
        Self { network, ..Self::hosts(&hosts) }
    }

    fn run(self, label: &Value) -> StageRun {
        let folder = tempfile::tempdir().expect("a folder");
        let capabilities = self.capabilities(folder.path());
        let label = label.to_string();
        let mut call = StageCall { capabilities: Some(capabilities), ..call("") };
        call.timeout = self.timeout;
        // For whatever it may receive, twice.
        call.memory_bytes_max = 256 << 20;
        call.request.label = &label;
        requester().run(call)
    }

    fn capabilities(&self, folder: &std::path::Path) -> Capabilities {
        let hosts = self.hosts.iter().map(|host| host.parse().expect("a pattern")).collect();
        Capabilities {
            network: Arc::new(self.network.clone()),
            outbound: Arc::new(Outbound {
                hosts,
                secrets: self.secrets.clone(),
                traceparent: None,
            }),
            ..bare(folder)
        }
    }
}

/// What must come to an end before its time is over: again where this machine stalled until it was.
fn in_time(label: &Value, granted: impl Fn() -> Granted) -> StageRun {
    let mut run = granted().run(label);
    for _ in 0..5 {
        if run.end != StageEnd::TimedOut {
            break;
        }
        run = granted().run(label);
    }
    run
}

fn get(url: String) -> Value {
    json!({"send": {"url": url}})
}

fn told(run: &StageRun) -> Value {
    match &run.end {
        StageEnd::Scored(scored) => serde_json::from_str(&scored.explanation).expect("JSON"),
        other => panic!("{other:?}, {:?}", run.logs),
    }
}

/// An error of this code, never a number; its message and the plugin's log.
fn failed(run: &StageRun, code: ErrorCode) -> String {
    match &run.end {
        StageEnd::Failed(error) if error.code == code => {
            format!("{}\n{:?}", error.message, run.logs)
        }
        other => panic!("expected {code}, got {other:?}"),
    }
}

#[test]
fn a_granted_host_answers() {
    let server = Server::saying(ok("hello"));
    let label = json!({"send": {
        "url": format!("http://127.0.0.1:{}/path?query=1", server.port()),
        "headers": [["x-test", "1"]],
        "body_bytes": 10_000,
    }});
    let told = told(&Granted::to(&server).run(&label));
    assert_eq!((&told["status"], &told["body"]), (&json!(200), &json!("hello")));
    let heard = &server.heard()[0];
    assert!(heard.starts_with("POST /path?query=1 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains(&format!("host: 127.0.0.1:{}\r\n", server.port())), "{heard}");
    assert!(heard.contains("content-length: 10000\r\n"), "{heard}");
    assert!(heard.contains("x-test: 1\r\n"), "{heard}");
}

#[test]
fn a_plugin_imports_what_it_uses() {
    let asks = |plugin: &Plugin| {
        plugin
            .compiled
            .imports
            .iter()
            .any(|import| import.starts_with("wasi:http/outgoing-handler@"))
    };
    assert!(asks(requester()) && requester().loaded.asks());
    assert!(!asks(liar()), "{:?}", liar().compiled.imports);
}

#[test]
fn without_a_grant_nothing_is_sent() {
    let server = Server::saying(ok(""));
    let url = || get(format!("http://127.0.0.1:{}/", server.port()));
    let said = failed(&Granted::hosts(&[]).run(&url()), ErrorCode::BadSettings);
    assert!(said.contains("was not granted http://127.0.0.1:"), "{said}");
    let other = ["private:http://127.0.0.1:1".into(), "https://judge.example".into()];
    failed(&Granted::hosts(&other).run(&url()), ErrorCode::BadSettings);
    // A call without capabilities at all.
    let label = url().to_string();
    let mut bare = call("");
    bare.request.label = &label;
    failed(&requester().run(bare), ErrorCode::BadSettings);
    assert!(server.heard().is_empty());
}

#[test]
fn a_name_leads_to_no_address_that_is_not_public() {
    const ADDRESSES: &str = "127.0.0.1 127.9.9.9 10.0.0.1 172.16.0.1 192.168.0.1 100.64.0.1 0.0.0.0 \
        169.254.169.254 255.255.255.255 224.0.0.1 ::1 :: fe80::1 fd00::1 ff02::1 ::ffff:127.0.0.1 \
        ::ffff:169.254.169.254 64:ff9b::7f00:1 2002:7f00:1:: ::127.0.0.1";
    let server = Server::saying(ok(""));
    let url = || get(format!("http://judge.example:{}/", server.port()));
    for address in ADDRESSES.split(' ') {
        let (network, _) = names(&[&[address]]);
        let said = failed(&Granted::named(&server, network).run(&url()), ErrorCode::BadSettings);
        assert!(said.contains("judge.example has an address"), "{address}: {said}");
        // Which one it is, is not told.
        assert!(address == "::" || !said.contains(address), "{said}");
    }
    // One of many, and beside a public one.
    let (network, _) = names(&[&["8.8.8.8", "127.0.0.1"]]);
    failed(&Granted::named(&server, network).run(&url()), ErrorCode::BadSettings);
    assert!(server.heard().is_empty());
}

#[test]
fn nobody_grants_what_is_never_reached() {
    for host in ["169.254.169.254", "0.0.0.0", "[fe80::1]", "[::ffff:169.254.169.254]"] {
        let granted = Granted::hosts(&[format!("private:http://{host}:80")]);
        failed(&granted.run(&get(format!("http://{host}/"))), ErrorCode::BadSettings);
    }
}

#[test]
fn a_name_is_looked_up_once() {
    let server = Server::saying(ok("here"));
    // The second look would lead elsewhere: nobody looks twice.
    let (network, looks) = names(&[&["127.0.0.1"], &["10.255.255.1"]]);
    let hosts = [format!("private:http://judge.example:{}", server.port())];
    let granted = Granted { network, ..Granted::hosts(&hosts) };
    let url = get(format!("http://judge.example:{}/", server.port()));
    assert_eq!(told(&granted.run(&url))["body"], "here");
    assert_eq!(*looks.lock().expect("whole"), 1);
    assert!(server.heard()[0].contains(&format!("host: judge.example:{}\r\n", server.port())));
}

#[test]
fn odd_spellings_of_a_host_are_no_hosts() {
    let server = Server::saying(ok(""));
    let port = server.port();
    for authority in [
        "127.1",
        "0x7f000001",
        "2130706433",
        "0177.0.0.1",
        "127.0.0.1.",
        "localhost",
        "LOCALHOST",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "judge.example@127.0.0.1",
        "judge.example:80@127.0.0.1",
    ] {
        let hosts = ["http://judge.example".into(), format!("private:http://judge.example:{port}")];
        let label = json!({"bare": {
            "scheme": "http", "authority": format!("{authority}:{port}"), "path": "/",
        }});
        let told = told(&Granted::hosts(&hosts).run(&label)).to_string();
        let refused = ["HttpRequestDenied", "HttpRequestUriInvalid", "refused"];
        assert!(refused.iter().any(|word| told.contains(word)), "{authority}: {told}");
    }
    for (scheme, path) in [("ftp", "/"), ("http", "http://10.0.0.1/"), ("http", "/a b\r\nx: y")] {
        let authority = format!("127.0.0.1:{port}");
        let label = json!({"bare": {"scheme": scheme, "authority": authority, "path": path}});
        let told = told(&Granted::to(&server).run(&label)).to_string();
        assert!(told.contains("refused") || told.contains("Http"), "{scheme} {path}: {told}");
    }
    assert!(server.heard().is_empty(), "{:?}", server.heard());
}

#[test]
fn no_header_smuggles() {
    let server = Server::saying(ok(""));
    let send = |name: &str, value: &str| {
        let url = format!("http://127.0.0.1:{}/", server.port());
        let label = json!({"send": {"url": url, "headers": [[name, value]], "body_bytes": 3}});
        Granted::to(&server).run(&label)
    };
    for (name, value) in [
        ("host", "169.254.169.254"),
        ("transfer-encoding", "chunked"),
        ("connection", "close"),
        ("upgrade", "h2c"),
        ("proxy-authorization", "x"),
        ("expect", "100-continue"),
        ("te", "trailers"),
        ("x-a", "b\r\nx-c: d"),
        ("x a", "b"),
        ("content-length", "+3"),
    ] {
        let run = send(name, value);
        assert!(matches!(run.end, StageEnd::Failed(_)), "{name}: {:?}", run.end);
    }
    assert!(server.heard().is_empty(), "{:?}", server.heard());
    told(&send("content-length", "3"));
    let heard = &server.heard()[0];
    assert_eq!(heard.matches("content-length: 3\r\n").count(), 1, "{heard}");
}

#[test]
fn a_redirect_is_an_answer() {
    let hidden = Server::saying(ok("secret"));
    let location = format!("http://127.0.0.1:{}/", hidden.port());
    let server = Server::saying(format!(
        "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n"
    ));
    let url = get(format!("http://127.0.0.1:{}/", server.port()));
    assert_eq!(told(&Granted::to(&server).run(&url))["status"], 302);
    assert!(hidden.heard().is_empty());
}

#[test]
fn a_secret_is_put_on_and_never_seen() {
    let server = Server::saying(ok("hello"));
    let secret = HeaderSecret {
        name: "key".into(),
        host: format!("private:http://127.0.0.1:{}", server.port()).parse().expect("a pattern"),
        header: "authorization".into(),
        value: "Bearer hush-hush".into(),
    };
    let send = |server: &Server, name: &str, secret: &HeaderSecret| {
        let url = format!("http://127.0.0.1:{}/", server.port());
        let granted = Granted { secrets: vec![secret.clone()], ..Granted::to(server) };
        granted.run(&json!({"send": {"url": url, "secret": name}}))
    };
    let run = send(&server, "key", &secret);
    assert!(!format!("{:?} {:?}", told(&run), run.logs).contains("hush"));
    let heard = &server.heard()[0];
    assert!(heard.contains("authorization: Bearer hush-hush\r\n"), "{heard}");
    assert!(!heard.contains("assay-secret"), "{heard}");
    // Another name, and another host.
    failed(&send(&server, "other", &secret), ErrorCode::BadSettings);
    let elsewhere = Server::saying(ok(""));
    failed(&send(&elsewhere, "key", &secret), ErrorCode::BadSettings);
    assert!(elsewhere.heard().is_empty());
    assert!(!format!("{secret:?}").contains("hush"));
}

#[test]
fn answers_have_limits() {
    let endless = Server::start(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let url = format!("http://127.0.0.1:{}/", endless.port());
    let label = json!({"send": {"url": url, "answer_bytes_max": 1_u64 << 30}});
    let said = failed(&Granted::to(&endless).run(&label), ErrorCode::PluginError);
    assert!(said.contains("too much for one call"), "{said}");

    // Bytes that were read along with the last of them are looked at, too.
    let header = "x".repeat(4 * limits::HTTP_HEADER_BYTES_MAX);
    let long = Server::saying(format!("HTTP/1.1 200 OK\r\nx: {header}\r\n\r\n"));
    let url = get(format!("http://127.0.0.1:{}/", long.port()));
    failed(&Granted::to(&long).run(&url), ErrorCode::Unavailable);

    let many: String = (0..=limits::HTTP_HEADERS_MAX).map(|at| format!("x-{at}: 1\r\n")).collect();
    let many = Server::saying(format!("HTTP/1.1 200 OK\r\n{many}\r\n"));
    let url = get(format!("http://127.0.0.1:{}/", many.port()));
    failed(&Granted::to(&many).run(&url), ErrorCode::Unavailable);
}

#[test]
fn requests_have_limits() {
    let server = Server::saying(ok(""));
    let url = format!("http://127.0.0.1:{}/", server.port());
    let bytes = limits::HTTP_SENT_BYTES_MAX + 1;
    let label = json!({"send": {"url": url, "body_bytes": bytes}});
    let said = failed(&Granted::to(&server).run(&label), ErrorCode::PluginError);
    assert!(said.contains("too much for one call"), "{said}");
    assert!(server.heard().is_empty());

    let label = json!({"send": {"url": url, "times": limits::HTTP_REQUESTS_MAX + 1}});
    failed(&Granted::to(&server).run(&label), ErrorCode::PluginError);
    assert_eq!(server.heard().len(), limits::HTTP_REQUESTS_MAX as usize);

    let path = "x".repeat(limits::HTTP_PATH_BYTES_MAX + 1);
    failed(&Granted::to(&server).run(&get(format!("{url}{path}"))), ErrorCode::PluginError);
}

#[test]
fn few_requests_are_under_way_at_once() {
    // Nobody is answered before as many were heard as may come.
    let silent = Server::start(|stream| drop(std::io::Read::read(stream, &mut [0])));
    let authority = format!("127.0.0.1:{}", silent.port());
    let count = 2 * limits::HTTP_AT_ONCE_MAX;
    let label = json!({"at_once": {"authority": authority, "count": count}});
    let granted = || Granted { timeout: Duration::from_secs(3), ..Granted::to(&silent) };
    let told = told(&in_time(&label, granted));
    assert_eq!(told["refused"], limits::HTTP_AT_ONCE_MAX);
}

/// A call that may last so long, against a server that never comes to an end, says so in time.
fn ends_in_time(answer: impl Fn(&mut std::net::TcpStream) + Send + Sync + 'static) {
    let server = Server::start(answer);
    let granted = || Granted { timeout: Duration::from_secs(2), ..Granted::to(&server) };
    let run = in_time(&get(format!("http://127.0.0.1:{}/", server.port())), granted);
    let said = failed(&run, ErrorCode::Unavailable);
    assert!(said.contains("time for requests is over"), "{said}");
    assert!(run.ran.0 < 60_000_000, "{} µs", run.ran.0);
}

#[test]
fn a_server_that_says_nothing_is_unavailable() {
    ends_in_time(|stream| drop(std::io::Read::read(stream, &mut [0])));
}

#[test]
fn a_server_that_drips_is_unavailable() {
    ends_in_time(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::park_timeout(Duration::from_millis(20));
        }
    });
    ends_in_time(|stream| {
        while stream.write_all(b"H").is_ok() {
            std::thread::park_timeout(Duration::from_millis(20));
            if stream.write_all(b"TTP/1.1 100 Continue\r\n\r\n").is_err() {
                return;
            }
        }
    });
}

#[test]
fn a_process_that_is_stopped_loses_no_answer() {
    let timeout = Duration::from_secs(2);
    let server = Server::start(|stream| {
        // This server is stopped with the guest, for longer than the guest's time, and then answers.
        let stop = format!("kill -STOP {0}; sleep 3; kill -CONT {0}", std::process::id());
        let stopped = std::process::Command::new("sh").args(["-c", &stop]).status();
        assert!(stopped.expect("there is a shell").success());
        let _ = stream.write_all(&ok("hello"));
    });
    let granted = Granted { timeout, ..Granted::to(&server) };
    let run = granted.run(&get(format!("http://127.0.0.1:{}/", server.port())));
    assert_eq!(told(&run)["body"], json!("hello"));
}

#[test]
fn a_request_has_a_timeout_of_its_own() {
    let silent = Server::start(|stream| drop(std::io::Read::read(stream, &mut [0])));
    let url = format!("http://127.0.0.1:{}/", silent.port());
    let label = json!({"send": {"url": url, "timeout_ms": 50}});
    let said = failed(&Granted::to(&silent).run(&label), ErrorCode::Unavailable);
    assert!(said.contains("there is no answer"), "{said}");
}

#[test]
fn a_failed_conversation_is_unavailable() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "garbage\r\n\r\n",
        "HTTP/1.1 2",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let server = Server::saying(answer);
        let url = get(format!("http://127.0.0.1:{}/", server.port()));
        failed(&Granted::to(&server).run(&url), ErrorCode::Unavailable);
    }
    // Nobody listens.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let granted = Granted::hosts(&[format!("private:http://127.0.0.1:{port}")]);
    failed(&granted.run(&get(format!("http://127.0.0.1:{port}/"))), ErrorCode::Unavailable);
    // A name that nobody knows.
    let network = Network::with(Arc::new(|_| Err(std::io::Error::other("unknown"))));
    let granted = Granted { network, ..Granted::hosts(&["http://judge.example".into()]) };
    failed(&granted.run(&get("http://judge.example/".into())), ErrorCode::Unavailable);
    // Who speaks no TLS has no certificate.
    let plain = Server::saying(ok(""));
    let granted = Granted::hosts(&[format!("private:127.0.0.1:{}", plain.port())]);
    failed(
        &granted.run(&get(format!("https://127.0.0.1:{}/", plain.port()))),
        ErrorCode::Unavailable,
    );
    assert!(plain.heard().is_empty());
}

#[test]
fn a_guest_that_waits_for_itself_ends_with_its_call() {
    let server = Server::saying(ok(""));
    let run = |label: Value| {
        let timeout = Duration::from_millis(500);
        Granted { timeout, ..Granted::to(&server) }.run(&label)
    };
    let ended = run(json!({"write_unsent": {"chunks": 100}}));
    assert!(matches!(ended.end, StageEnd::TimedOut), "{:?}", ended.end);
    let never = json!({"never_finish": {"authority": format!("127.0.0.1:{}", server.port())}});
    let timeout = Duration::from_millis(500);
    let ended = in_time(&never, || Granted { timeout, ..Granted::to(&server) });
    let told = told(&ended).to_string();
    assert!(told.contains("time for requests is over"), "{told}");
    assert!(server.heard().is_empty());
    // Without a grant, too.
    let label = json!({"write_unsent": {"chunks": 100}}).to_string();
    let mut bare = StageCall { timeout: Duration::from_millis(500), ..call("") };
    bare.request.label = &label;
    let ended = requester().run(bare);
    assert!(matches!(ended.end, StageEnd::TimedOut), "{:?}", ended.end);
}

#[test]
fn a_sleep_passes_and_the_clock_stands_still() {
    let run = |ms: u32, timeout: Duration| {
        let label = json!({"sleep": {"ms": ms}});
        let run = in_time(&label, || Granted { timeout, ..Granted::hosts(&[]) });
        assert_eq!(told(&run), "slept");
        run.ran.0
    };
    assert!(run(300, Duration::from_secs(30)) >= 300_000);
    // It ends before the call does.
    assert!(run(3_600_000, Duration::from_secs(2)) < 60_000_000);
    let clocks = told(&Granted::hosts(&[]).run(&json!("clocks")));
    assert_eq!(clocks, json!([0, 946_684_800]));
}
