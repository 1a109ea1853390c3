//! Who makes a call: a process of this machine by its ticket, or a worker of another machine by the certificate of its
//! connection.

use assay_core::architecture::Architecture;
use assay_dispatch::Engines;
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

/// The architecture of a worker, whose engine must be one that plugins are compiled for.
pub(crate) fn check_engine(engines: &Engines, worker: &str) -> Result<Architecture, Status> {
    engines.find(worker).ok_or_else(|| {
        let compiled_for: Vec<&str> = engines.ids().collect();
        Status::failed_precondition(format!(
            "this worker's engine is {worker}, and the server compiles plugins for {}: a worker must be of the server's \
             version, and of its architecture or one of its --worker-architectures",
            compiled_for.join(" and ")
        ))
    })
}

pub(crate) fn no_certificate() -> Status {
    Status::unauthenticated("this connection has no certificate of a worker that may connect")
}

pub(crate) fn refused(refused: TicketRefusal) -> Status {
    let message = refused.to_string();
    match refused {
        TicketRefusal::Unknown => Status::unauthenticated(message),
        TicketRefusal::Used | TicketRefusal::OtherPool => Status::permission_denied(message),
        TicketRefusal::NotYet | TicketRefusal::GivenUp => Status::unavailable(message),
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
    fn a_worker_has_an_engine_that_plugins_are_compiled_for() {
        let (own, other) = ("wasmtime-x86-64-v3-0123", "wasmtime-aarch64-4567");
        let (x86_64, aarch64) = (Architecture::X86_64, Architecture::Aarch64);
        let alone = Engines::new([(x86_64, own.into())].into());
        assert_eq!(check_engine(&alone, own).expect("the same"), x86_64);
        let refused = check_engine(&alone, other).expect_err("another");
        assert_eq!(refused.code(), Code::FailedPrecondition);
        assert_eq!(
            refused.message(),
            "this worker's engine is wasmtime-aarch64-4567, and the server compiles plugins for \
             wasmtime-x86-64-v3-0123: a worker must be of the server's version, and of its architecture or one of its \
             --worker-architectures"
        );
        let both = Engines::new([(x86_64, own.into()), (aarch64, other.into())].into());
        assert_eq!(check_engine(&both, other).expect("one of them"), aarch64);
        let refused = check_engine(&both, "wasmtime-aarch64-89ab").expect_err("another version's");
        assert!(refused.message().contains("-0123 and wasmtime-aarch64-4567: "), "{refused}");
    }
}
