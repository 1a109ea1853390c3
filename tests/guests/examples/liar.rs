//! Misbehaves as the request's response text tells it to.

use std::collections::hash_map::RandomState;
use std::fmt::Debug;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime};

use assay_guests::{
    Artifact, Component, Description, Error, Guest, Outcome, Request, Scored, Stage, bindings,
    description, log, scored, stage,
};

static CALLS: AtomicU32 = AtomicU32::new(0);

struct Liar;

impl Guest for Liar {
    fn describe() -> Description {
        // Some lies last until their time is over.
        let brief = |name| Stage { timeout_ms: 1_000, ..stage(name) };
        description("liar", vec![brief("prepare"), brief("score")])
    }

    fn run_stage(
        stage: String,
        settings: String,
        request: Request,
        input: Option<Artifact>,
    ) -> Result<Outcome, Error> {
        match request.response.as_str() {
            "spin" | "allocate" | "recurse" | "recurse_deep" | "abort" | "panic" | "divide"
            | "exit" | "sleep_for_ever" => end_badly(&request),
            "log_flood" | "log_long" | "print_flood" => flood(&request.response),
            "nan" | "infinite" | "verdict_huge" | "verdict_empty" | "explanation_huge"
            | "components_many" | "components_twice" => Ok(nonsense(&request.response)),
            "artifact_huge" => Ok(next(vec![7; (16 << 20) + 1])),
            "artifact_enormous" => Ok(next(vec![7; 40 << 20])),
            "artifact_type_huge" => {
                Ok(Outcome::Next(Artifact { content_type: "x".repeat(1 << 20), bytes: Vec::new() }))
            }
            "next" => Ok(next(b"for the next stage".to_vec())),
            "bad_request" => Err(Error::BadRequest("no label".into())),
            "bad_settings" => Err(Error::BadSettings("no such knob".into())),
            "unavailable" => Err(Error::Unavailable("no GPU".into())),
            "internal" => Err(Error::Internal("x".repeat(100_000))),
            "sleep" => {
                std::thread::sleep(Duration::from_secs(60));
                Ok(scored(1.0, "slept".into()))
            }
            "ambient" => Ok(scored(1.0, ambient())),
            "random" => Ok(scored(1.0, format!("{:?}", [random(), random()]))),
            "network" => Ok(scored(1.0, network())),
            "count" => {
                Ok(scored(f64::from(CALLS.fetch_add(1, Ordering::Relaxed) + 1), String::new()))
            }
            "seen" => Ok(scored(1.0, seen(&stage, &settings, &request, input.as_ref()))),
            "two_stages" => Ok(two_stages(&stage, input)),
            other => Err(Error::BadRequest(format!("no such lie: {other}"))),
        }
    }
}

fn end_badly(request: &Request) -> ! {
    match request.response.as_str() {
        "allocate" => {
            let mut kept = Vec::new();
            loop {
                kept.push(vec![1_u8; 1 << 20]);
                black_box(&kept);
            }
        }
        "recurse" => panic!("recursion ended: {}", recurse(request.seed)),
        "recurse_deep" => panic!("recursion ended: {}", recurse_deep(0, request.seed)),
        "abort" => std::process::abort(),
        "panic" => panic!("the answer was not there"),
        "divide" => panic!("{}", 7 / black_box(0)),
        "exit" => std::process::exit(3),
        "sleep_for_ever" => loop {
            std::thread::sleep(Duration::MAX);
        },
        _ => loop {
            std::hint::spin_loop();
        },
    }
}

/// Runs out of the stack that the guest keeps in its own memory.
#[inline(never)]
fn recurse(left: u64) -> u64 {
    let frame = black_box([left; 64]);
    if left == 0 { 0 } else { recurse(left - 1).rotate_left(1) ^ frame[63] }
}

/// Keeps nothing in memory, and so runs out of the engine's stack.
#[inline(never)]
fn recurse_deep(depth: u64, limit: u64) -> u64 {
    if depth == limit { 0 } else { recurse_deep(depth + 1, limit).rotate_left(7) ^ depth }
}

