//! Tickets: a worker's identity and the proof of it.
//!
//! The fleet makes a ticket for each worker that it asks for. The launcher passes its text to the worker, which
//! presents it with every call. The id is shown in logs and interfaces; the secret is shown nowhere.

use std::fmt;

use assay_core::id::TicketId;
use subtle::ConstantTimeEq as _;

const SECRET_BYTES: usize = 32;

/// The ticket of one worker.
#[derive(Clone)]
pub struct Ticket {
    pub id: TicketId,
    secret: [u8; SECRET_BYTES],
}

impl Ticket {
    /// The ticket of a new worker.
    #[must_use]
    pub fn generate() -> Self {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).expect("the operating system gives randomness");
        Self { id: TicketId::generate(), secret }
    }

    /// The ticket of a worker that is known by other means than its text: nobody has the secret.
    pub(crate) fn without_text(id: TicketId) -> Self {
        Self { id, ..Self::generate() }
    }

    /// The text that the worker gets and presents.
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}.{}", self.id, hex::encode(self.secret))
    }

    /// The id in a presented text, which proves nothing yet.
    pub(crate) fn claimed(text: &str) -> Option<TicketId> {
        text.split_once('.')?.0.parse().ok()
    }

    /// Whether the presented text is this ticket's.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text().as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticket({})", self.id)
    }
}

/// Why a worker that presents a ticket is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TicketRefusal {
    #[error("this server issued no such ticket, or its worker has ended")]
    Unknown,
    #[error("this ticket was used: each worker joins once, with a ticket of its own")]
    Used,
    #[error("this ticket is for another pool")]
    OtherPool,
    #[error("the server does not know yet which workers it has in this pool: come again")]
    NotYet,
    #[error("the server no longer waits for the worker of this ticket")]
    GivenUp,
}

/// Why a worker gets no certificate for what it presents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofRefusal {
    #[error(transparent)]
    Ticket(#[from] TicketRefusal),
    /// It proves nothing, for this reason.
    #[error("{0}")]
    Refused(String),
    /// It cannot be checked now, for this reason, and may be presented again.
    #[error("{0}")]
    Unchecked(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_that_of_one_ticket() {
        let [one, other] = [Ticket::generate(), Ticket::generate()];
        assert!(one.is(&one.text()) && !one.is(&other.text()));
        assert_eq!(Ticket::claimed(&one.text()), Some(one.id));
        let forged = Ticket { id: one.id, secret: other.secret };
        assert!(!one.is(&forged.text()) && !one.is(&one.id.to_string()) && !one.is(""));
        for text in ["", ".", "a.b", &one.id.to_string()] {
            assert_eq!(Ticket::claimed(text), None, "{text}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let ticket = Ticket::generate();
        assert_eq!(format!("{ticket:?}"), format!("Ticket({})", ticket.id));
    }
}
