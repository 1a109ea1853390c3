//! Who makes a call: a process of this machine by its ticket, or a worker of another machine by the certificate of its
//! connection.

use assay_fleet::TicketRefusal;
use assay_tls::Identity;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Status};

/// The peer of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// `None` for a peer that is not a worker that may connect.
    pub identity: Option<Identity>,
}

#[derive(Clone)]
pub(crate) enum Caller {
    /// The process that the kernel reports for a socket of this machine.
    Process(Option<u32>),
    /// The worker that the certificate names; `None` if it named none that may connect.
    Remote(Option<Identity>),
}

impl Caller {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        if let Some(peer) = request.extensions().get::<Peer>() {
            return Self::Remote(peer.identity.clone());
        }
        let peer = request.extensions().get::<UdsConnectInfo>().and_then(|info| info.peer_cred);
        Self::Process(peer.and_then(|peer| peer.pid()?.try_into().ok()))
    }
}

pub(crate) fn check_pool(identity: &Identity, claimed: &str) -> Result<(), Status> {
    if *identity.pool == *claimed {
        return Ok(());
    }
    Err(Status::permission_denied(format!("this worker's certificate is for {}", identity.pool)))
}

pub(crate) fn check_engine(host: &str, worker: &str) -> Result<(), Status> {
    if worker == host {
        return Ok(());
    }
    Err(Status::failed_precondition(format!(
        "this worker's engine is {worker}, the host's is {host}: both must be of one version and run on one \
         architecture, such as x86-64"
    )))
}

pub(crate) fn no_certificate() -> Status {
    Status::unauthenticated("this connection has no certificate of a worker that may connect")
}

pub(crate) fn refused(refused: TicketRefusal) -> Status {
    let message = refused.to_string();
    match refused {
        TicketRefusal::Unknown => Status::unauthenticated(message),
        TicketRefusal::Used | TicketRefusal::OtherPool => Status::permission_denied(message),
        TicketRefusal::GivenUp => Status::unavailable(message),
    }
}

#[cfg(test)]
mod tests {
    use assay_core::id::TicketId;
    use tonic::Code;

    use super::*;

    #[test]
    fn a_worker_serves_the_pool_of_its_certificate() {
        let identity = Identity { worker: TicketId::generate(), pool: "cpu".into() };
        check_pool(&identity, "cpu").expect("its own");
        let refused = check_pool(&identity, "gpu").expect_err("another");
        assert_eq!(refused.code(), Code::PermissionDenied);
    }

    #[test]
    fn a_worker_has_the_engine_of_the_host() {
        let (host, worker) = ("wasmtime-x86-64-v3-0123", "wasmtime-aarch64-4567");
        check_engine(host, host).expect("the same");
        let refused = check_engine(host, worker).expect_err("another");
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert_eq!(
            refused.message(),
            "this worker's engine is wasmtime-aarch64-4567, the host's is wasmtime-x86-64-v3-0123: both must be of \
             one version and run on one architecture, such as x86-64"
        );
    }
}