fn flood(mode: &str) -> Result<Outcome, Error> {
    match mode {
        "log_flood" => {
            for at in 0..10_000 {
                log::write(log::Level::Info, &format!("line {at}"));
            }
        }
        "log_long" => log::write(log::Level::Warn, &"ä".repeat(100_000)),
        _ => {
            let line = "y".repeat(999);
            for _ in 0..1_000 {
                writeln!(std::io::stdout(), "{line}")
                    .map_err(|e| Error::Internal(e.to_string()))?;
                writeln!(std::io::stderr(), "{line}")
                    .map_err(|e| Error::Internal(e.to_string()))?;
            }
        }
    }
    Ok(scored(1.0, String::new()))
}

fn nonsense(mode: &str) -> Outcome {
    let mut end = Scored {
        reward: 1.0,
        verdict: "success".into(),
        components: Vec::new(),
        explanation: String::new(),
    };
    let component = |name: String| Component { name, value: 1.0 };
    match mode {
        "nan" => end.reward = f64::NAN,
        "infinite" => end.reward = f64::INFINITY,
        "verdict_huge" => end.verdict = "x".repeat(1 << 20),
        "verdict_empty" => end.verdict.clear(),
        "explanation_huge" => end.explanation = "x".repeat(1 << 20),
        "components_many" => {
            end.components = (0..1_000).map(|at| component(at.to_string())).collect();
        }
        _ => end.components = vec![component("same".into()), component("same".into())],
    }
    Outcome::Scored(end)
}

fn next(bytes: Vec<u8>) -> Outcome {
    Outcome::Next(Artifact { content_type: "text/plain".into(), bytes })
}

fn two_stages(stage: &str, input: Option<Artifact>) -> Outcome {
    match (stage, input) {
        ("prepare", None) => next(b"prepared".to_vec()),
        ("score", Some(artifact)) if artifact.bytes == b"prepared" => scored(0.75, String::new()),
        (stage, input) => scored(0.0, format!("{stage} with {input:?}")),
    }
}

/// The guest's arguments, so that the test can compare them with those that were sent.
fn seen(stage: &str, settings: &str, request: &Request, input: Option<&Artifact>) -> String {
    let Request { id, group, prompt, response, label, metadata, attempt, seed } = request;
    let input = input.map(|artifact| (&artifact.content_type, &artifact.bytes));
    format!(
        "{stage} {settings} {id} {group:?} {prompt} {response} {label} {metadata} {attempt} {seed} {input:?}"
    )
}

/// Everything a program could learn of the machine it runs on.
fn ambient() -> String {
    let started = Instant::now();
    for at in 0..100_000_u32 {
        black_box(at);
    }
    let mut stdin = String::new();
    let read = std::io::stdin().read_to_string(&mut stdin);
    let facts = [
        format!("variables: {}", std::env::vars_os().count()),
        format!("arguments: {}", std::env::args_os().count()),
        format!("file: {}", refused(std::fs::read("/etc/passwd"))),
        format!("folder: {}", refused(std::fs::read_dir("/"))),
        format!("written: {}", refused(std::fs::write("left-behind", "x"))),
        format!("stdin: {read:?}"),
        format!("elapsed: {:?}", started.elapsed()),
        format!("today: {:?}", SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)),
    ];
    facts.join("\n")
}

fn network() -> String {
    let facts = [
        format!("tcp: {}", refused(TcpStream::connect("127.0.0.1:1"))),
        format!("udp: {}", refused(UdpSocket::bind("127.0.0.1:0"))),
        format!("name: {}", refused("localhost:80".to_socket_addrs())),
    ];
    facts.join("\n")
}

fn refused<T, E: Debug>(result: Result<T, E>) -> &'static str {
    if result.is_ok() { "allowed" } else { "refused" }
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

bindings::export!(Liar with_types_in bindings);
