//! Accepts connections of TLS and sorts them: known workers that want to work through one door, everybody else through
//! another.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_core::limits;
use assay_tls::{Identity, Purpose, peer_identity, purpose};
use rustls::ServerConfig;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::connection::{Connection, End, Peer, Place};
use super::known::{Admission, RemoteWorkers};

const HANDSHAKE_MAX: Duration = Duration::from_secs(limits::WORKER_HANDSHAKE_SECONDS_MAX);
const ENROLMENT_MAX: Duration = Duration::from_secs(limits::UNPROVEN_WORKER_SECONDS_MAX);
/// The pause after an error of the machine, such as too many open files.
const ERROR_PAUSE: Duration = Duration::from_millis(100);

/// The servers that take connections, by what their peers have proven.
#[derive(Clone)]
pub(crate) struct Doors {
    pub work: mpsc::Sender<Connection>,
    pub enrolment: mpsc::Sender<Connection>,
}

/// The connections that have proven nothing, by address.
#[derive(Clone, Default)]
struct Unproven(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// Given back when it is dropped.
struct UnprovenPlace {
    unproven: Unproven,
    from: IpAddr,
}

impl Unproven {
    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // No code that holds the lock panics.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a connection, unless there are too many from this address or in all.
    fn place(&self, from: IpAddr) -> Option<UnprovenPlace> {
        let mut counts = self.counts();
        let here = counts.get(&from).copied().unwrap_or(0);
        let all: usize = counts.values().sum();
        if here >= limits::UNPROVEN_WORKERS_PER_ADDRESS_MAX || all >= limits::UNPROVEN_WORKERS_MAX {
            return None;
        }
        counts.insert(from, here + 1);
        Some(UnprovenPlace { unproven: self.clone(), from })
    }
}

impl Drop for UnprovenPlace {
    fn drop(&mut self) {
        let mut counts = self.unproven.counts();
        let left = counts.get(&self.from).map_or(0, |here| here - 1);
        if left == 0 {
            counts.remove(&self.from);
        } else {
            counts.insert(self.from, left);
        }
    }
}

/// Accepts connections until the server stops; they end then as well.
pub(crate) async fn accept(
    listener: TcpListener,
    config: Arc<ServerConfig>,
    workers: RemoteWorkers,
    doors: Doors,
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
    doors: Doors,
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
        // Closed at once where too many have proven nothing: a worker tries again.
        let Some(place) = unproven.place(from) else { continue };
        let (acceptor, admit, doors) = (acceptor.clone(), admit.clone(), doors.clone());
        let stop = stop.clone();
        tokio::spawn(async move {
            match shake(&acceptor, stream).await {
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

async fn sort(
    stream: TlsStream<TcpStream>,
    unproven: UnprovenPlace,
    admit: impl Fn(&Identity) -> Option<Admission>,
    doors: Doors,
    mut stop: watch::Receiver<bool>,
) {
    let (_, session) = stream.get_ref();
    let purpose = purpose(session.alpn_protocol());
    let admitted = peer_identity(session.peer_certificates())
        .and_then(|identity| Some((admit(&identity)?, identity)));
    let (door, identity, place, end): (_, _, Place, _) = match (admitted, purpose) {
        (Some((admission, identity)), Some(Purpose::Work)) => {
            let Admission { connections, end } = admission;
            // It has too many, and may try again when one of them has ended.
            let Ok(permit) = connections.try_acquire_owned() else { return };
            (doors.work, Some(identity), Box::new(permit), end)
        }
        (admitted, _) => {
            let end: End = Box::pin(async {
                sleep(ENROLMENT_MAX).await;
                "it took too long to get a certificate"
            });
            (doors.enrolment, admitted.map(|(_, identity)| identity), Box::new(unproven), end)
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
