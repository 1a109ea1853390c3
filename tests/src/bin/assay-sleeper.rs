//! A worker whose stages sleep: of them many more than there are cores run for as long as they are
//! told, which tests of the planner need. It knows the wire and nothing of plugins.
//!
//! Command line: the engine's name, how long it takes to start in milliseconds, the folder of gates, then
//! as for `assay-worker`. The response of a request is how long each of two stages sleeps, in milliseconds,
//! or the name of a gate: the stage lasts until a file of that name is in the folder, and logs the name. The first two tries of a stage
//! that is called `starved` end as those that the machine kept waiting. One that is called `code` logs the digest of the code
//! that it was to run.
//!
//! Where a file and an object are named instead (`@/path judge/a`), a stage asks for the object as it
//! may and as it may not ([`ObjectAnswers`]), writes what was answered to the file, and lasts until that file
//! is gone. Behind `#` in the place of `@` it reads the object more often at once than a server permits, and ends no read
//! before the file is gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::limits::{HEARTBEAT_SECONDS, OBJECT_READS_MAX};
use assay_core::outcome::{Artifact, ErrorCode, Scored, StageEnd, StageError};
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{Body, FromWorker, Grant, Hello, LogLine, StoredRequest};
use prost::Message as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Code;
use tonic::transport::{Channel, Endpoint};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, startup_ms, gates, _serve, options @ ..] = &arguments[..] else {
        anyhow::bail!("the engine, the start-up and the gates come first");
    };
    tokio::time::sleep(Duration::from_millis(startup_ms.parse()?)).await;
    let hello = Hello {
        ticket: std::env::var("ASSAY_WORKER_TICKET")?,
        pool: option(options, "--pool")?.into(),
        engine: engine.clone(),
        in_hand_max: 1,
    };
    serve(option(options, "--connect")?, hello, gates.into()).await
}

fn option<'a>(options: &'a [String], name: &str) -> anyhow::Result<&'a str> {
    let mut pairs = options.chunks_exact(2);
    let value = pairs.find(|pair| pair[0] == name).map(|pair| &*pair[1]);
    value.with_context(|| format!("{name} is missing"))
}

/// Until the host ends the stream.
async fn serve(socket: &str, hello: Hello, gates: PathBuf) -> anyhow::Result<()> {
    // The host may grant as soon as it has read the hello, and the signal may come as soon as it has granted.
    let mut leave = signal(SignalKind::user_defined1())?;
    let channel = Endpoint::from_shared(format!("unix://{socket}"))?.connect().await?;
    let (outgoing, messages) = mpsc::channel(4);
    let ticket = hello.ticket.clone();
    outgoing.send(FromWorker { hello: Some(hello), ..FromWorker::default() }).await?;
    let mut client = HostClient::new(channel);
    let stream = client.work(ReceiverStream::new(messages)).await?;
    let worker = Worker { client, ticket, outgoing: outgoing.clone(), gates };
    let mut incoming = stream.into_inner();
    tokio::spawn(beat(outgoing.clone()));
    loop {
        let message = tokio::select! {
            message = incoming.message() => message?,
            _ = leave.recv() => {
                outgoing.send(FromWorker { leaving: true, ..FromWorker::default() }).await?;
                continue;
            }
        };
        let Some(message) = message.filter(|message| !message.drain) else { break };
        for grant in message.grants {
            tokio::spawn(worker.clone().run(grant));
        }
    }
    Ok(())
}

async fn beat(outgoing: mpsc::Sender<FromWorker>) {
    let mut beats = tokio::time::interval(Duration::from_secs(HEARTBEAT_SECONDS));
    loop {
        beats.tick().await;
        if outgoing.send(FromWorker::default()).await.is_err() {
            return;
        }
    }
}

#[derive(Clone)]
struct Worker {
    client: HostClient<Channel>,
    ticket: String,
    outgoing: mpsc::Sender<FromWorker>,
    gates: PathBuf,
}

/// The host's answers to requests for an object.
#[derive(serde::Serialize)]
struct ObjectAnswers {
    ticket: String,
    lease: u64,
    /// Codes of gRPC.
    with_own_lease: i32,
    with_another_lease: i32,
    with_another_ticket: i32,
    with_a_way_out: i32,
}

