//! Strangers who hold connections open: they keep nobody out who has a key, and no probe.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use assay_core::limits;
use assay_tests::{Host, HostOptions, Http, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(120);
/// A probe is promised its answer within 100 ms; a machine three times slower keeps this for half of them.
const PROBE_WITHIN: Duration = Duration::from_millis(300);
const PROBES: usize = 20;

/// What a stranger sends before it falls silent: nothing, half a preface of HTTP/2, a whole one, half of the headers,
/// and headers without the body.
const BEGINNINGS: [&str; 5] = [
    "",
    "PRI * HTTP/2.0\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    "GET /v1/batches HTTP/1.1\r\nHost: a\r\n",
    "POST /v1/session HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
];

/// More than the server ever has open. Fewer where a process may not have so many descriptors, but more than strangers
/// may hold.
fn sockets() -> usize {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("is raised to its maximum");
    let all = limits::PROVEN_CONNECTIONS_MAX + limits::UNPROVEN_CONNECTIONS_MAX + 100;
    all.min(usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(200))
}

fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("sets");
    let mut bytes = [0; 256];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return true,
            // The settings of HTTP/2, or an error before the end.
            Ok(_) => {}
            Err(error) => return error.kind() != ErrorKind::WouldBlock,
        }
    }
}

#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let address = host.url.trim_start_matches("http://").to_owned();
    let count = sockets();
    assert!(
        count > limits::UNPROVEN_CONNECTIONS_MAX,
        "{count} descriptors are too few for this test"
    );
    let mut silent: Vec<TcpStream> = (0..count)
        .map(|number| {
            let mut stream = TcpStream::connect(&address).expect("connects");
            // One that is closed already takes nothing more.
            let _ = stream.write_all(BEGINNINGS[number % BEGINNINGS.len()].as_bytes());
            stream
        })
        .collect();

    // The connection that was there before, a probe on a new one, and a new client.
    let call = json!({ "plugin": plugin, "response": "1", "label": null });
    let _: Value = http.post("/v1/rewards", &call).await.json(200);
    let mut probes = Vec::new();
    for _ in 0..PROBES {
        let asked = Instant::now();
        let probe = Http::new(&host).without_key().get("/livez").await;
        assert_eq!(probe.status, 200);
        probes.push(asked.elapsed());
    }
    probes.sort();
    assert!(probes[PROBES / 2] < PROBE_WITHIN, "half of the probes took longer: {probes:?}");
    let new = Http::new(&host);
    let _: Value = new.post("/v1/rewards", &call).await.json(200);

    let open_max = limits::UNPROVEN_CONNECTIONS_MAX;
    let surplus = count - open_max;
    poll(SOON, "the oldest are closed", || {
        silent[..surplus].iter_mut().all(is_closed).then_some(())
    });
    assert!(silent[surplus..].iter_mut().any(|stream| !is_closed(stream)), "the newest are not");
    // Those that proved themselves are still the same.
    let _: Value = http.post("/v1/rewards", &call).await.json(200);
    let _: Value = new.post("/v1/rewards", &call).await.json(200);
}
