//! The worker that makes a call: one that joined, or one that wants to.

use assay_core::architecture::Architecture;
use assay_core::id::TicketId;
use assay_fleet::TicketRefusal;
use assay_wire::proto::Hello;
use tonic::Status;

use crate::caller::{Caller, check_engine, check_pool, no_certificate, refused};
use crate::link::Link;

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

    /// The worker that wants to join, and its architecture.
    pub(crate) fn check_hello(
        &self,
        caller: &Caller,
        hello: &Hello,
    ) -> Result<(TicketId, Architecture), Status> {
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
        Ok((ticket, check_engine(&self.engines, &hello.engine)?))
    }
}
