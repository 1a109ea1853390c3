//! The server as this worker knows it, and the certificates that it gives.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, anyhow};
use assay_core::limits;
use assay_tls::{Pin, Purpose, SERVER_NAME, WorkerKey, client_config, renew_after};
use assay_wire::proto::enrolment_client::EnrolmentClient;
use assay_wire::proto::{Certificate, JoinRequest, RenewRequest};
use hyper_util::rt::TokioIo;
use nix::sys::socket::{setsockopt, sockopt};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Code, Status};
use tower::service_fn;

use super::first_answer::first_answer;

/// The time for a connection, and for each answer about certificates.
const ANSWER_MAX: Duration = Duration::from_secs(limits::WORKER_HANDSHAKE_SECONDS_MAX);

/// The time for which the server may leave bytes unacknowledged.
const SILENCE_MAX: Duration = Duration::from_secs(limits::HEARTBEAT_SECONDS_MAX);

pub(super) struct Server {
    /// One, or those of the servers of which one works and the others stand by.
    pub(super) addresses: Vec<String>,
    pub(super) pin: Pin,
}

/// A certificate with its key, ready to connect with.
pub(super) struct Credentials {
    pub(super) worker: String,
    /// To run what the server grants.
    work: Arc<ClientConfig>,
    /// To get the next certificate.
    enrolment: Arc<ClientConfig>,
    renew_at: Instant,
    /// The end of validity by the clock of the machine, which counts while it sleeps.
    expires_at: SystemTime,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoCertificate {
    /// The server says so for good.
    #[error("{0}")]
    Refused(String),
    #[error("{0:#}")]
    Unreachable(anyhow::Error),
}

impl Credentials {
    fn new(pin: Pin, key: &WorkerKey, new: Certificate) -> anyhow::Result<Self> {
        let lifetime = Duration::from_micros(new.lifetime_us);
        let config = |purpose| client_config(pin, Some((key, new.certificate.to_vec())), purpose);
        Ok(Self {
            work: config(Purpose::Work)?.into(),
            enrolment: config(Purpose::Enrolment)?.into(),
            worker: new.worker,
            renew_at: Instant::now() + renew_after(lifetime),
            expires_at: SystemTime::now() + lifetime,
        })
    }

    pub(super) fn renew_at(&self) -> Instant {
        self.renew_at
    }

    pub(super) fn have_expired(&self) -> bool {
        SystemTime::now() >= self.expires_at
    }
}

impl Server {
    /// Exchanges the token for a certificate.
    pub(super) async fn join(
        &self,
        token: String,
        pool: &str,
    ) -> Result<Credentials, NoCertificate> {
        let here = |error: anyhow::Error| NoCertificate::Refused(format!("{error:#}"));
        let key = WorkerKey::generate().map_err(|error| here(error.into()))?;
        let signing_request = key.request().map_err(|error| here(error.into()))?.into();
        let request = JoinRequest {
            token,
            pool: pool.to_owned(),
            engine: assay_sandbox::engine_id(),
            machine: machine_name(),
            signing_request,
        };
        let config = client_config(self.pin, None, Purpose::Enrolment);
        let config = Arc::new(config.map_err(|error| here(error.into()))?);
        let mut client = self.enrolment(config).await.map_err(NoCertificate::Unreachable)?;
        let answer = client.join(request).await.map_err(|status| match status.code() {
            Code::PermissionDenied | Code::InvalidArgument | Code::FailedPrecondition => {
                NoCertificate::Refused(said(&status))
            }
            _ => NoCertificate::Unreachable(anyhow!(said(&status))),
        })?;
        Credentials::new(self.pin, &key, answer.into_inner()).map_err(here)
    }

    /// A new certificate in the place of this one, with a new key.
    pub(super) async fn renew(&self, old: &Credentials) -> Result<Credentials, NoCertificate> {
        let unreachable = NoCertificate::Unreachable;
        let key = WorkerKey::generate().map_err(|error| unreachable(error.into()))?;
        let request = key.request().map_err(|error| unreachable(error.into()))?;
        let mut client = self.enrolment(Arc::clone(&old.enrolment)).await.map_err(unreachable)?;
        let request = RenewRequest { signing_request: request.into() };
        let answer = client.renew(request).await.map_err(|status| match status.code() {
            Code::PermissionDenied => NoCertificate::Refused(said(&status)),
            _ => unreachable(anyhow!(said(&status))),
        })?;
        Credentials::new(self.pin, &key, answer.into_inner()).map_err(unreachable)
    }

    /// A connection of this worker.
    pub(super) async fn connect(
        &self,
        credentials: &Credentials,
    ) -> anyhow::Result<TlsStream<TcpStream>> {
        dial(&self.addresses, &credentials.work).await
    }

    async fn enrolment(
        &self,
        config: Arc<ClientConfig>,
    ) -> anyhow::Result<EnrolmentClient<Channel>> {
        let addresses = self.addresses.clone();
        let connect = move |_: Uri| {
            let (addresses, config) = (addresses.clone(), Arc::clone(&config));
            async move { dial(&addresses, &config).await.map(TokioIo::new) }
        };
        // The address in requests; connections go where `dial` says.
        let endpoint = Endpoint::from_static("http://server").timeout(ANSWER_MAX);
        Ok(EnrolmentClient::new(endpoint.connect_with_connector(service_fn(connect)).await?))
    }
}

/// A connection to the first address at which the server answers. A server that stands by does not.
async fn dial(
    addresses: &[String],
    config: &Arc<ClientConfig>,
) -> anyhow::Result<TlsStream<TcpStream>> {
    first_answer(addresses, |address| dial_one(address, Arc::clone(config))).await
}

async fn dial_one(
    address: &str,
    config: Arc<ClientConfig>,
) -> anyhow::Result<TlsStream<TcpStream>> {
    let connecting = async {
        let stream = TcpStream::connect(address).await?;
        // Answers are small and must not wait for each other.
        stream.set_nodelay(true)?;
        // Heartbeats that nobody acknowledges end the connection, not a quarter of an hour later.
        let lost_ms = u32::try_from(SILENCE_MAX.as_millis()).unwrap_or(u32::MAX);
        setsockopt(&stream, sockopt::TcpUserTimeout, &lost_ms)?;
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        TlsConnector::from(config).connect(name, stream).await
    };
    let connected = timeout(ANSWER_MAX, connecting).await;
    connected
        .map_err(anyhow::Error::from)
        .and_then(|connected| Ok(connected?))
        .with_context(|| format!("connecting to {address} by TLS"))
}

/// The message of a status, with the causes of a broken connection.
fn said(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn machine_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    // A character has four bytes at most.
    name.trim().chars().take(limits::MACHINE_NAME_BYTES_MAX / 4).collect()
}
