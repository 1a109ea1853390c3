//! The time in which a server gives orders to launchers whose workers outlive it.
//!
//! A server that hangs is replaced by another one, which takes its jobs and Pods over. When it wakes up it must not end
//! them: its orders wait until it is sure that it still dispatches, and come to nothing if it does not.

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use assay_clock::now;
use assay_core::id::TicketId;
use assay_core::limits;
use assay_core::time::Micros;
use tokio::sync::{mpsc, watch};

use crate::launcher::{Finding, Identifying, Launcher, Reconciling, Start, Stop};

/// The age from which a proof says nothing: another server may have taken over since.
const PROOF_MAX: Micros = Micros::from_secs(limits::TENURE_PROOF_SECONDS_MAX);

/// Whether this server is the one that dispatches; cheap to clone.
#[derive(Debug, Clone)]
pub struct Tenure {
    /// The time of the last proof; `None` once another server dispatches. Without a receiver no other server can.
    proven: Option<watch::Receiver<Option<Micros>>>,
}

impl Tenure {
    /// `proven` has the time of the last proof that this server dispatches, and `None` once another one does.
    #[must_use]
    pub fn new(proven: watch::Receiver<Option<Micros>>) -> Self {
        Self { proven: Some(proven) }
    }

    /// The tenure of a server that no other one can replace.
    #[must_use]
    pub fn endless() -> Self {
        Self { proven: None }
    }

    /// Waits until it is certain whether this server dispatches.
    pub async fn holds(&self) -> bool {
        let Some(proven) = &self.proven else { return true };
        let certain = |proof: &Option<Micros>| proof.is_none_or(|at| now().since(at) < PROOF_MAX);
        let proof = proven.clone().wait_for(certain).await.map(|proof| *proof);
        // Without a sender the server has stopped.
        proof.is_ok_and(|proof| proof.is_some())
    }

    /// Whether another server is known to dispatch.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.proven.as_ref().is_some_and(|proven| proven.borrow().is_none())
    }

    /// The launcher, with orders that count only during this tenure if its workers outlive the server. Must be called on a
    /// runtime.
    pub(crate) fn limit(&self, launcher: Box<dyn Launcher>) -> Box<dyn Launcher> {
        if self.proven.is_none() || !launcher.joins_by_tls() {
            return launcher;
        }
        Box::new(TenuredLauncher::new(launcher.into(), self.clone()))
    }
}

/// A launcher that is told what to do only while this server is sure to dispatch.
struct TenuredLauncher {
    launcher: Arc<dyn Launcher>,
    tenure: Tenure,
    orders: mpsc::UnboundedSender<LauncherOrder>,
}

enum LauncherOrder {
    Start(Vec<Start>),
    Stop(TicketId, Stop),
}

impl TenuredLauncher {
    fn new(launcher: Arc<dyn Launcher>, tenure: Tenure) -> Self {
        let (orders, given) = mpsc::unbounded_channel();
        tokio::spawn(pass_on(Arc::clone(&launcher), tenure.clone(), given));
        Self { launcher, tenure, orders }
    }

    fn order(&self, order: LauncherOrder) {
        // The task ends with this or with the tenure, after which there are no orders.
        let _ = self.orders.send(order);
    }

    async fn check(&self) -> anyhow::Result<()> {
        if !self.tenure.holds().await {
            bail!("another server dispatches");
        }
        Ok(())
    }
}

async fn pass_on(
    launcher: Arc<dyn Launcher>,
    tenure: Tenure,
    mut orders: mpsc::UnboundedReceiver<LauncherOrder>,
) {
    while let Some(order) = orders.recv().await {
        if !tenure.holds().await {
            return;
        }
        match order {
            LauncherOrder::Start(starts) => launcher.start(starts),
            LauncherOrder::Stop(ticket, how) => launcher.stop(ticket, how),
        }
    }
}

impl Launcher for TenuredLauncher {
    fn name(&self) -> &'static str {
        self.launcher.name()
    }

    fn start(&self, starts: Vec<Start>) {
        self.order(LauncherOrder::Start(starts));
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        self.order(LauncherOrder::Stop(ticket, how));
    }

    fn reconcile(&self) -> Reconciling<'_> {
        Box::pin(async {
            self.check().await?;
            self.launcher.reconcile().await
        })
    }

    fn find(&self) -> Finding<'_> {
        Box::pin(async {
            self.check().await?;
            self.launcher.find().await
        })
    }

    fn start_max(&self, pool: &str) -> Duration {
        self.launcher.start_max(pool)
    }

    fn joins_by_tls(&self) -> bool {
        self.launcher.joins_by_tls()
    }

    fn identify<'a>(&'a self, proof: &'a str) -> Identifying<'a> {
        self.launcher.identify(proof)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// It notes which workers it is told to stop.
    struct FarLauncher(Arc<Mutex<Vec<TicketId>>>);

    impl Launcher for FarLauncher {
        fn name(&self) -> &'static str {
            "far"
        }

        fn start(&self, _: Vec<Start>) {}

        fn stop(&self, ticket: TicketId, _: Stop) {
            self.0.lock().expect("no panic").push(ticket);
        }

        fn reconcile(&self) -> Reconciling<'_> {
            Box::pin(std::future::ready(Ok(Vec::new())))
        }

        fn joins_by_tls(&self) -> bool {
            true
        }
    }

    /// All that can run without further events has run.
    async fn settled() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn an_order_waits_for_a_proof_and_comes_to_nothing_without_one() {
        let old = || Some(Micros(now().0 - PROOF_MAX.0));
        let (proven, proofs) = watch::channel(Some(now()));
        let stopped = Arc::<Mutex<Vec<TicketId>>>::default();
        let tenure = Tenure::new(proofs);
        let launcher = tenure.limit(Box::new(FarLauncher(Arc::clone(&stopped))));
        let tickets: Vec<TicketId> = (0..3).map(|_| TicketId::generate()).collect();
        let stop = async |number: usize| {
            launcher.stop(tickets[number], Stop::Kill);
            settled().await;
            stopped.lock().expect("no panic").clone()
        };
        assert_eq!(stop(0).await, tickets[..1]);
        proven.send_replace(old());
        assert_eq!(stop(1).await, tickets[..1], "another server may have its workers");
        proven.send_replace(Some(now()));
        settled().await;
        assert_eq!(*stopped.lock().expect("no panic"), tickets[..2]);
        launcher.reconcile().await.expect("it dispatches");
        proven.send_replace(old());
        stop(2).await;
        proven.send_replace(None);
        assert_eq!(stop(2).await, tickets[..2]);
        assert!(tenure.has_ended() && launcher.reconcile().await.is_err());
    }
}
