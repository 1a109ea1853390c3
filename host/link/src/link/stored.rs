//! Reads of storage by workers. The worker does not name the tenant whose roots are read: it is the
//! tenant of a lease that the calling worker holds.

use std::time::Duration;

use assay_core::id::{LeaseId, TenantId, TicketId};
use assay_core::limits;
use assay_wire::proto::{ListReply, ListRequest, StoredChunk, StoredRequest};
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;

use crate::caller::Caller;
use crate::link::{Answers, Link};
use assay_dispatch::LeaseClaim;
use assay_storage::{FetchedObject, StorageError};

/// The longest wait for a worker to take the next chunk.
const TAKE_MAX: Duration = Duration::from_secs(limits::OBJECT_WAIT_SECONDS_MAX);
/// The number of chunks that are buffered for a worker.
const CHUNKS_MAX: usize = 2;

impl Link {
    pub(super) async fn stored(
        &self,
        caller: &Caller,
        request: StoredRequest,
    ) -> Result<Answers<StoredChunk>, Status> {
        let StoredRequest { ticket, lease, name, known_version } = request;
        let tenant = self.tenant(self.worker(caller, &ticket)?, lease).await?;
        let turn = self.reads.acquire(tenant, 1);
        let fetched = self.storage.fetch(tenant, &name, &known_version, turn).await;
        let fetched = fetched.map_err(status)?;
        let FetchedObject { version, size, chunks } = fetched;
        let unchanged = chunks.is_none();
        let head = StoredChunk { version, size_bytes: size, unchanged, bytes: Bytes::new() };
        let Some(chunks) = chunks else { return Ok(stream::iter([Ok(head)]).boxed()) };
        let (sender, receiver) = mpsc::channel(CHUNKS_MAX);
        tokio::spawn(send(head, chunks, sender));
        Ok(ReceiverStream::new(receiver).boxed())
    }

    pub(super) async fn listed(
        &self,
        caller: &Caller,
        request: ListRequest,
    ) -> Result<ListReply, Status> {
        let ListRequest { ticket, lease, folder } = request;
        let tenant = self.tenant(self.worker(caller, &ticket)?, lease).await?;
        let turn = self.reads.acquire(tenant, 1);
        let names = self.storage.list(tenant, &folder, turn).await.map_err(status)?;
        Ok(ListReply { names })
    }

    async fn tenant(&self, ticket: TicketId, lease: u64) -> Result<TenantId, Status> {
        let refused = || Status::permission_denied("this worker does not hold the lease");
        let claim = LeaseClaim { ticket, lease: LeaseId(lease) };
        let tenant = self.dispatch.read_storage(claim).await;
        tenant.map_err(|error| Status::unavailable(error.to_string()))?.ok_or_else(refused)
    }
}

/// Sends all chunks, up to the first error or the end of the worker.
async fn send(
    head: StoredChunk,
    mut chunks: stream::BoxStream<'static, Result<Bytes, StorageError>>,
    sender: mpsc::Sender<Result<StoredChunk, Status>>,
) {
    let mut next = Some(Ok(head));
    while let Some(message) = next {
        let ended = message.is_err();
        let sent = sender.send_timeout(message, TAKE_MAX).await;
        if ended || sent.is_err() {
            return;
        }
        next = chunks.next().await.map(|chunk| match chunk {
            Ok(bytes) => Ok(StoredChunk { bytes, ..Default::default() }),
            Err(error) => Err(status(error)),
        });
    }
}

fn status(error: StorageError) -> Status {
    let message = error.to_string();
    match error {
        StorageError::Denied(_) => Status::permission_denied(message),
        StorageError::NotFound(_) => Status::not_found(message),
        StorageError::TooLarge(_) => Status::failed_precondition(message),
        StorageError::Unavailable(_) => Status::unavailable(message),
    }
}
