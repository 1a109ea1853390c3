//! The gRPC service and its socket: who may call, and what each call is answered from.

mod stored;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context as _;
use assay_core::id::{Digest, TicketId};
use assay_core::limits;
use assay_wire::proto::host_server::{Host, HostServer};
use assay_wire::proto::{
    Chunk, FetchRequest, FromWorker, Hello, ListReply, ListRequest, StoredChunk, StoredRequest,
    ToWorker,
};
use futures_util::{Stream, StreamExt as _, stream};
use tokio::net::UnixListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::{UnboundedReceiverStream, UnixListenerStream};
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Response, Status, Streaming};

use crate::conversation::{SILENCE_MAX, converse};
use assay_dispatch::{Dispatch, Joining, LastContact};
use assay_fleet::{Fleet, TicketRefusal};
use assay_storage::Storage;
use assay_storage::blob::Blobs;

/// The state by which workers are checked and served.
pub struct Link {
    pub dispatch: Dispatch,
    pub fleet: Fleet,
    pub blobs: Blobs,
    pub storage: Storage,
    /// The id of the engine for which components are compiled.
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

/// The process of a caller, as the kernel reports it; `None` if the caller is not on this machine.
#[derive(Clone, Copy)]
pub(crate) struct CallerProcess(Option<u32>);

impl CallerProcess {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        let peer = request.extensions().get::<UdsConnectInfo>().and_then(|info| info.peer_cred);
        Self(peer.and_then(|peer| peer.pid()?.try_into().ok()))
    }
}

impl Link {
    /// The joined worker that presents this ticket.
    pub(crate) fn worker(&self, caller: CallerProcess, ticket: &str) -> Result<TicketId, Status> {
        let worker = self.fleet.authenticate(ticket);
        let worker =
            worker.ok_or_else(|| Status::unauthenticated(TicketRefusal::Unknown.to_string()))?;
        self.check_process(caller, worker)?;
        Ok(worker)
    }

    /// A ticket of a process of this machine is worth nothing in another process.
    fn check_process(&self, caller: CallerProcess, ticket: TicketId) -> Result<(), Status> {
        match (caller.0, self.fleet.pid(ticket)) {
            (Some(caller), Some(worker)) if caller != worker => {
                Err(Status::permission_denied("this ticket is another process's"))
            }
            _ => Ok(()),
        }
    }

    fn check_hello(&self, caller: CallerProcess, hello: &Hello) -> Result<TicketId, Status> {
        let ticket = self.fleet.admit(&hello.ticket, &hello.pool).map_err(refused)?;
        self.check_process(caller, ticket)?;
        if hello.engine != self.engine {
            return Err(Status::failed_precondition(format!(
                "this worker's engine is {}, the host's is {}: build both from one version",
                hello.engine, self.engine
            )));
        }
        Ok(ticket)
    }
}

fn refused(refused: TicketRefusal) -> Status {
    let message = refused.to_string();
    match refused {
        TicketRefusal::Unknown => Status::unauthenticated(message),
        TicketRefusal::Used | TicketRefusal::OtherPool => Status::permission_denied(message),
        TicketRefusal::GivenUp => Status::unavailable(message),
    }
}

pub(crate) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

#[tonic::async_trait]
impl Host for Link {
    type WorkStream = Answers<ToWorker>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let caller = CallerProcess::of(&request);
        let mut messages = request.into_inner();
        let first = tokio::time::timeout(SILENCE_MAX, messages.message()).await;
        let hello = first
            .map_err(|_| Status::deadline_exceeded("no hello came"))??
            .and_then(|message| message.hello)
            .ok_or_else(|| Status::invalid_argument("the first message must be a hello"))?;
        let ticket = self.check_hello(caller, &hello)?;
        let (link, outgoing) = mpsc::unbounded_channel();
        let leases_max = (hello.in_hand_max as usize).clamp(1, limits::PREFETCH_LEASES_MAX);
        let pool: Arc<str> = hello.pool.as_str().into();
        let heard = LastContact::default();
        heard.now();
        let joining = Joining { ticket, pool, leases_max, heard };
        let refused =
            |_| Status::unavailable("the host is stopping, or no longer expects this worker");
        let (joined, answer) = oneshot::channel();
        // A task of its own, so that a worker that leaves now is reported as lost like any other.
        tokio::spawn(converse(self.dispatch.clone(), joining, link, messages, joined));
        answer.await.map_err(refused)?;
        Ok(Response::new(UnboundedReceiverStream::new(outgoing).map(Ok).boxed()))
    }

    type FetchCompiledStream = Answers<Chunk>;

    async fn fetch_compiled(
        &self,
        request: Request<FetchRequest>,
    ) -> Result<Response<Self::FetchCompiledStream>, Status> {
        let caller = CallerProcess::of(&request);
        let FetchRequest { ticket, digest } = request.into_inner();
        self.worker(caller, &ticket)?;
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
        let caller = CallerProcess::of(&request);
        self.stored(caller, request.into_inner()).await.map(Response::new)
    }

    async fn list_stored(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListReply>, Status> {
        let caller = CallerProcess::of(&request);
        self.listed(caller, request.into_inner()).await.map(Response::new)
    }
}
