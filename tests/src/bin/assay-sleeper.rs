//! A worker whose stages sleep: of them many more than there are cores run for as long as they are
//! told, which tests of the planner need. It knows the wire and nothing of plugins.
//!
//! Command line: the engine's name, how long it takes to start in milliseconds, then as for
//! `assay-worker`. The response of a request is how long each of two stages sleeps, in milliseconds.

use std::time::Duration;

use anyhow::Context as _;
use assay_model::limits::HEARTBEAT_SECONDS;
use assay_model::outcome::{Artifact, ErrorCode, Scored, StageEnd, StageError};
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{Body, FromWorker, Grant, Hello};
use prost::Message as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Endpoint;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, startup_ms, _serve, options @ ..] = &arguments[..] else {
        anyhow::bail!("the engine and the start-up come first");
    };
    tokio::time::sleep(Duration::from_millis(startup_ms.parse()?)).await;
    let hello = Hello {
        token: std::env::var("ASSAY_WORKER_TOKEN")?,
        pool: option(options, "--pool")?.into(),
        engine: engine.clone(),
        pid: std::process::id(),
        in_hand_max: 1,
    };
    serve(option(options, "--connect")?, hello).await
}

fn option<'a>(options: &'a [String], name: &str) -> anyhow::Result<&'a str> {
    let mut pairs = options.chunks_exact(2);
    let value = pairs.find(|pair| pair[0] == name).map(|pair| &*pair[1]);
    value.with_context(|| format!("{name} is missing"))
}

/// Until the host ends the stream.
async fn serve(socket: &str, hello: Hello) -> anyhow::Result<()> {
    let channel = Endpoint::from_shared(format!("unix://{socket}"))?.connect().await?;
    let (outgoing, messages) = mpsc::channel(4);
    outgoing.send(FromWorker { hello: Some(hello), finished: Vec::new() }).await?;
    let stream = HostClient::new(channel).work(ReceiverStream::new(messages)).await?;
    let mut incoming = stream.into_inner();
    tokio::spawn(beat(outgoing.clone()));
    while let Some(message) = incoming.message().await? {
        for grant in message.grants {
            tokio::spawn(run(grant, outgoing.clone()));
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

async fn run(grant: Grant, outgoing: mpsc::Sender<FromWorker>) {
    let started = Instant::now();
    let end = match span(&grant) {
        Ok(span) => {
            let timeout = Duration::from_micros(grant.timeout_us);
            tokio::time::sleep(span.min(timeout)).await;
            end(&grant, span > timeout)
        }
        Err(error) => {
            StageEnd::Failed(StageError { code: ErrorCode::BadOutcome, message: error.to_string() })
        }
    };
    let ran_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let finished = vec![assay_wire::finished(grant.lease, ran_us, end, Vec::new())];
    // A host that is gone waits for nothing.
    let _ = outgoing.send(FromWorker { hello: None, finished }).await;
}

fn span(grant: &Grant) -> anyhow::Result<Duration> {
    let body = Body::decode(grant.body.clone())?;
    let mut spans = body.response.split_whitespace();
    let span = spans.nth(usize::from(grant.last)).context("the response has two numbers")?;
    Ok(Duration::from_millis(span.parse()?))
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
