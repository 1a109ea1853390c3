//! Accepts connections: a bounded number, each with limits on how slowly it may send.

use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use axum::Router;
use axum::http::Request;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::auth::sign_in::Peer;

const HEADER_PATIENCE: Duration = Duration::from_secs(limits::READ_SECONDS_MAX);
/// How long open calls may go on once the server stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves until `stop` resolves, then lets open calls end.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    raise_descriptors();
    let places = Arc::new(Semaphore::new(limits::CONNECTIONS_MAX));
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener, &places) => accepted,
        };
        let Some((stream, peer, place)) = accepted else { continue };
        let with_peer = router.clone().map_request(move |mut request: Request<_>| {
            request.extensions_mut().insert(peer);
            request
        });
        let service = TowerToHyperService::new(with_peer);
        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_PATIENCE);
        builder.http2().timer(TokioTimer::new()).max_concurrent_streams(256);
        let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
        let connection = open.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a connection broke: {error}");
            }
            drop(place);
        });
    }
    drop(listener);
    // What still runs after that is cut off.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, open.shutdown()).await;
}

/// Raises the limit on open descriptors: each connection needs one, and shells allow a process few of them.
fn raise_descriptors() {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, most)| setrlimit(Resource::RLIMIT_NOFILE, most, most));
    if let Err(error) = raised {
        tracing::warn!("the limit on descriptors cannot be raised: {error}");
    }
}

/// Beyond the limit, connections wait in the listener's backlog.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, Peer, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Without this a streamed answer waits for the client's delayed acknowledgement.
            stream.set_nodelay(true).ok()?;
            Some((stream, Peer(peer.ip()), place))
        }
        Err(error) => {
            tracing::warn!("a connection cannot be accepted: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
