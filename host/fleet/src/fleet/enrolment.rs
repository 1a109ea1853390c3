//! Proofs of started workers on other machines, each of which is good for one certificate.

use assay_core::id::TicketId;

use super::Fleet;
use crate::ticket::{ProofRefusal, Ticket, TicketRefusal};

/// The right of a worker to its one certificate. Meanwhile nobody else has it; dropped before
/// [`EnrolmentClaim::issued`], it is given back, so that the worker may try again.
#[must_use = "a claim that is dropped is given back"]
pub struct EnrolmentClaim {
    fleet: Fleet,
    ticket: TicketId,
    is_issued: bool,
}

impl Fleet {
    /// Checks what a worker of another machine presents to get its certificate: its ticket, or what its launcher knows it
    /// by. Each worker gets one.
    pub async fn enrol(&self, proof: &str, pool: &str) -> Result<EnrolmentClaim, ProofRefusal> {
        let launcher = self.0.launchers.of(pool);
        if !launcher.joins_by_tls() {
            return Err(TicketRefusal::Unknown.into());
        }
        let ticket = if Ticket::claimed(proof).is_some() {
            self.state().enrol(proof, pool)?
        } else {
            let ticket = launcher.identify(proof).await?;
            self.state().enrol_identified(ticket, pool)?;
            ticket
        };
        Ok(EnrolmentClaim { fleet: self.clone(), ticket, is_issued: false })
    }
}

impl EnrolmentClaim {
    #[must_use]
    pub fn ticket(&self) -> TicketId {
        self.ticket
    }

    /// The certificate was issued: the proof is used up.
    pub fn issued(mut self) {
        self.is_issued = true;
    }
}

impl Drop for EnrolmentClaim {
    fn drop(&mut self) {
        if !self.is_issued {
            self.fleet.state().not_certified(self.ticket);
        }
    }
}
