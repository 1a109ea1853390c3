//! Who makes a call: a process of this machine by its ticket, or a worker of another machine by the certificate of its
//! connection.

use assay_core::id::TicketId;
use assay_fleet::TicketRefusal;
use assay_tls::Identity;
use assay_wire::proto::Hello;
use tonic::transport::server::UdsConnectInfo;
use tonic::{Request, Status};

use crate::link::Link;
use crate::remote::Peer;

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

impl Link {
    /// The joined worker that calls; `ticket` is what it presents.
    pub(crate) fn worker(&self, caller: &Caller, ticket: &str) -> Result<TicketId, Status> {
        match caller {
            Caller::Process(process) => {
                let worker = self.fleet.authenticate(ticket);
                let worker = worker.ok_or_else(|| refused(TicketRefusal::Unknown))?;
                self.check_process(*process, worker)?;
                Ok(worker)
            }
            Caller::Remote(identity) => {
                let worker = identity.as_ref().ok_or_else(no_certificate)?.worker;
                let joined = self.fleet.has_joined(worker);
                joined.then_some(worker).ok_or_else(|| refused(TicketRefusal::Unknown))
            }
        }
    }

    /// A ticket of a process of this machine is worth nothing in another process.
    fn check_process(&self, caller: Option<u32>, ticket: TicketId) -> Result<(), Status> {
        match (caller, self.fleet.pid(ticket)) {
            (Some(caller), Some(worker)) if caller != worker => {
                Err(Status::permission_denied("this ticket is another process's"))
            }
            _ => Ok(()),
        }
    }

    /// The worker that wants to join.
    pub(crate) fn check_hello(&self, caller: &Caller, hello: &Hello) -> Result<TicketId, Status> {
        let ticket = match caller {
            Caller::Process(process) => {
                let ticket = self.fleet.admit(&hello.ticket, &hello.pool).map_err(refused)?;
                self.check_process(*process, ticket)?;
                ticket
            }
            Caller::Remote(identity) => {
                let identity = identity.as_ref().ok_or_else(no_certificate)?;
                check_pool(identity, &hello.pool)?;
                identity.worker
            }
        };
        check_engine(&self.engine, &hello.engine)?;
        Ok(ticket)
    }
}

fn check_pool(identity: &Identity, claimed: &str) -> Result<(), Status> {
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
        "this worker's engine is {worker}, the host's is {host}: build both from one version, and run them on \
         processors of one kind"
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
    use tonic::Code;

    use super::*;

    #[test]
    fn a_worker_serves_the_pool_of_its_certificate() {
        let identity = Identity { worker: TicketId::generate(), pool: "cpu".into() };
        check_pool(&identity, "cpu").expect("its own");
        let refused = check_pool(&identity, "gpu").expect_err("another");
        assert_eq!(refused.code(), Code::PermissionDenied);
    }
}
