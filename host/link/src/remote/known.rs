//! The workers of other machines that may connect. A worker that is not among them is refused, whatever its
//! certificate says; the database has the same rows for the next start.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use assay_core::architecture::Architecture;
use assay_core::id::{Digest, TicketId};
use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::{Engines, now};
use assay_fleet::ProofRefusal;
use assay_store::audit::Actor;
use assay_store::remote_workers::{AuthorityRow, NewWorkerToken, RemoteWorkerRow};
use assay_store::{Store, StoreError};
use assay_tls::{Authority, Identity, Pin, StoredAuthority, Validity};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Semaphore, watch};

use super::connection::End;

const TOKEN_PREFIX: &str = "assay_join_";
const TOKEN_BYTES: usize = 32;

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct RemoteSettings {
    pub listen: SocketAddr,
    pub certificate_lifetime: Micros,
    /// Architectures of workers, besides this machine's own, for which plugins are compiled.
    pub architectures: Vec<Architecture>,
}

/// Issues tokens and certificates, and knows who may connect; cheap to clone.
#[derive(Clone)]
pub struct RemoteWorkers(Arc<Inner>);

struct Inner {
    store: Store,
    authority: Authority,
    /// The engines for which plugins are compiled.
    engines: Engines,
    listen: SocketAddr,
    lifetime: Micros,
    /// Applications that are looked at.
    joins: Semaphore,
    known: Mutex<HashMap<TicketId, RemoteWorkerEntry>>,
}

struct RemoteWorkerEntry {
    pool: Arc<str>,
    /// The end of its newest certificate; closed when the worker is removed.
    expires_at: watch::Sender<Micros>,
    connections: Arc<Semaphore>,
}

/// The limits of a worker that may connect.
pub(crate) struct Admission {
    /// The places of its connections.
    pub connections: Arc<Semaphore>,
    /// The end of its connections.
    pub end: End,
}

/// A certificate that was issued.
pub(crate) struct Issued {
    pub worker: TicketId,
    pub certificate: Vec<u8>,
    pub lifetime: Micros,
}

/// The data with which a worker asks to join.
pub(crate) struct Applicant {
    pub pool: String,
    pub machine: String,
    pub signing_request: Vec<u8>,
}

