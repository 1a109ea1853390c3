//! Host requests: questions that the runner has for the host while it runs a lease. The conversation sends each in a
//! task beside the stream, so that neither delays the other.
//!
//! The runner waits for the answer without a timeout. Each task ends at its request's deadline, or when the host is
//! gone.

use std::time::Instant;

use assay_core::id::Digest;
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{FetchRequest, ListRequest, StoredChunk, StoredRequest};
use prost::bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;
use tonic::Status;
use tonic::transport::Channel;

/// A question for the host. The conversation fills in the ticket.
pub(crate) enum HostRequest {
    /// The bytes of a compiled plugin from an offset on, piece by piece; ends after an error.
    Compiled { digest: Digest, offset: u64, pieces: mpsc::Sender<Result<Bytes, String>> },
    /// An object, piece by piece; ends after an error.
    Stored {
        request: StoredRequest,
        deadline: Instant,
        pieces: mpsc::Sender<Result<StoredChunk, Status>>,
    },
    /// The objects in a folder.
    Names {
        request: ListRequest,
        deadline: Instant,
        answer: oneshot::Sender<Result<Vec<String>, Status>>,
    },
}

/// Sends a request and passes the answer on. That fails only if the runner ended or needs no more of an object.
pub(crate) async fn send(client: HostClient<Channel>, ticket: String, request: HostRequest) {
    match request {
        HostRequest::Compiled { digest, offset, pieces } => {
            let digest = digest.0.to_vec().into();
            let request = FetchRequest { ticket, digest, offset };
            if let Err(status) = compiled(client, request, &pieces).await {
                let problem = format!("the host did not send the plugin: {}", status.message());
                let _ = pieces.send(Err(problem)).await;
            }
        }
        HostRequest::Stored { mut request, deadline, pieces } => {
            request.ticket = ticket;
            let sent = timeout_at(deadline.into(), stored(client, request, &pieces)).await;
            if let Err(status) = sent.unwrap_or_else(|_| Err(too_late())) {
                let _ = pieces.send(Err(status)).await;
            }
        }
        HostRequest::Names { mut request, deadline, answer } => {
            request.ticket = ticket;
            let names = timeout_at(deadline.into(), names(client, request)).await;
            let _ = answer.send(names.unwrap_or_else(|_| Err(too_late())));
        }
    }
}

/// The end of a request at its deadline.
pub(super) fn too_late() -> Status {
    Status::deadline_exceeded("the stage's time is over")
}

async fn compiled(
    mut client: HostClient<Channel>,
    request: FetchRequest,
    pieces: &mpsc::Sender<Result<Bytes, String>>,
) -> Result<(), Status> {
    let mut chunks = client.fetch_compiled(request).await?.into_inner();
    while let Some(chunk) = chunks.message().await? {
        if pieces.send(Ok(chunk.bytes)).await.is_err() {
            break;
        }
    }
    Ok(())
}

async fn stored(
    mut client: HostClient<Channel>,
    request: StoredRequest,
    pieces: &mpsc::Sender<Result<StoredChunk, Status>>,
) -> Result<(), Status> {
    let mut chunks = client.fetch_stored(request).await?.into_inner();
    while let Some(chunk) = chunks.message().await? {
        if pieces.send(Ok(chunk)).await.is_err() {
            break;
        }
    }
    Ok(())
}

async fn names(
    mut client: HostClient<Channel>,
    request: ListRequest,
) -> Result<Vec<String>, Status> {
    Ok(client.list_stored(request).await?.into_inner().names)
}
