//! Where workers dial in: one gRPC stream each, over a Unix socket. Turns messages into commands
//! for the dispatcher and back; decides nothing.

mod stored;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_model::id::Digest;
use assay_model::limits;
use assay_model::plugin::check_name;
use assay_wire::proto::host_server::{Host, HostServer};
use assay_wire::proto::{
    Chunk, FetchRequest, FromWorker, Hello, ListReply, ListRequest, StoredChunk, StoredRequest,
    ToWorker,
};
use futures_util::{Stream, StreamExt as _, stream};
use subtle::ConstantTimeEq as _;
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::{UnboundedReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status, Streaming};

use crate::blob::Blobs;
use crate::dispatch::{Dispatch, Heard, Joining, WorkerLink};
use crate::fleet::Fleet;
use crate::storage::Storage;

const SILENCE_MAX: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS_MAX);

/// What workers are checked against and served from.
pub struct Link {
    pub dispatch: Dispatch,
    pub fleet: Fleet,
    pub blobs: Blobs,
    pub storage: Storage,
    pub token: String,
    /// The only engine whose compiled components are stored.
    pub engine: String,
}

/// Binds the socket; only this user may reach it.
pub fn bind(socket: &Path) -> anyhow::Result<UnixListener> {
    match std::fs::remove_file(socket) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("removing {}", socket.display()));
        }
        _ => {}
    }
    UnixListener::bind(socket).with_context(|| format!("listening on {}", socket.display()))
}

/// Serves workers until `stop` resolves.
pub async fn serve(
    link: Link,
    listener: UnixListener,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    let service = HostServer::new(link)
        .max_decoding_message_size(assay_wire::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(assay_wire::MESSAGE_BYTES_MAX);
    tonic::transport::Server::builder()
        .max_frame_size(assay_wire::FRAME_BYTES)
        .add_service(service)
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), stop)
        .await
        .context("serving workers")
}

impl Link {
    fn check_token(&self, token: &str) -> Result<(), Status> {
        if bool::from(self.token.as_bytes().ct_eq(token.as_bytes())) {
            return Ok(());
        }
        Err(Status::unauthenticated("the join token is not this host's"))
    }

    fn check_hello(&self, hello: &Hello) -> Result<(), Status> {
        self.check_token(&hello.token)?;
        check_name("pool", &hello.pool, limits::PLUGIN_NAME_BYTES_MAX)
            .map_err(Status::invalid_argument)?;
        if hello.engine != self.engine {
            return Err(Status::failed_precondition(format!(
                "this worker's engine is {}, the host's is {}: build both from one version",
                hello.engine, self.engine
            )));
        }
        Ok(())
    }
}

type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Host for Link {
    type WorkStream = Answers<ToWorker>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let mut messages = request.into_inner();
        let first = tokio::time::timeout(SILENCE_MAX, messages.message()).await;
        let hello = first
            .map_err(|_| Status::deadline_exceeded("no hello came"))??
            .and_then(|message| message.hello)
            .ok_or_else(|| Status::invalid_argument("the first message is a hello"))?;
        self.check_hello(&hello)?;
        let member = self.fleet.find(hello.pid).await;
        let member = member
            .ok_or_else(|| Status::permission_denied("this process was not started by the host"))?;
        let (link, outgoing) = mpsc::unbounded_channel();
        let in_hand_max = (hello.in_hand_max as usize).clamp(1, limits::IN_HAND_LEASES_MAX);
        let pool: Arc<str> = hello.pool.as_str().into();
        let heard = Heard::default();
        heard.now();
        let joining = Joining { member, pid: hello.pid, pool, in_hand_max, heard };
        let refused = |_| Status::unavailable("the host is stopping, or wants fewer workers now");
        let (joined, answer) = oneshot::channel();
        // A task of its own, that a worker which is gone by now is reported as lost like any other.
        tokio::spawn(converse(self.dispatch.clone(), joining, link, messages, joined));
        answer.await.map_err(refused)?;
        Ok(Response::new(UnboundedReceiverStream::new(outgoing).map(Ok).boxed()))
    }

    type FetchCompiledStream = Answers<Chunk>;

    async fn fetch_compiled(
        &self,
        request: Request<FetchRequest>,
    ) -> Result<Response<Self::FetchCompiledStream>, Status> {
        let FetchRequest { token, digest } = request.into_inner();
        self.check_token(&token)?;
        let digest = Digest::try_from(&digest[..])
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let bytes =
            self.blobs.get(digest).await.map_err(|error| Status::not_found(error.to_string()))?;
        let starts = (0..bytes.len()).step_by(assay_wire::CHUNK_BYTES);
        let chunks = starts.map(move |start| {
            let end = bytes.len().min(start + assay_wire::CHUNK_BYTES);
            Ok(Chunk { bytes: bytes.slice(start..end) })
        });
        Ok(Response::new(stream::iter(chunks).boxed()))
    }

    type FetchStoredStream = Answers<StoredChunk>;

    async fn fetch_stored(
        &self,
        request: Request<StoredRequest>,
    ) -> Result<Response<Self::FetchStoredStream>, Status> {
        let caller = stored::caller(&request);
        self.stored(caller, request.into_inner()).await.map(Response::new)
    }

    async fn list_stored(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListReply>, Status> {
        let caller = stored::caller(&request);
        self.listed(caller, request.into_inner()).await.map(Response::new)
    }
}

/// From the join, which is told to `joined`, until the worker is gone.
async fn converse(
    dispatch: Dispatch,
    joining: Joining,
    link: WorkerLink,
    messages: Streaming<FromWorker>,
    joined: oneshot::Sender<()>,
) {
    let (pid, pool) = (joining.pid, Arc::clone(&joining.pool));
    let heard = joining.heard.clone();
    let Ok(worker) = dispatch.worker_joined(joining, link).await else { return };
    tracing::info!(worker.id = worker.0, worker.pid = pid, worker.pool = &*pool, "a worker joined");
    // Who asked may have gone; the messages have ended then.
    let _ = joined.send(());
    let ended = read(&dispatch, worker, &heard, messages).await;
    tracing::debug!(worker.id = worker.0, "a worker left: {ended}");
    dispatch.worker_lost(worker).await;
}

/// Reads until the worker leaves or falls silent; says which.
async fn read(
    dispatch: &Dispatch,
    worker: assay_model::id::WorkerId,
    heard: &Heard,
    mut messages: Streaming<FromWorker>,
) -> String {
    loop {
        match tokio::time::timeout(SILENCE_MAX, messages.message()).await {
            Err(_) => return format!("silent for {} s", SILENCE_MAX.as_secs()),
            Ok(Err(status)) => return status.message().to_owned(),
            Ok(Ok(None)) => return "its stream ended".into(),
            Ok(Ok(Some(message))) => {
                heard.now();
                if !message.finished.is_empty()
                    && dispatch.finished(worker, message.finished).await.is_err()
                {
                    return "the host is stopping".into();
                }
            }
        }
    }
}
