//! The launcher `joined`: workers that somebody else starts, on any machine.
//!
//! It also ends the conversations of workers that another launcher started on other machines. They arrive with a certificate and leave when they want, so that it starts nothing. To stop one is to ask it to
//! leave, or to end its conversation; whether it may come again is decided where certificates are checked.

use std::collections::HashMap;
use std::sync::Arc;

use assay_core::id::TicketId;
use parking_lot::Mutex;
use tokio::sync::watch;

use crate::launcher::{Events, Launcher, Reconciling, Start, Stop, WorkerEnd, WorkerEvent};

/// The workers that are here; cheap to clone.
#[derive(Clone)]
pub(crate) struct JoinedLauncher {
    events: Events,
    visits: Arc<Mutex<HashMap<TicketId, VisitCalls>>>,
}

/// The calls to a worker that is here.
struct VisitCalls {
    /// The strongest call so far to end.
    stop: watch::Sender<Option<Stop>>,
    /// Whether it will be ended by somebody else.
    leaving: watch::Sender<bool>,
}

/// The stay of a worker that joined by TLS. One that came by itself ends when this is dropped; the end of one that
/// was started is told by its launcher.
pub struct Visit {
    ticket: TicketId,
    came: bool,
    stop: watch::Receiver<Option<Stop>>,
    leaving: watch::Receiver<bool>,
    launcher: JoinedLauncher,
}

impl JoinedLauncher {
    pub(crate) fn new(events: Events) -> Self {
        Self { events, visits: Arc::default() }
    }

    pub(crate) fn arrive(&self, ticket: TicketId, came: bool) -> Visit {
        let (sender, stop) = watch::channel(None);
        let (left, leaving) = watch::channel(false);
        self.visits.lock().insert(ticket, VisitCalls { stop: sender, leaving: left });
        Visit { ticket, came, stop, leaving, launcher: self.clone() }
    }

    /// A worker that is here will be ended by somebody else.
    pub(crate) fn leaves(&self, ticket: TicketId) {
        if let Some(calls) = self.visits.lock().get(&ticket) {
            calls.leaving.send_replace(true);
        }
    }
}

impl Visit {
    /// Whether it came by itself.
    #[must_use]
    pub fn came(&self) -> bool {
        self.came
    }

    /// Waits for a call to end that is at least as strong as this one, and returns it.
    pub async fn stopped(&mut self, how: Stop) -> Stop {
        let called = self.stop.wait_for(|stop| *stop >= Some(how)).await.map(|stop| *stop);
        called.ok().flatten().expect("the sender lives as long as the visit")
    }

    /// Waits until the worker is known to leave because somebody else will end it.
    pub fn leaving(&self) -> impl Future<Output = ()> + use<> {
        let mut leaving = self.leaving.clone();
        async move {
            if leaving.wait_for(|leaving| *leaving).await.is_err() {
                // It has ended.
                std::future::pending::<()>().await;
            }
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let stopped = self.stop.borrow().is_some();
        self.launcher.visits.lock().remove(&self.ticket);
        if !self.came {
            return;
        }
        let how = if stopped {
            WorkerEnd::Finished("it left".into())
        } else {
            WorkerEnd::Failed("its connection ended".into())
        };
        self.launcher.events.send(WorkerEvent::Ended { ticket: self.ticket, how });
    }
}

impl Launcher for JoinedLauncher {
    fn name(&self) -> &'static str {
        "joined"
    }

    fn start(&self, starts: Vec<Start>) {
        for start in starts {
            let how = WorkerEnd::NotStarted("workers of this pool join by themselves".into());
            self.events.send(WorkerEvent::Ended { ticket: start.ticket.id, how });
        }
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        if let Some(calls) = self.visits.lock().get(&ticket) {
            calls.stop.send_modify(|stop| *stop = Some(how).max(*stop));
        }
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let here = self.visits.lock().keys().copied().collect();
        Box::pin(std::future::ready(Ok(here)))
    }
}
