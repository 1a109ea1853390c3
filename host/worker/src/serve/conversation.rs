//! The conversation with the host over one stream. Grants go to the prefetch queue, finished stages go out in as few
//! messages as possible, and heartbeats go out while there is nothing else.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use assay_core::limits;
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{Finished, FromWorker, Hello, ToWorker};
use assay_wire::{FRAME_BYTES, MESSAGE_BYTES_MAX};
use prost::Message as _;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

use super::host_request::{self, HostRequest};
use super::outbox::{Outbox, Progress};
use super::plugins::Plugins;
use super::prefetch_queue::PrefetchQueue;
use super::run_delay::RunDelay;

/// The time after which what has gathered is sent though nothing has woken the conversation.
const GATHERING_MAX: Duration = Duration::from_millis(1);
/// The most messages that wait for the connection.
const OUTGOING_MAX: usize = 4;
/// The flow-control window, in bytes: with a smaller one an artifact waits for a round trip at each 64 KiB.
const WINDOW_BYTES: u32 = 4 << 20;

/// The period in which a connection to another machine is tried, and the time for the server's answer: a server
/// process that hangs answers nothing, while the kernel of its machine still acknowledges every byte.
const TRY_PERIOD: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS);
const SILENCE_MAX: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS_MAX);

/// The first message.
pub(crate) fn hello(ticket: String, pool: String) -> Hello {
    let in_hand_max = u32::try_from(limits::PREFETCH_LEASES_MAX).expect("a small number");
    Hello { ticket, pool, engine: assay_sandbox::engine_id(), in_hand_max }
}

/// Runs until the host ends the stream or, after a drain, everything in the queue was run and sent.
pub(crate) async fn run(
    socket: &Path,
    hello: Hello,
    queue: &PrefetchQueue,
    plugins: &Plugins,
    outbox: &Outbox,
    run_delay: &RunDelay,
    mut incoming_requests: mpsc::UnboundedReceiver<HostRequest>,
) -> anyhow::Result<()> {
    // Sent by `join`, and to this process alone: SIGTERM may go to all processes of a job, those in boxes too, and
    // ends this one at once.
    let mut asked = signal(SignalKind::user_defined1()).context("listening for signals")?;
    let ticket = hello.ticket.clone();
    // The server knows a worker of another machine by its certificate: it has no ticket.
    let client = connect(socket, ticket.is_empty()).await?;
    let (outgoing, messages) = mpsc::channel(OUTGOING_MAX);
    outgoing.send(FromWorker { hello: Some(hello), ..FromWorker::default() }).await?;
    let stream = client.clone().work(ReceiverStream::new(messages)).await;
    let mut incoming = stream.context("the host refuses this worker")?.into_inner();
    tracing::info!("connected");
    let mut heartbeat = interval(Duration::from_secs(limits::HEARTBEAT_SECONDS));
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut look = interval(GATHERING_MAX);
    loop {
        tokio::select! {
            message = incoming.message() => match message.context("the host is gone")? {
                Some(mut message) => {
                    let preload = std::mem::take(&mut message.preload);
                    queue.take(message, |lease| outbox.tell(Progress::Started(lease)));
                    plugins.preload(&preload);
                }
                None => return Ok(()),
            },
            () = outbox.ready() => {
                if !send(outbox, &outgoing).await? {
                    break;
                }
                look.reset();
            }
            // This also notices an end that came together with the last answer.
            _ = look.tick(), if outbox.is_watched() => {
                if !send(outbox, &outgoing).await? {
                    break;
                }
                look.reset();
            }
            Some(request) = incoming_requests.recv() => {
                tokio::spawn(host_request::send(client.clone(), ticket.clone(), request));
            }
            Some(()) = asked.recv() => {
                let message = FromWorker { leaving: true, ..FromWorker::default() };
                outgoing.send(message).await.context("the host is gone")?;
            }
            _ = heartbeat.tick() => {
                let run_delay_us = run_delay.take_us();
                let message = FromWorker { run_delay_us, ..FromWorker::default() };
                outgoing.send(message).await.context("the host is gone")?;
            }
        }
    }
    if !queue.is_draining() {
        bail!("the runner is gone");
    }
    tracing::info!("drained");
    drop(outgoing);
    leave(incoming).await;
    Ok(())
}

