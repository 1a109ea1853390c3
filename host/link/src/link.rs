//! The gRPC service and its socket: who may call, and what each call is answered from.

mod joined;
mod named;
mod stored;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::limits;
use assay_wire::proto::enrolment_server::EnrolmentServer;
use assay_wire::proto::host_server::{Host, HostServer};
use assay_wire::proto::{
    Chunk, FetchRequest, FromWorker, ListReply, ListRequest, StoredChunk, StoredRequest, ToWorker,
};
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status, Streaming};

use crate::caller::{Caller, refused};
use crate::conversation::{Conversation, SILENCE_MAX, converse};
use crate::remote::{self, ConnectionSenders, EnrolmentService, RemoteWorkers};
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_dispatch::{Dispatch, Engines, Joining, LastContact, now};
use assay_fleet::{Fleet, Visit};
use assay_storage::Storage;
use assay_storage::blob::Blobs;

pub use named::NamedPlugins;

/// The flow-control window of workers of other machines, in bytes: with a smaller one an artifact waits for a round
/// trip at each 64 KiB.
const WINDOW_BYTES: u32 = 4 << 20;

/// The time for which a plugin is read again from a store that fails. What is left of the time for a load is for the load.
const FETCH_RETRY_MAX: Duration = Duration::from_secs(limits::PLUGIN_LOAD_SECONDS_MAX / 2);

/// The state by which workers are checked and served.
pub struct Link {
    pub dispatch: Dispatch,
    pub fleet: Fleet,
    pub blobs: Blobs,
    pub storage: Storage,
    /// Reads of storage that are under way.
    pub reads: FairSemaphore,
    /// The workers of other machines, if any may join.
    pub remote: Option<RemoteWorkers>,
    /// The engines for which plugins are compiled.
    pub engines: Engines,
    pub named: NamedPlugins,
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

/// Serves the workers of this machine until `stop` resolves.
pub async fn serve(
    link: Arc<Link>,
    listener: UnixListener,
    stop: impl Future<Output = ()>,
) -> anyhow::Result<()> {
    tonic::transport::Server::builder()
        .max_frame_size(assay_wire::FRAME_BYTES)
        .add_service(host_server(link))
        .serve_with_incoming_shutdown(UnixListenerStream::new(listener), stop)
        .await
        .context("serving workers")
}

/// Serves the workers of other machines until `stop` says so.
pub async fn serve_remote(
    link: Arc<Link>,
    workers: RemoteWorkers,
    listener: TcpListener,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<()> {
    let config = assay_tls::server_config(workers.authority(), now())?;
    let (work, workers_that_work) = mpsc::channel(limits::UNPROVEN_WORKERS_MAX);
    let (enrolment, others) = mpsc::channel(limits::UNPROVEN_WORKERS_MAX);
    let doors = ConnectionSenders { work, enrolment };
    let service = EnrolmentServer::new(EnrolmentService {
        workers: workers.clone(),
        fleet: link.fleet.clone(),
    })
    .max_decoding_message_size(limits::UNPROVEN_MESSAGE_BYTES_MAX);
    let fleet = link.fleet.clone();
    let stopped = || {
        let mut stop = stop.clone();
        async move {
            // A sender that is gone has stopped everything too.
            let _ = stop.wait_for(|stopped| *stopped).await;
        }
    };
    // Plugins run at the other side: no certificate is issued here.
    let working = tonic::transport::Server::builder()
        .max_concurrent_streams(limits::REMOTE_WORKER_CALLS_MAX)
        .max_frame_size(assay_wire::FRAME_BYTES)
        .initial_stream_window_size(WINDOW_BYTES)
        .initial_connection_window_size(WINDOW_BYTES)
        .http2_keepalive_interval(Some(SILENCE_MAX))
        .http2_keepalive_timeout(Some(SILENCE_MAX))
        .add_service(host_server(link))
        .serve_with_incoming_shutdown(incoming(workers_that_work), stopped());
    let enrolling = tonic::transport::Server::builder()
        .max_concurrent_streams(1)
        .timeout(SILENCE_MAX)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming(others), stopped());
    let forgetting = forget_ended(workers.clone(), fleet);
    let forgetting = async {
        tokio::select! {
            () = forgetting => {}
            () = stopped() => {}
        }
    };
    let accepting = remote::accept(listener, Arc::new(config), workers, doors, stop.clone());
    let ((), (), worked, enrolled) = tokio::join!(accepting, forgetting, working, enrolling);
    worked.and(enrolled).context("serving workers of other machines")
}

/// Refuses started workers that have ended from then on, also those that enrolled and never came.
async fn forget_ended(workers: RemoteWorkers, fleet: Fleet) {
    let mut ends = fleet.ends();
    while let Some(ticket) = ends.recv().await {
        if workers.knows(ticket) && fleet.tenure().holds().await {
            workers.forget(ticket).await;
        }
    }
}

fn host_server(link: Arc<Link>) -> HostServer<Link> {
    HostServer::from_arc(link)
        .max_decoding_message_size(assay_wire::MESSAGE_BYTES_MAX)
        .max_encoding_message_size(assay_wire::MESSAGE_BYTES_MAX)
}

fn incoming<T>(connections: mpsc::Receiver<T>) -> impl Stream<Item = std::io::Result<T>> {
    ReceiverStream::new(connections).map(Ok)
}

pub(crate) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Host for Link {
    type WorkStream = Answers<ToWorker>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let caller = Caller::of(&request);
        let mut messages = request.into_inner();
        let first = tokio::time::timeout(SILENCE_MAX, messages.message()).await;
        let hello = first
            .map_err(|_| Status::deadline_exceeded("no hello came"))??
            .and_then(|message| message.hello)
            .ok_or_else(|| Status::invalid_argument("the first message must be a hello"))?;
        let (ticket, architecture) = self.check_hello(&caller, &hello)?;
        let (link, outgoing) = mpsc::unbounded_channel();
        let leases_max = (hello.in_hand_max as usize).clamp(1, limits::PREFETCH_LEASES_MAX);
        let pool: Arc<str> = hello.pool.as_str().into();
        let visit = match caller {
            Caller::Process(_) => None,
            Caller::Remote(_) => Some(self.fleet.came(ticket, &pool).map_err(refused)?),
        };
        let came = visit.as_ref().is_some_and(Visit::came);
        let heard = LastContact::default();
        heard.now();
        let joining = Joining { ticket, pool, architecture, leases_max, heard, came };
        let not_joined =
            |_| Status::unavailable("the host is stopping, or no longer expects this worker");
        let (joined, answer) = oneshot::channel();
        // A task of its own, so that a worker that leaves now is reported as lost like any other.
        let started_by_tls = visit.is_some() && !came;
        let conversation = Conversation { joining, link, messages, visit };
        let conversing = converse(self.dispatch.clone(), conversation, joined);
        let remote = self.remote.clone().filter(|_| started_by_tls);
        let tenure = self.fleet.tenure().clone();
        let forgetting = tenure.clone();
        tokio::spawn(async move {
            conversing.await;
            // A worker that another server has taken over is that one's.
            if let Some(remote) = remote
                && forgetting.holds().await
            {
                remote.forget(ticket).await;
            }
        });
        answer.await.map_err(not_joined)?;
        let named = self.named.clone();
        let outgoing = UnboundedReceiverStream::new(outgoing).map(move |message| {
            named.note(&message);
            Ok(message)
        });
        // A worker that came and was not asked to leave is to come again, and one that another server has taken over to
        // that one; an end without an error forbids it.
        let cut = stream::once(async move {
            let comes_again = came || tenure.has_ended();
            comes_again.then(|| Err(Status::unavailable("the host ended the conversation")))
        });
        Ok(Response::new(outgoing.chain(cut.filter_map(std::future::ready)).boxed()))
    }

