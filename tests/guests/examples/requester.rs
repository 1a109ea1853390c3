//! Sends the requests that its label describes, decent ones by the SDK and others by the bare interface,
//! and tells what came.

use assay_plugin::http::{self, Answer, Request as Question};
use assay_plugin::{Artifact, Description, Error, Outcome, Plugin, Request, Scored, Stage, export};
use serde::Deserialize;
use serde_json::{Value, json};
use wasip2::http::outgoing_handler::handle;
use wasip2::http::types::{Fields, Method, OutgoingBody, OutgoingRequest, Scheme};

struct Requester;

export!(Requester);

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Task {
    Send(Send),
    /// The bare parts of a URL, as they are.
    Bare {
        scheme: String,
        authority: String,
        path: String,
    },
    /// Starts this number of requests without waiting for any of them.
    AtOnce {
        authority: String,
        count: u32,
    },
    /// Writes a body of a request that is never sent.
    WriteUnsent {
        chunks: u32,
    },
    /// Gives parts of this length to a request that is never sent.
    PartsUnsent {
        bytes: usize,
    },
    /// Sends a request whose body never ends.
    NeverFinish {
        authority: String,
    },
    Sleep {
        ms: u32,
    },
    /// Looks at every clock.
    Clocks,
}

#[derive(Deserialize)]
struct Send {
    url: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
    secret: Option<String>,
    #[serde(default)]
    body_bytes: usize,
    timeout_ms: Option<u32>,
    answer_bytes_max: Option<usize>,
    #[serde(default = "once")]
    times: u32,
}

fn once() -> u32 {
    1
}

impl Plugin for Requester {
    fn describe() -> Description {
        Description::new("requester", "1.0.0")
            .stage(Stage::cpu("score").timeout_ms(5_000))
            .nondeterministic()
    }

    fn run_stage(
        _stage: &str,
        _settings: &str,
        request: &Request,
        _input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        let told = match request.label_as()? {
            Task::Send(send) => sent(&send)?,
            Task::Bare { scheme, authority, path } => bare(&scheme, &authority, &path),
            Task::AtOnce { authority, count } => at_once(&authority, count),
            Task::WriteUnsent { chunks } => write_unsent(chunks),
            Task::PartsUnsent { bytes } => parts_unsent(bytes),
            Task::NeverFinish { authority } => never_finish(&authority),
            Task::Sleep { ms } => {
                http::sleep_ms(ms);
                json!("slept")
            }
            Task::Clocks => json!([
                wasip2::clocks::monotonic_clock::now(),
                wasip2::clocks::wall_clock::now().seconds,
            ]),
        };
        Ok(Scored::new(1.0, "told").explain(told.to_string()).into())
    }
}

fn sent(send: &Send) -> Result<Value, Error> {
    let mut question = match send.body_bytes {
        0 => Question::get(&send.url),
        count => Question::post(&send.url).body(vec![b'x'; count]),
    };
    for (name, value) in &send.headers {
        question = question.header(name, value.as_str());
    }
    if let Some(secret) = &send.secret {
        question = question.secret(secret);
    }
    if let Some(timeout_ms) = send.timeout_ms {
        question = question.timeout_ms(timeout_ms);
    }
    if let Some(bytes_max) = send.answer_bytes_max {
        question = question.answer_bytes_max(bytes_max);
    }
    for _ in 1..send.times {
        question.send()?;
    }
    Ok(told(&question.send()?))
}

fn told(answer: &Answer) -> Value {
    let body = String::from_utf8_lossy(&answer.body);
    let headers: Vec<_> = answer.headers.iter().map(|(name, _)| name).collect();
    json!({
        "status": answer.status,
        "headers": headers,
        "bytes": answer.body.len(),
        "body": body.chars().take(1_000).collect::<String>(),
    })
}

fn bare(scheme: &str, authority: &str, path: &str) -> Value {
    let request = OutgoingRequest::new(Fields::new());
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.into()),
    };
    if request.set_method(&Method::Get).is_err() || request.set_scheme(Some(&scheme)).is_err() {
        return json!("the scheme is refused");
    }
    if request.set_authority(Some(authority)).is_err() {
        return json!("the authority is refused");
    }
    if request.set_path_with_query(Some(path)).is_err() {
        return json!("the path is refused");
    }
    match handle(request, None) {
        Err(code) => json!(format!("{code:?}")),
        Ok(future) => {
            future.subscribe().block();
            match future.get() {
                Some(Ok(Ok(answer))) => json!(answer.status()),
                Some(Ok(Err(code))) => json!(format!("{code:?}")),
                _ => json!("nothing"),
            }
        }
    }
}

fn at_once(authority: &str, count: u32) -> Value {
    let open = |_| {
        let request = OutgoingRequest::new(Fields::new());
        let _ = request.set_scheme(Some(&Scheme::Http));
        let _ = request.set_authority(Some(authority));
        let _ = request.set_path_with_query(Some("/"));
        handle(request, None).ok()
    };
    let futures: Vec<_> = (0..count).filter_map(open).collect();
    let mut refused = 0;
    for future in &futures {
        future.subscribe().block();
        if let Some(Ok(Err(code))) = future.get() {
            refused += u32::from(format!("{code:?}").contains("ConnectionLimitReached"));
        }
    }
    json!({ "refused": refused })
}

fn write_unsent(chunks: u32) -> Value {
    let request = OutgoingRequest::new(Fields::new());
    let Ok(body) = request.body() else { return json!("no body") };
    let Ok(stream) = body.write() else { return json!("no stream") };
    for at in 0..chunks {
        if stream.blocking_write_and_flush(b"x").is_err() {
            return json!({ "written": at });
        }
    }
    json!({ "written": chunks })
}

fn parts_unsent(bytes: usize) -> Value {
    let request = OutgoingRequest::new(Fields::new());
    let long = "x".repeat(bytes);
    let Ok(body) = request.body() else { return json!("no body") };
    let Ok(stream) = body.write() else { return json!("no stream") };
    json!({
        "method": request.set_method(&Method::Other(long.clone())).is_ok(),
        "scheme": request.set_scheme(Some(&Scheme::Other(long.clone()))).is_ok(),
        "authority": request.set_authority(Some(&long)).is_ok(),
        "path": request.set_path_with_query(Some(&format!("/{long}"))).is_ok(),
        "writes": stream.check_write().ok(),
    })
}

fn never_finish(authority: &str) -> Value {
    let request = OutgoingRequest::new(Fields::new());
    let _ = request.set_method(&Method::Post);
    let _ = request.set_scheme(Some(&Scheme::Http));
    let _ = request.set_authority(Some(authority));
    let _ = request.set_path_with_query(Some("/"));
    let Ok(body) = request.body() else { return json!("no body") };
    let Ok(future) = handle(request, None) else { return json!("refused") };
    future.subscribe().block();
    let told = match future.get() {
        Some(Ok(Err(code))) => json!(format!("{code:?}")),
        _ => json!("answered"),
    };
    let _ = OutgoingBody::finish(body, None);
    told
}