impl Worker {
    async fn run(self, grant: Grant) {
        let started = Instant::now();
        let task = task(&grant);
        let end = match &task {
            Ok(Task::Ask { file, object }) => self.ask(&grant, file, object).await,
            Ok(Task::Crowd { file, object }) => self.crowd(&grant, file, object).await,
            Ok(Task::Sleep(span)) => {
                let timeout = Duration::from_micros(grant.timeout_us);
                tokio::time::sleep((*span).min(timeout)).await;
                Ok(end(&grant, *span > timeout))
            }
            Ok(Task::Gate(name)) => {
                let gate = self.gates.join(name);
                look_until(|| gate.exists()).await;
                Ok(end(&grant, false))
            }
            Ok(Task::Starve) if grant.attempt > 2 => Ok(end(&grant, false)),
            Ok(Task::Code) => Ok(end(&grant, false)),
            Ok(Task::Starve) => Ok(StageEnd::Failed(StageError {
                code: ErrorCode::LeaseExpired,
                message: "the machine is overloaded".into(),
            })),
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        let end = end.unwrap_or_else(|error| {
            StageEnd::Failed(StageError { code: ErrorCode::BadOutcome, message: error.to_string() })
        });
        let ran_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let line = |message: &str| LogLine { level: "info".into(), message: message.into() };
        let logs = match &task {
            Ok(Task::Gate(name)) => vec![line(name)],
            Ok(Task::Code) => vec![line(&code_digest(&grant))],
            _ => Vec::new(),
        };
        let finished = vec![assay_wire::finished(grant.lease, ran_us, end, logs)];
        // A host that is gone waits for nothing.
        let _ = self.outgoing.send(FromWorker { finished, ..FromWorker::default() }).await;
        if let Ok(Task::Ask { file, object }) = task {
            self.ask_until_refused(grant.lease, &file, &object).await;
        }
    }

    async fn ask(&self, grant: &Grant, file: &Path, object: &str) -> anyhow::Result<StageEnd> {
        let asked = ObjectAnswers {
            ticket: self.ticket.clone(),
            lease: grant.lease,
            with_own_lease: self.fetch(&self.ticket, grant.lease, object).await,
            with_another_lease: self.fetch(&self.ticket, grant.lease + 1, object).await,
            with_another_ticket: self.fetch("another", grant.lease, object).await,
            with_a_way_out: self.fetch(&self.ticket, grant.lease, &way_out(object)).await,
        };
        leave(file, &serde_json::to_string(&asked)?)?;
        look_until(|| !file.exists()).await;
        Ok(end(grant, false))
    }

    async fn crowd(&self, grant: &Grant, file: &Path, object: &str) -> anyhow::Result<StageEnd> {
        let mut reads = JoinSet::new();
        for _ in 0..2 * OBJECT_READS_MAX {
            let request = request(&self.ticket, grant.lease, object);
            let mut client = self.client.clone();
            reads.spawn(async move { client.fetch_stored(request).await });
        }
        let mut begun = Vec::new();
        while begun.len() < OBJECT_READS_MAX / 2 {
            begun.push(reads.join_next().await.context("a read")???);
        }
        leave(file, "")?;
        look_until(|| !file.exists()).await;
        Ok(end(grant, false))
    }

    /// The host hears of the lease's end a moment after it was told.
    async fn ask_until_refused(&self, lease: u64, file: &Path, object: &str) {
        while self.fetch(&self.ticket, lease, object).await == Code::Ok as i32 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let code = self.fetch(&self.ticket, lease, object).await;
        // Whoever waits for it sees that it did not come.
        let _ = leave(&file.with_extension("after"), &code.to_string());
    }

    async fn fetch(&self, ticket: &str, lease: u64, object: &str) -> i32 {
        let fetched = self.client.clone().fetch_stored(request(ticket, lease, object)).await;
        fetched.err().map_or(Code::Ok, |status| status.code()) as i32
    }
}

fn request(ticket: &str, lease: u64, object: &str) -> StoredRequest {
    let (ticket, name) = (ticket.to_owned(), object.to_owned());
    StoredRequest { ticket, lease, name, known_version: String::new() }
}

/// Looks again and again at what another process makes or removes.
async fn look_until(seen: impl Fn() -> bool) {
    while !seen() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The same object by a name that leaves its root on the way.
fn way_out(object: &str) -> String {
    let (root, path) = object.split_once('/').unwrap_or((object, ""));
    format!("{root}/../{root}/{path}")
}

/// Whole or not at all, so that whoever waits for the file never reads half.
fn leave(file: &Path, text: &str) -> std::io::Result<()> {
    let part = file.with_extension("part");
    std::fs::write(&part, text)?;
    std::fs::rename(&part, file)
}

fn code_digest(grant: &Grant) -> String {
    let digest = Digest::try_from(&grant.compiled_digest[..]);
    digest.map_or_else(|error| error.to_string(), |digest| digest.to_string())
}

enum Task {
    Sleep(Duration),
    Gate(String),
    Starve,
    Code,
    Ask { file: PathBuf, object: String },
    Crowd { file: PathBuf, object: String },
}

fn task(grant: &Grant) -> anyhow::Result<Task> {
    let body = Body::decode(grant.body.clone())?;
    if let Some(asked) = body.response.strip_prefix(['@', '#']) {
        let (file, object) = asked.split_once(' ').context("a file and an object")?;
        let (file, object) = (file.into(), object.to_owned());
        return Ok(match body.response.starts_with('#') {
            true => Task::Crowd { file, object },
            false => Task::Ask { file, object },
        });
    }
    let mut spans = body.response.split_whitespace();
    let span = spans.nth(usize::from(grant.last)).context("the response has two words")?;
    Ok(match (span, span.parse()) {
        (_, Ok(milliseconds)) => Task::Sleep(Duration::from_millis(milliseconds)),
        ("starved", _) => Task::Starve,
        ("code", _) => Task::Code,
        (gate, _) => Task::Gate(gate.to_owned()),
    })
}

fn end(grant: &Grant, timed_out: bool) -> StageEnd {
    if timed_out {
        return StageEnd::TimedOut;
    }
    if grant.last {
        return StageEnd::Scored(Scored {
            reward: 1.0,
            verdict: "success".into(),
            components: Default::default(),
            explanation: String::new(),
        });
    }
    StageEnd::Next(Artifact { content_type: "text/plain".into(), bytes: Vec::new() })
}
