//! What the runner wants of the host while it runs a lease, and how the conversation gets it: in
//! tasks beside the stream, so that neither holds up the other.
//!
//! The runner waits for the answer without a clock of its own; here every wish is given up at its
//! deadline, or when the host is gone.

use std::time::Instant;

use assay_model::id::Digest;
use assay_model::limits;
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{FetchRequest, ListRequest, StoredChunk, StoredRequest};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;
use tonic::Status;
use tonic::transport::Channel;

/// The token of a request is filled in here.
pub(crate) enum Wish {
    /// The bytes of a compiled plugin.
    Compiled { digest: Digest, answer: oneshot::Sender<Result<Vec<u8>, String>> },
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

/// Nobody waits for an answer any more only when the worker ends or has had enough of it.
pub(crate) async fn fulfil(client: HostClient<Channel>, token: String, wish: Wish) {
    match wish {
        Wish::Compiled { digest, answer } => {
            let _ = answer.send(compiled(client, token, digest).await);
        }
        Wish::Stored { mut request, deadline, pieces } => {
            request.token = token;
            let sent = timeout_at(deadline.into(), stored(client, request, &pieces)).await;
            if let Err(status) = sent.unwrap_or_else(|_| Err(too_late())) {
                let _ = pieces.send(Err(status)).await;
            }
        }
        Wish::Names { mut request, deadline, answer } => {
            request.token = token;
            let names = timeout_at(deadline.into(), names(client, request)).await;
            let _ = answer.send(names.unwrap_or_else(|_| Err(too_late())));
        }
    }
}

fn too_late() -> Status {
    Status::deadline_exceeded("the stage's time is over")
}

async fn compiled(
    mut client: HostClient<Channel>,
    token: String,
    digest: Digest,
) -> Result<Vec<u8>, String> {
    let said = |status: Status| format!("the host did not send it: {}", status.message());
    let request = FetchRequest { token, digest: digest.0.to_vec().into() };
    let mut chunks = client.fetch_compiled(request).await.map_err(said)?.into_inner();
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.message().await.map_err(said)? {
        if bytes.len() + chunk.bytes.len() > limits::COMPILED_BYTES_MAX {
            return Err(format!("it has more than {} bytes", limits::COMPILED_BYTES_MAX));
        }
        bytes.extend_from_slice(&chunk.bytes);
    }
    Ok(bytes)
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