/// Why a worker gets no certificate.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotIssued {
    #[error(
        "the token is unknown, used, expired, or for another pool; `assay worker token` makes one"
    )]
    Token,
    #[error("this worker was removed, or its certificate has expired: join again with a new token")]
    Unknown,
    #[error("{0}")]
    BadRequest(String),
    #[error(transparent)]
    Proof(#[from] ProofRefusal),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RemoteWorkers {
    /// Reads the authority and the workers; makes the authority if there is none. `listen` is the bound address.
    pub async fn open(
        store: Store,
        engines: Engines,
        settings: &RemoteSettings,
        listen: SocketAddr,
    ) -> anyhow::Result<Self> {
        let new = Authority::generate(now()).context("making the authority of workers")?;
        let new = AuthorityRow { certificate: new.certificate, private_key: new.private_key };
        let row = store.worker_authority(&new, now()).await?;
        let stored = StoredAuthority { certificate: row.certificate, private_key: row.private_key };
        let authority = Authority::open(stored).context("reading the authority of workers")?;
        let known = store
            .remote_workers(now())
            .await?
            .into_iter()
            .map(|row| (row.id, RemoteWorkerEntry::new(row.pool.into(), row.expires_at)));
        let known = Mutex::new(known.collect());
        let lifetime = settings.certificate_lifetime;
        let joins = Semaphore::new(limits::WORKER_JOINS_MAX);
        Ok(Self(Arc::new(Inner { store, authority, engines, listen, lifetime, joins, known })))
    }

    pub(crate) fn authority(&self) -> &Authority {
        &self.0.authority
    }

    pub(crate) fn engines(&self) -> &Engines {
        &self.0.engines
    }

    #[must_use]
    pub fn listen(&self) -> SocketAddr {
        self.0.listen
    }

    #[must_use]
    pub fn pin(&self) -> Pin {
        self.0.authority.pin()
    }

    /// Makes a token with which one worker of the pool joins once.
    pub async fn create_token(
        &self,
        pool: &str,
        until: Micros,
        actor: &Actor,
    ) -> Result<String, StoreError> {
        let mut secret = [0; TOKEN_BYTES];
        getrandom::fill(&mut secret).expect("the operating system gives randomness");
        let token = format!("{TOKEN_PREFIX}{}", hex::encode(secret));
        let hash = Digest::of(token.as_bytes());
        let new = NewWorkerToken { hash, pool, created_at: now(), expires_at: until };
        self.0.store.create_worker_token(new, actor).await?;
        Ok(token)
    }

    /// The workers that may connect.
    pub async fn list(&self) -> Result<Vec<RemoteWorkerRow>, StoreError> {
        self.0.store.remote_workers(now()).await
    }

    /// Refuses the worker from now on and ends its connections.
    pub async fn remove(&self, worker: TicketId, actor: &Actor) -> Result<(), StoreError> {
        // First, so that it is refused even if the database fails or nobody waits for the answer.
        self.known().remove(&worker);
        self.0.store.remove_remote_worker(worker, actor, now()).await
    }

    /// Whether a text is a token of [`RemoteWorkers::create_token`], not the ticket of a worker that was started.
    pub(crate) fn is_token(text: &str) -> bool {
        text.starts_with(TOKEN_PREFIX)
    }

    /// A worker that nobody started, with a token.
    pub(crate) async fn join(
        &self,
        token: &str,
        applicant: Applicant,
    ) -> Result<Issued, NotIssued> {
        self.enrol(TicketId::generate(), Some(token), applicant).await
    }

    /// A worker that was started and whose proof the fleet has checked.
    pub(crate) async fn join_started(
        &self,
        id: TicketId,
        applicant: Applicant,
    ) -> Result<Issued, NotIssued> {
        self.enrol(id, None, applicant).await
    }

    /// Whether the worker got a certificate and was not removed since.
    pub(crate) fn knows(&self, worker: TicketId) -> bool {
        self.known().contains_key(&worker)
    }

    /// Refuses a worker that was started from now on: it has ended, or its connection, and with that the worker.
    pub(crate) async fn forget(&self, worker: TicketId) {
        match self.remove(worker, &Actor::Platform).await {
            // Somebody else may have removed it.
            Ok(()) | Err(StoreError::NotFound(_)) => {}
            // It is refused all the same; after a restart, too, once its certificate has expired.
            Err(error) => tracing::warn!(worker.ticket = %worker, "a worker stays listed: {error}"),
        }
    }

    async fn enrol(
        &self,
        id: TicketId,
        token: Option<&str>,
        applicant: Applicant,
    ) -> Result<Issued, NotIssued> {
        let Applicant { pool, machine, signing_request } = applicant;
        let plain = |machine: &str| !machine.chars().any(char::is_control);
        if machine.len() > limits::MACHINE_NAME_BYTES_MAX || !plain(&machine) {
            return Err(NotIssued::BadRequest("the machine's name is not valid".into()));
        }
        let _turn = self.0.joins.acquire().await.expect("the semaphore is never closed");
        let at = now();
        let expires_at = at + self.0.lifetime;
        let identity = Identity { worker: id, pool: pool.as_str().into() };
        // Before the token is used up.
        let issued = self.issue(&signing_request, &identity, at)?;
        let row = RemoteWorkerRow { id, pool, machine, joined_at: at, expires_at };
        match token {
            Some(token) => {
                if !self.0.store.join_worker(Digest::of(token.as_bytes()), &row).await? {
                    return Err(NotIssued::Token);
                }
            }
            None => self.let_in(&row).await?,
        }
        tracing::info!(worker.ticket = %id, worker.pool = row.pool, worker.machine = row.machine, "a worker may connect");
        let mut known = self.known();
        known.retain(|_, known| *known.expires_at.borrow() > at);
        known.insert(id, RemoteWorkerEntry::new(identity.pool, expires_at));
        Ok(issued)
    }

    /// Stores a worker that was started. An earlier try that got no answer may have stored it: that certificate was given to
    /// nobody, and this one takes its place.
    async fn let_in(&self, row: &RemoteWorkerRow) -> Result<(), StoreError> {
        match self.0.store.let_worker_in(row).await {
            Err(StoreError::Broken(_)) => {
                self.forget(row.id).await;
                self.0.store.let_worker_in(row).await
            }
            stored => stored,
        }
    }

    pub(crate) async fn renew(
        &self,
        identity: &Identity,
        signing_request: &[u8],
    ) -> Result<Issued, NotIssued> {
        let at = now();
        let expires_at = at + self.0.lifetime;
        let issued = self.issue(signing_request, identity, at)?;
        if !self.0.store.renew_worker(identity.worker, at, expires_at).await? {
            return Err(NotIssued::Unknown);
        }
        match self.known().get(&identity.worker) {
            None => Err(NotIssued::Unknown),
            Some(known) => {
                known.expires_at.send_replace(expires_at);
                Ok(issued)
            }
        }
    }

    fn issue(&self, request: &[u8], identity: &Identity, at: Micros) -> Result<Issued, NotIssued> {
        let lifetime = self.0.lifetime;
        let validity = Validity::starting(at, lifetime);
        let certificate = self.0.authority.issue(request, identity, validity);
        let certificate = certificate.map_err(|error| NotIssued::BadRequest(error.to_string()))?;
        Ok(Issued { worker: identity.worker, certificate, lifetime })
    }

    /// `None` if the worker may not connect.
    pub(crate) fn admit(&self, identity: &Identity) -> Option<Admission> {
        let known = self.known();
        let known = known.get(&identity.worker).filter(|known| known.pool == identity.pool)?;
        let expires_at = known.expires_at.subscribe();
        if *expires_at.borrow() <= now() {
            return None;
        }
        let connections = Arc::clone(&known.connections);
        Some(Admission { connections, end: Box::pin(ended(expires_at)) })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<TicketId, RemoteWorkerEntry>> {
        self.0.known.lock()
    }
}

impl RemoteWorkerEntry {
    fn new(pool: Arc<str>, expires_at: Micros) -> Self {
        let connections = Arc::new(Semaphore::new(limits::REMOTE_WORKER_CONNECTIONS_MAX));
        Self { pool, expires_at: watch::Sender::new(expires_at), connections }
    }
}

/// Resolves when the worker's newest certificate has expired, or the worker is removed.
async fn ended(mut expires_at: watch::Receiver<Micros>) -> &'static str {
    loop {
        let until = *expires_at.borrow_and_update();
        let left = Duration::from(until.since(now()));
        if left.is_zero() {
            return "the worker's certificate has expired";
        }
        tokio::select! {
            changed = expires_at.changed() => {
                if changed.is_err() {
                    return "the worker was removed";
                }
            }
            () = tokio::time::sleep(left) => {}
        }
    }
}