/// Sends what has gathered; false once nothing more will come.
async fn send(outbox: &Outbox, outgoing: &mpsc::Sender<FromWorker>) -> anyhow::Result<bool> {
    let Some(gathered) = outbox.take() else { return Ok(false) };
    for message in batched(gathered) {
        outgoing.send(message).await.context("the host is gone")?;
    }
    Ok(true)
}

/// Connects to the server at `socket`, or to one on another machine by the process that listens there. The worker
/// leaves such a server when it hangs, because another one may take its place.
async fn connect(socket: &Path, is_remote: bool) -> anyhow::Result<HostClient<Channel>> {
    let mut endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()))?
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .max_frame_size(FRAME_BYTES);
    if is_remote {
        endpoint = endpoint
            .http2_keep_alive_interval(TRY_PERIOD)
            .keep_alive_timeout(SILENCE_MAX)
            .keep_alive_while_idle(true);
    }
    let channel =
        endpoint.connect().await.with_context(|| format!("connecting to {}", socket.display()))?;
    Ok(HostClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES_MAX)
        .max_encoding_message_size(MESSAGE_BYTES_MAX))
}

/// Everything in its order: few messages for many finished stages, one for each other event.
fn batched(gathered: Vec<Progress>) -> Vec<FromWorker> {
    let mut messages = Vec::with_capacity(1);
    let mut finished = Vec::with_capacity(gathered.len());
    let mut bytes = 0;
    for progress in gathered {
        let size = match &progress {
            Progress::Finished(one) => one.encoded_len(),
            Progress::Load(_) | Progress::Started(_) => MESSAGE_BYTES_MAX,
        };
        // Half the limit leaves room for the envelope; one stage alone is well below it.
        if bytes + size > MESSAGE_BYTES_MAX / 2 && !finished.is_empty() {
            messages.push(finished_message(std::mem::take(&mut finished)));
            bytes = 0;
        }
        match progress {
            Progress::Finished(one) => {
                bytes += size;
                finished.push(one);
            }
            Progress::Load(load) => {
                messages.push(FromWorker { loads: vec![load], ..FromWorker::default() });
            }
            Progress::Started(lease) => {
                messages.push(FromWorker { started: vec![lease], ..FromWorker::default() });
            }
        }
    }
    if !finished.is_empty() {
        messages.push(finished_message(finished));
    }
    messages
}

fn finished_message(finished: Vec<Finished>) -> FromWorker {
    FromWorker { finished, ..FromWorker::default() }
}

/// Waits until the host has read the rest and closes its side, at most as long as the host waits for a silent worker.
async fn leave(mut incoming: Streaming<ToWorker>) {
    let closed = async { while let Ok(Some(_)) = incoming.message().await {} };
    if timeout(SILENCE_MAX, closed).await.is_err() {
        tracing::warn!("the host did not close the stream");
    }
}

#[cfg(test)]
mod tests {
    use assay_wire::proto::{Artifact, Load, finished::End};

    use super::*;

    fn finished(lease: u64, bytes: usize) -> Progress {
        let artifact = Artifact { content_type: String::new(), bytes: vec![0; bytes].into() };
        Progress::Finished(Finished {
            lease,
            end: Some(End::Next(artifact)),
            ..Finished::default()
        })
    }

    #[test]
    fn a_message_stays_below_the_limit_and_nothing_is_lost() {
        let large = (0..9).map(|lease| finished(lease, limits::ARTIFACT_BYTES_MAX));
        let messages = batched(large.chain((9..100).map(|lease| finished(lease, 1))).collect());
        assert!(messages.len() > 1);
        assert!(messages.iter().all(|message| message.encoded_len() < MESSAGE_BYTES_MAX));
        let leases: Vec<_> = messages.iter().flat_map(|m| &m.finished).map(|f| f.lease).collect();
        assert_eq!(leases, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn small_ones_share_a_message() {
        assert_eq!(batched((0..100).map(|lease| finished(lease, 10)).collect()).len(), 1);
    }

    #[test]
    fn an_event_stays_between_the_stages_around_it() {
        let load = |lease, ended| Progress::Load(Load { lease, ended });
        let gathered = vec![
            finished(1, 10),
            finished(2, 10),
            load(3, false),
            load(3, true),
            finished(3, 10),
            Progress::Started(4),
            finished(4, 10),
        ];
        let messages = batched(gathered);
        let kinds = |m: &FromWorker| (m.finished.len(), m.loads.len(), m.started.len());
        let kinds: Vec<_> = messages.iter().map(kinds).collect();
        assert_eq!(kinds, [(2, 0, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 0, 1), (1, 0, 0)]);
    }
}
