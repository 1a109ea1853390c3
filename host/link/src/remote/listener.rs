//! Accepts connections of TLS and sorts them: known workers that want to work through one door, everybody else through
//! another.

use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use assay_tls::{Identity, Purpose, peer_identity, purpose};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::{Connection, End, Place};
use super::known::{Admission, RemoteWorkers};
use super::unproven::{Unproven, UnprovenPlace};
use crate::caller::Peer;

const HANDSHAKE_MAX: Duration = Duration::from_secs(limits::WORKER_HANDSHAKE_SECONDS_MAX);
const ENROLMENT_MAX: Duration = Duration::from_secs(limits::UNPROVEN_WORKER_SECONDS_MAX);
/// The pause after an error of the machine, such as too many open files.
const ERROR_PAUSE: Duration = Duration::from_millis(100);

/// The reason for which a connection is closed that proved nothing.
const EVICTED: &str = "too many connections have proven nothing";

/// The servers that take connections, by what their peers have proven.
#[derive(Clone)]
pub(crate) struct ConnectionSenders {
    pub work: mpsc::Sender<Connection>,
    pub enrolment: mpsc::Sender<Connection>,
}

/// Accepts connections until the server stops; they end then as well.
pub(crate) async fn accept(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    workers: RemoteWorkers,
    doors: ConnectionSenders,
    stop: watch::Receiver<bool>,
) {
    let admit = move |identity: &Identity| workers.admit(identity);
    accept_by(listener, config, admit, doors, stop).await;
}

/// The same; `admit` says whether a worker may connect.
async fn accept_by<A>(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    admit: A,
    doors: ConnectionSenders,
    mut stop: watch::Receiver<bool>,
) where
    A: Fn(&Identity) -> Option<Admission> + Clone + Send + 'static,
{
    let unproven = Unproven::default();
    let acceptor = TlsAcceptor::from(config);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            // A sender that is gone has stopped everything too.
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        let (stream, from) = match accepted {
            Ok((stream, from)) => (stream, from.ip()),
            Err(error) => {
                tracing::warn!("a worker's connection cannot be accepted: {error}");
                sleep(ERROR_PAUSE).await;
                continue;
            }
        };
        let place = unproven.place(from);
        let (acceptor, admit, doors) = (acceptor.clone(), admit.clone(), doors.clone());
        let stop = stop.clone();
        tokio::spawn(async move {
            let shaken = tokio::select! {
                shaken = shake(&acceptor, stream) => shaken,
                () = place.evicted() => Err(anyhow::anyhow!("{EVICTED}")),
            };
            match shaken {
                Ok(stream) => sort(stream, place, admit, doors, stop).await,
                Err(error) => tracing::debug!("a handshake with a worker failed: {error}"),
            }
        });
    }
}

async fn shake(acceptor: &TlsAcceptor, stream: TcpStream) -> anyhow::Result<TlsStream<TcpStream>> {
    // Grants and answers are small and must not wait for each other.
    stream.set_nodelay(true)?;
    Ok(timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await??)
}

/// The end of a connection over which its peer gets a certificate.
async fn overdue() -> &'static str {
    sleep(ENROLMENT_MAX).await;
    "it took too long to get a certificate"
}

async fn sort(
    stream: TlsStream<TcpStream>,
    unproven: UnprovenPlace,
    admit: impl Fn(&Identity) -> Option<Admission>,
    doors: ConnectionSenders,
    mut stop: watch::Receiver<bool>,
) {
    let (_, session) = stream.get_ref();
    let purpose = purpose(session.alpn_protocol());
    let admitted = peer_identity(session.peer_certificates())
        .and_then(|identity| Some((admit(&identity)?, identity)));
    let works = purpose == Some(Purpose::Work);
    let (identity, kept) = match admitted {
        Some((Admission { connections, end }, identity)) => {
            let permit = connections.try_acquire_owned().ok();
            (Some(identity), permit.map(|permit| (permit, end)))
        }
        None => (None, None),
    };
    let (door, place, end): (_, Place, End) = match kept {
        // A known worker: its place among those that proved nothing ends here.
        Some((permit, end)) => {
            drop(unproven);
            if works {
                (doors.work, Box::new(permit), end)
            } else {
                (doors.enrolment, Box::new(permit), Box::pin(overdue()))
            }
        }
        // It has too many, and may try again when one of them has ended.
        None if works && identity.is_some() => return,
        None => {
            let place = Arc::new(unproven);
            let held = place.clone();
            let end = async move {
                tokio::select! {
                    reason = overdue() => reason,
                    () = held.evicted() => EVICTED,
                }
            };
            (doors.enrolment, Box::new(place), Box::pin(end))
        }
    };
    let end: End = Box::pin(async move {
        tokio::select! {
            reason = end => reason,
            _ = stop.wait_for(|stopped| *stopped) => "the server is stopping",
        }
    });
    let peer = Peer { identity };
    // The door is closed only when the server stops.
    let _ = door.send(Connection { stream, peer, end, ended: None, _place: place }).await;
}

#[cfg(test)]
mod tests;
