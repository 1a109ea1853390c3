//! Workers that connect by TLS: those that were started, those of the server before this one, and those that came by
//! themselves.

use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::time::Micros;

use super::{FleetState, FleetWorker, Phase};
use crate::ticket::{Ticket, TicketRefusal};

/// The steps of a started worker that joins by TLS; each is taken once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enrolment {
    None,
    /// It exchanges its ticket for a certificate, or has done so.
    Certified,
    /// It has connected with the certificate.
    Connected,
}

impl FleetState {
    /// Takes in a worker that connects by TLS; returns whether it came by itself. One that was asked for has
    /// [`FleetState::enrol`]led before.
    pub(crate) fn came(
        &mut self,
        now: Micros,
        ticket: TicketId,
        pool: &Arc<str>,
    ) -> Result<bool, TicketRefusal> {
        if self.stopping {
            return Err(TicketRefusal::GivenUp);
        }
        if let Some(worker) = self.workers.get_mut(&ticket) {
            return match worker.phase {
                Phase::Asked | Phase::Placed if worker.enrolment == Enrolment::Certified => {
                    worker.enrolment = Enrolment::Connected;
                    Ok(false)
                }
                Phase::Overdue(_) | Phase::Failed | Phase::Reported | Phase::GivenUp => {
                    Err(TicketRefusal::GivenUp)
                }
                _ => Err(TicketRefusal::Used),
            };
        }
        if self.unfound.contains_key(pool) {
            return Err(TicketRefusal::NotYet);
        }
        let came = self.found.remove(&ticket).is_none();
        let new = FleetWorker::new(Ticket::without_text(ticket), pool, now);
        // It has lived before.
        let arrived = FleetWorker { phase: Phase::Came, came, is_proven: true, ..new };
        self.workers.insert(ticket, arrived);
        Ok(came)
    }

    /// Checks what a worker that was asked for presents to get a certificate. It gets one once.
    pub(crate) fn enrol(&mut self, text: &str, pool: &str) -> Result<TicketId, TicketRefusal> {
        let ticket = self.admit(text, pool)?;
        self.enrol_identified(ticket, pool).map(|()| ticket)
    }

    /// The same for a worker that its launcher has identified.
    pub(crate) fn enrol_identified(
        &mut self,
        ticket: TicketId,
        pool: &str,
    ) -> Result<(), TicketRefusal> {
        self.expects(ticket, pool)?;
        let worker = self.workers.get_mut(&ticket).ok_or(TicketRefusal::Unknown)?;
        if worker.enrolment != Enrolment::None {
            return Err(TicketRefusal::Used);
        }
        worker.enrolment = Enrolment::Certified;
        Ok(())
    }

    /// The worker got no certificate after all: it may enrol again.
    pub(crate) fn not_certified(&mut self, ticket: TicketId) {
        let worker = self.workers.get_mut(&ticket);
        if let Some(worker) = worker.filter(|worker| worker.enrolment == Enrolment::Certified) {
            worker.enrolment = Enrolment::None;
        }
    }
}
