//! The launcher: one task owns the Pods ([`Pods`]), watches those with this server's label, and makes and deletes them in
//! tasks of their own.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use assay_clock::now;
use assay_core::id::TicketId;
use assay_core::limits;
use assay_fleet::{Events, Finding, Identifying, Launcher, ProofRefusal, Reconciling, Start, Stop};
use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::watcher::{self, Event};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinSet;

use crate::calls::{self, KubernetesConnection, PodApi};
use crate::pods::{CreateRefusal, PodEffect, Pods};
use crate::reading::{self, PodUid};
use crate::settings::{KubernetesSettings, worker};
use crate::token::PodIdentity;

/// Starts and stops workers as Pods; they end with the fleet's orders, not with this.
pub struct KubernetesLauncher {
    calls: mpsc::UnboundedSender<PodCall>,
    api: Arc<PodApi>,
}

enum PodCall {
    Start(Vec<Start>),
    Stop(TicketId, Stop),
    /// All workers that exist, or may.
    List(WorkersAnswer),
    /// The workers of the server before this one that run; its other Pods are ended.
    Find(WorkersAnswer),
    /// The worker of a Pod that has proven which one it is.
    Identify(PodIdentity, oneshot::Sender<Result<TicketId, ProofRefusal>>),
}

type WorkersAnswer = oneshot::Sender<anyhow::Result<Vec<(TicketId, Arc<str>)>>>;

/// Kubernetes' answer to the creation of a Pod.
type CreateAnswer = Result<Option<PodUid>, CreateRefusal>;

/// The reason of a creation that has no answer because of a fault of the server.
const BROKEN: &str = "the server failed to make the call; its log says why";

/// The end of a call of Kubernetes, or of the wait for its turn.
enum PodCallEnd {
    Turn(Start, OwnedSemaphorePermit),
    Created(TicketId, Arc<str>, CreateAnswer),
    Deleted,
}

impl KubernetesLauncher {
    /// Must be called on a runtime.
    #[must_use]
    pub fn new(
        settings: KubernetesSettings,
        connection: KubernetesConnection,
        events: Events,
    ) -> Self {
        let (calls, incoming) = mpsc::unbounded_channel();
        let api = Arc::new(PodApi::new(settings, connection));
        tokio::spawn(PodOwner::new(Arc::clone(&api), events).run(incoming));
        Self { calls, api }
    }

    fn ask(&self, call: fn(WorkersAnswer) -> PodCall) -> Finding<'_> {
        let (answer, answered) = oneshot::channel();
        self.call(call(answer));
        Box::pin(async { answered.await.map_err(|_| anyhow!("the launcher has ended"))? })
    }

    fn call(&self, call: PodCall) {
        // The task ends with this alone.
        let _ = self.calls.send(call);
    }
}

impl Launcher for KubernetesLauncher {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn start(&self, starts: Vec<Start>) {
        self.call(PodCall::Start(starts));
    }

    fn stop(&self, ticket: TicketId, how: Stop) {
        self.call(PodCall::Stop(ticket, how));
    }

    fn reconcile(&self) -> Reconciling<'_> {
        let listing = self.ask(PodCall::List);
        Box::pin(async { Ok(listing.await?.into_iter().map(|(ticket, _)| ticket).collect()) })
    }

    fn find(&self) -> Finding<'_> {
        self.ask(PodCall::Find)
    }

    fn joins_by_tls(&self) -> bool {
        true
    }

    fn identify<'a>(&'a self, proof: &'a str) -> Identifying<'a> {
        Box::pin(async move {
            let identity = self.api.identify(proof).await?;
            let (answer, answered) = oneshot::channel();
            self.call(PodCall::Identify(identity, answer));
            let ended = |_| ProofRefusal::Unchecked("the launcher has ended".into());
            answered.await.map_err(ended)?
        })
    }
}

/// The owner of the Pods.
struct PodOwner {
    api: Arc<PodApi>,
    events: Events,
    pods: Pods,
    answers: JoinSet<PodCallEnd>,
    turns: Arc<Semaphore>,
    /// Whether all Pods are known.
    is_listed: bool,
    /// Calls for a list that wait for that.
    listings: Vec<PodCall>,
}

impl PodOwner {
    fn new(api: Arc<PodApi>, events: Events) -> Self {
        let turns = Arc::new(Semaphore::new(limits::KUBERNETES_CALLS_MAX));
        Self {
            api,
            events,
            pods: Pods::default(),
            answers: JoinSet::new(),
            turns,
            is_listed: false,
            listings: Vec::new(),
        }
    }

    async fn run(mut self, mut calls: mpsc::UnboundedReceiver<PodCall>) {
        let mut watch = self.api.watch();
        loop {
            let due = self.pods.next_due().map(|at| Duration::from(at.since(now())));
            tokio::select! {
                call = calls.recv() => match call {
                    Some(call) => self.called(call),
                    None => return,
                },
                Some(answered) = self.answers.join_next() => match answered {
                    Ok(answered) => self.answered(answered),
                    // A creation has an answer all the same. A Pod whose deletion panicked is deleted again when it is given up.
                    Err(error) => tracing::error!("a call of Kubernetes was not made: {error}"),
                },
                Some(event) = watch.next() => {
                    if event.as_ref().is_err_and(calls::is_expired) {
                        // It would resume at the same place again and again.
                        watch = self.api.watch_anew();
                    }
                    self.watched(event);
                }
                () = assay_clock::sleep(due.unwrap_or(Duration::MAX)), if due.is_some() => {
                    let effects = self.pods.due(now());
                    self.carry_out(effects);
                }
            }
        }
    }

