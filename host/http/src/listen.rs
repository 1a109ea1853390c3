//! Accepts connections: a bounded number, each with limits on how slowly it may send.
//!
//! | phase | limit |
//! |---|---|
//! | until a call has a valid key or session | 60 s; 1,024 connections, then the oldest one of the busiest address is closed |
//! | headers of a call, and the silence between two calls (HTTP/1) | 30 s; 64 KiB, 100 headers |
//! | HTTP/2 | 256 calls at once, 64 unseen resets, 64 KiB of headers; a ping every 30 s, an answer to it within 30 s |
//! | a body | 30 s of silence, or behind a pace of 1,024 bytes a second; between whole lines of NDJSON 30 s of silence alone |
//! | a body that is held in memory | 120 s; beyond 64 KiB one of 32 turns that tenants share, but for JSON of 256 KiB at most |
//! | a body on a route that needs neither key nor session | 8 KiB |
//! | components and artifacts that are sent | 16 that tenants share; 60 s until the reader takes the next piece |
//! | connections with a valid key or session | 16,384 that tenants share, fewer where the process may open few files: one tenant alone has three quarters |
//! | calls that wait for the end of a batch, or follow it | 12,288 that tenants share |
//!
//! The numbers are in `core::limits`.

use std::convert::Infallible;
use std::time::Duration;

use assay_core::limits;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::net::{TcpListener, TcpStream};
use tower::{Service, ServiceExt as _};

use crate::auth::sign_in::Peer;
use crate::connections::{Connection, Connections};

const HEADER_PATIENCE: Duration = Duration::from_secs(limits::READ_SECONDS_MAX);
const UNPROVEN_AGE_MAX: Duration = Duration::from_secs(limits::UNPROVEN_CONNECTION_SECONDS_MAX);
const PING: Duration = Duration::from_secs(limits::HTTP2_PING_SECONDS);
/// The descriptors for what is no proven connection: unproven ones, workers, files, PostgreSQL.
const OTHER_DESCRIPTORS: usize = limits::UNPROVEN_CONNECTIONS_MAX + 1_024;
/// The proven connections where a process may have very few descriptors.
const PROVEN_MIN: usize = 256;
/// The time for which open calls may continue once the server stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Serves until `stop` resolves, then lets open calls end.
pub async fn serve(listener: TcpListener, router: Router, stop: impl Future<Output = ()>) {
    let connections = Connections::new(UNPROVEN_AGE_MAX, raise_descriptors());
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accepted = tokio::select! {
            () = &mut stop => break,
            accepted = accept(&listener) => accepted,
        };
        let Some((stream, peer)) = accepted else { continue };
        let connection = connections.open(peer.0);
        let service = service(router.clone(), peer, connection.clone());
        let served = builder().serve_connection(TokioIo::new(stream), service).into_owned();
        let served = open.watch(served);
        tokio::spawn(async move {
            tokio::select! {
                ended = served => {
                    if let Err(error) = ended {
                        tracing::debug!("a connection broke: {error}");
                    }
                }
                () = connection.must_close() => tracing::debug!("a connection was closed that proved nothing"),
            }
        });
    }
    drop(listener);
    // Calls that still run after that are cut off.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, open.shutdown()).await;
}

/// The router, for the calls of one connection.
fn service(
    router: Router,
    peer: Peer,
    connection: Connection,
) -> TowerToHyperService<
    impl Service<Request<Incoming>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send,
> {
    let last = connection.clone();
    let known = router.map_request(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(connection.clone());
        request.map(Body::new)
    });
    TowerToHyperService::new(known.map_response(move |mut response: Response| {
        if last.is_ending() {
            // HTTP/2 leaves this header out.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }))
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_PATIENCE)
        .max_buf_size(limits::REQUEST_HEADER_BYTES_MAX)
        .max_headers(limits::REQUEST_HEADERS_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING)
        .keep_alive_timeout(HEADER_PATIENCE)
        .max_concurrent_streams(limits::HTTP2_STREAMS_MAX)
        .max_pending_accept_reset_streams(limits::HTTP2_RESETS_MAX)
        .max_local_error_reset_streams(limits::HTTP2_RESETS_MAX)
        .max_header_list_size(limits::REQUEST_HEADER_BYTES_MAX as u32);
    builder
}

/// Raises the limit on open descriptors, as shells allow a process few of them. Returns how many connections may be
/// proven with it.
fn raise_descriptors() -> usize {
    let raised = getrlimit(Resource::RLIMIT_NOFILE)
        .and_then(|(_, most)| setrlimit(Resource::RLIMIT_NOFILE, most, most));
    if let Err(error) = raised {
        tracing::warn!("the limit on descriptors cannot be raised: {error}");
    }
    let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(limit, _)| limit);
    let proven = proven_within(usize::try_from(descriptors).unwrap_or(usize::MAX));
    if proven < limits::PROVEN_CONNECTIONS_MAX {
        tracing::warn!(
            "this process may have {descriptors} open descriptors, so {proven} connections with a key instead of {}: raise \
             the limit (`ulimit -n`, or LimitNOFILE of systemd) to {}",
            limits::PROVEN_CONNECTIONS_MAX,
            limits::PROVEN_CONNECTIONS_MAX + OTHER_DESCRIPTORS,
        );
    }
    proven
}

/// The connections that may be proven, where a process may have this many descriptors.
fn proven_within(descriptors: usize) -> usize {
    let left = descriptors.saturating_sub(OTHER_DESCRIPTORS);
    left.clamp(PROVEN_MIN, limits::PROVEN_CONNECTIONS_MAX)
}

async fn accept(listener: &TcpListener) -> Option<(TcpStream, Peer)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Without this a streamed answer waits for the client's delayed acknowledgement.
            stream.set_nodelay(true).ok()?;
            Some((stream, Peer(peer.ip())))
        }
        Err(error) => {
            tracing::warn!("a connection cannot be accepted: {error}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_descriptors_allow_few_proven_connections() {
        assert_eq!(proven_within(1_024), PROVEN_MIN);
        assert_eq!(proven_within(OTHER_DESCRIPTORS + 4_096), 4_096);
        assert_eq!(proven_within(65_536), limits::PROVEN_CONNECTIONS_MAX);
        // A call too many that follows a batch is refused before a connection is cut.
        const { assert!(limits::LONG_CALLS_MAX < limits::PROVEN_CONNECTIONS_MAX) };
    }
}
