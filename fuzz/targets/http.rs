//! Calls of the REST interface and of trainers' protocols, by the router as it is served. The input is a call as HTTP/1.1
//! writes it: a line with the method and the path, lines of headers, an empty line, the body. `{key}` and the other names
//! of [`server::World`] are what the server made for them.
//!
//! An error is a problem of RFC 9457 in few printable words. The bytes of a call never make the server fail, nor the
//! database refuse a query. A call that takes longer than [`PATIENCE`] is left, as it may wait for something or follow it.

#![no_main]

use std::net::{IpAddr, Ipv4Addr};
use std::sync::OnceLock;
use std::time::Duration;

use assay_http::Peer;
use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::response::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use futures_util::StreamExt as _;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

use server::Server;

#[path = "http/server.rs"]
mod server;

/// The time after which the caller goes away: some calls wait for rewards, of which there are none, and others follow
/// what happens.
const PATIENCE: Duration = Duration::from_millis(100);
/// A call that makes the server fail does so each time.
const TRIES: usize = 3;
const ANSWER_BYTES_MAX: usize = 4 << 20;
const TOLD_BYTES_MAX: usize = 4 << 10;
/// The session that all calls share must not end.
const SESSION_PATH: &str = "/v1/session";

fuzz_target!(|input: &[u8]| {
    static SERVER: OnceLock<(Runtime, Server)> = OnceLock::new();
    let (runtime, server) = SERVER.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let server = runtime.block_on(Server::start()).expect("the server starts");
        (runtime, server)
    });
    // The database and the worker program are processes, which a busy machine may fail now and then.
    let mut told = String::new();
    for _ in 0..TRIES {
        let Some(call) = read(input, server) else { return };
        match runtime.block_on(answer(&server.router, call)) {
            Some(failure) => told = failure,
            None => return,
        }
    }
    panic!("{told}");
});

/// `None` for what never comes so far: hyper refuses it.
fn read(input: &[u8], server: &Server) -> Option<Request> {
    let input = server.world.fill(input);
    let (head, body) = match memchr::memmem::find(&input, b"\n\n") {
        Some(at) => (&input[..at], &input[at + 2..]),
        None => (&input[..], &[][..]),
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut words = lines.next()?.splitn(2, |byte| *byte == b' ');
    let method = Method::from_bytes(words.next()?).ok()?;
    let mut call = Request::builder().method(&method).uri(words.next()?);
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..colon]).ok()?;
        // The body has the length that it has.
        if [header::CONTENT_LENGTH, header::TRANSFER_ENCODING].contains(&name) {
            continue;
        }
        call = call.header(name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?);
    }
    let body = if body.is_empty() { Body::empty() } else { Body::from(body.to_vec()) };
    let call = call.extension(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST))).body(body).ok()?;
    let ends_session = method == Method::DELETE && call.uri().path() == SESSION_PATH;
    (!ends_session).then_some(call)
}

/// Calls once; the answer is a failure of the server's own, if it was one.
async fn answer(router: &Router, call: Request) -> Option<String> {
    let shown = format!("{} {}", call.method(), call.uri());
    let answered = tokio::time::timeout(PATIENCE, router.clone().oneshot(call)).await;
    let Ok(Ok(answer)) = answered else { return None };
    let (parts, body) = answer.into_parts();
    let mut bytes = Vec::new();
    let whole = async {
        let mut pieces = body.into_data_stream();
        while let Some(Ok(piece)) = pieces.next().await {
            bytes.extend_from_slice(&piece);
            assert!(bytes.len() <= ANSWER_BYTES_MAX, "{shown}: a long answer");
        }
    };
    let is_whole = tokio::time::timeout(PATIENCE, whole).await.is_ok();
    check(&shown, &parts, is_whole.then_some(&bytes[..]))
}

fn check(shown: &str, parts: &Parts, body: Option<&[u8]>) -> Option<String> {
    let status = parts.status;
    assert!((200..600).contains(&status.as_u16()), "{shown}: {status}");
    assert!(parts.headers.contains_key("request-id"), "{shown}: an answer without an id");
    if !status.is_client_error() && !status.is_server_error() {
        return None;
    }
    let body = body.expect("the text of an error is there at once");
    assert_eq!(parts.headers[header::CONTENT_TYPE], "application/problem+json", "{shown}");
    let problem: Value = serde_json::from_slice(body).expect("a problem is JSON");
    let said = String::from_utf8_lossy(body);
    assert!(body.len() <= TOLD_BYTES_MAX, "{shown}: {said}");
    assert_eq!(problem["status"], status.as_u16(), "{shown}: {said}");
    for member in ["type", "title", "code", "detail"] {
        let text = problem[member].as_str().unwrap_or_default();
        assert!(!text.is_empty(), "{shown}: no {member}: {said}");
    }
    for text in problem.as_object().expect("a problem").values().filter_map(Value::as_str) {
        assert!(!text.contains(char::is_control), "{shown}: {said}");
    }
    let code = problem["code"].as_str();
    let is_ours =
        status == StatusCode::INTERNAL_SERVER_ERROR || code == Some("database_unavailable");
    is_ours.then(|| format!("{shown}: {said}"))
}