    fn called(&mut self, call: PodCall) {
        let effects = match call {
            PodCall::Start(starts) => self.pods.start(starts),
            PodCall::Stop(ticket, how) => self.pods.stop(now(), ticket, how),
            PodCall::Identify(identity, answer) => {
                let settings = self.api.settings();
                let name = |pool: &str, ticket| settings.name(pool, ticket);
                // The caller may have gone.
                let _ = answer.send(self.pods.identify(&identity, name));
                Vec::new()
            }
            call @ (PodCall::List(_) | PodCall::Find(_)) if self.is_listed => self.list(call),
            call @ (PodCall::List(_) | PodCall::Find(_)) => {
                self.listings.push(call);
                Vec::new()
            }
        };
        self.carry_out(effects);
    }

    fn answered(&mut self, answered: PodCallEnd) {
        let effects = match answered {
            PodCallEnd::Turn(start, turn) => match self.pods.given_up(start.ticket.id) {
                Some(effects) => effects,
                None => return self.create(start, turn),
            },
            PodCallEnd::Created(ticket, pool, answer) => {
                self.pods.created(now() + calls::pause(), (ticket, &pool), answer)
            }
            PodCallEnd::Deleted => Vec::new(),
        };
        self.carry_out(effects);
    }

    fn watched(&mut self, event: Result<Event<Pod>, watcher::Error>) {
        let effects = match event {
            Ok(Event::Init) => {
                self.pods.list_begins();
                Vec::new()
            }
            Ok(Event::InitApply(pod) | Event::Apply(pod)) => self.seen(&pod),
            Ok(Event::InitDone) => {
                self.is_listed = true;
                let gone = self.pods.list_ends();
                let listings = std::mem::take(&mut self.listings);
                gone.into_iter()
                    .chain(listings.into_iter().flat_map(|call| self.list(call)))
                    .collect()
            }
            Ok(Event::Delete(pod)) => match worker(&pod) {
                Some((ticket, _)) => self.pods.gone(ticket),
                None => Vec::new(),
            },
            Err(error) => {
                let why = calls::words(&error);
                tracing::warn!("Kubernetes cannot be watched: {why}");
                for call in self.listings.drain(..) {
                    if let PodCall::List(answer) | PodCall::Find(answer) = call {
                        // The caller may have gone.
                        let _ =
                            answer.send(Err(anyhow!("Kubernetes cannot be asked for Pods: {why}")));
                    }
                }
                self.pods.not_asked(&why)
            }
        };
        self.carry_out(effects);
    }

    fn seen(&mut self, pod: &Pod) -> Vec<PodEffect> {
        let Some((ticket, pool)) = worker(pod) else { return Vec::new() };
        self.pods.seen(now(), (ticket, &pool), reading::see(pod))
    }

    /// Answers a call for a list, once all Pods are known.
    fn list(&mut self, call: PodCall) -> Vec<PodEffect> {
        // The callers may have gone.
        match call {
            PodCall::List(listing) => {
                let _ = listing.send(Ok(self.pods.workers()));
                Vec::new()
            }
            PodCall::Find(found) => {
                let ended = self.pods.end_waiting(now());
                let _ = found.send(Ok(self.pods.running()));
                ended
            }
            PodCall::Start(_) | PodCall::Stop(..) | PodCall::Identify(..) => Vec::new(),
        }
    }

    fn create(&mut self, start: Start, turn: OwnedSemaphorePermit) {
        let api = Arc::clone(&self.api);
        self.answers.spawn(async move {
            let (ticket, pool) = (start.ticket.id, Arc::clone(&start.pool));
            let creating = async move {
                let _turn = turn;
                api.create(&start).await
            };
            PodCallEnd::Created(ticket, pool, answer_of(creating).await)
        });
    }

    fn carry_out(&mut self, effects: Vec<PodEffect>) {
        for effect in effects {
            let (api, turns) = (Arc::clone(&self.api), Arc::clone(&self.turns));
            match effect {
                PodEffect::Create(start) => self.answers.spawn(async move {
                    let turn = turns.acquire_owned().await.expect("it is never closed");
                    PodCallEnd::Turn(start, turn)
                }),
                PodEffect::Delete(deletion) => self.answers.spawn(async move {
                    // Its worker would join and be paid for.
                    loop {
                        let turn = turns.acquire().await.expect("it is never closed");
                        if api.delete(&deletion).await {
                            break;
                        }
                        drop(turn);
                        assay_clock::sleep_until(now() + calls::pause()).await;
                    }
                    PodCallEnd::Deleted
                }),
                PodEffect::Tell(event) => {
                    self.events.send(event);
                    continue;
                }
            };
        }
    }
}

/// Makes a Pod in a task within this one; if that panics, it is tried again like any call without an answer.
async fn answer_of(creating: impl Future<Output = CreateAnswer> + Send + 'static) -> CreateAnswer {
    let mut running = JoinSet::new();
    running.spawn(creating);
    let ended = running.join_next().await.expect("it was spawned");
    ended.unwrap_or_else(|error| {
        tracing::error!("a call of Kubernetes was not made: {error}");
        Err(CreateRefusal::ForNow(BROKEN.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn panics() -> CreateAnswer {
        panic!("on purpose")
    }

    #[tokio::test]
    async fn a_creation_that_panics_is_tried_again() {
        assert_eq!(answer_of(panics()).await, Err(CreateRefusal::ForNow(BROKEN.into())));
        assert_eq!(answer_of(std::future::ready(Ok(None))).await, Ok(None));
    }
}
