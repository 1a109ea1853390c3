//! The gRPC service and its socket: who may call, and what each call is answered from.

mod stored;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use anyhow::Context as _;
use assay_core::id::Digest;
use assay_core::limits;
use assay_core::plugin::check_name;
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

use crate::conversation::{SILENCE_MAX, converse};
use assay_dispatch::{Dispatch, Joining, LastContact};
use assay_fleet::Fleet;
use assay_storage::Storage;
use assay_storage::blob::Blobs;

/// The state with which workers are checked and served.
pub struct Link {
    pub dispatch: Dispatch,
    pub fleet: Fleet,
    pub blobs: Blobs,
    pub storage: Storage,
    pub token: String,
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

impl Link {
    pub(crate) fn check_token(&self, token: &str) -> Result<(), Status> {
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

pub(crate) type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

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
            .ok_or_else(|| Status::invalid_argument("the first message must be a hello"))?;
        self.check_hello(&hello)?;
        let process = self.fleet.find(hello.pid).await;
        let process = process
            .ok_or_else(|| Status::permission_denied("this process was not started by the host"))?;
        let (link, outgoing) = mpsc::unbounded_channel();
        let leases_max = (hello.in_hand_max as usize).clamp(1, limits::PREFETCH_LEASES_MAX);
        let pool: Arc<str> = hello.pool.as_str().into();
        let heard = LastContact::default();
        heard.now();
        let joining = Joining { process, pid: hello.pid, pool, leases_max, heard };
        let refused = |_| Status::unavailable("the host is stopping, or wants fewer workers now");
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