    type FetchCompiledStream = Answers<Chunk>;

    async fn fetch_compiled(
        &self,
        request: Request<FetchRequest>,
    ) -> Result<Response<Self::FetchCompiledStream>, Status> {
        let caller = Caller::of(&request);
        let FetchRequest { ticket, digest, offset } = request.into_inner();
        self.worker(&caller, &ticket)?;
        let digest = Digest::try_from(&digest[..])
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        // Other objects, such as components before they are compiled, are not a worker's.
        if !self.named.contains(digest) {
            return Err(Status::not_found("no worker was told of a plugin with this digest"));
        }
        let pieces = self.blobs.read_after_retries(digest, offset, FETCH_RETRY_MAX).await;
        let pieces = pieces.map_err(|error| Status::not_found(error.to_string()))?;
        let chunks = pieces
            .map_ok(|bytes| Chunk { bytes })
            .map_err(|error| Status::unavailable(error.to_string()));
        Ok(Response::new(chunks.boxed()))
    }

    type FetchStoredStream = Answers<StoredChunk>;

    async fn fetch_stored(
        &self,
        request: Request<StoredRequest>,
    ) -> Result<Response<Self::FetchStoredStream>, Status> {
        let caller = Caller::of(&request);
        self.stored(&caller, request.into_inner()).await.map(Response::new)
    }

    async fn list_stored(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListReply>, Status> {
        let caller = Caller::of(&request);
        self.listed(&caller, request.into_inner()).await.map(Response::new)
    }
}
