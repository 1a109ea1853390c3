use assay_fleet::Ticket;

use super::*;

const START: Micros = Micros::from_secs(1_000);
/// The time at which a creation is tried again.
const AGAIN: Micros = Micros::from_secs(1_005);
/// The uid of the Pod that is made.
const UID: &str = "3f1c";
const MADE: Result<Option<&str>, CreateRefusal> = Ok(Some(UID));

fn at(seconds: u64) -> Micros {
    START + Micros::from_secs(seconds)
}

/// What the effects are, in words.
fn told(effects: &[PodEffect]) -> Vec<String> {
    let one = |effect: &PodEffect| match effect {
        PodEffect::Create(_) => "create".into(),
        PodEffect::Delete(PodDeletion { grace, .. }) => match grace {
            None => "delete politely".into(),
            Some(seconds) => format!("delete in {seconds} s"),
        },
        PodEffect::Tell(WorkerEvent::Waiting { why, .. }) => format!("waits: {why}"),
        PodEffect::Tell(WorkerEvent::Placed { .. }) => "placed".into(),
        PodEffect::Tell(WorkerEvent::Leaving { why, .. }) => format!("leaves: {why}"),
        PodEffect::Tell(WorkerEvent::Ended { how, .. }) => match how {
            WorkerEnd::NotStarted(why) => format!("not started: {why}"),
            WorkerEnd::Finished(why) => format!("finished: {why}"),
            WorkerEnd::Failed(why) => format!("failed: {why}"),
            WorkerEnd::Lost => "lost".into(),
        },
    };
    effects.iter().map(one).collect()
}

/// One worker, and its Pods.
struct Life {
    pods: Pods,
    ticket: TicketId,
    pool: Arc<str>,
}

impl Life {
    fn asked() -> Self {
        let ticket = Ticket::generate();
        let (id, pool): (_, Arc<str>) = (ticket.id, "gpu".into());
        let mut pods = Pods::default();
        let started = pods.start(vec![Start { ticket, pool: Arc::clone(&pool) }]);
        assert_eq!(told(&started), ["create"]);
        Self { pods, ticket: id, pool }
    }

    fn made() -> Self {
        let mut life = Self::asked();
        assert!(life.created(MADE).is_empty());
        life
    }

    fn running() -> Self {
        let mut life = Self::made();
        assert_eq!(life.seen(PodReading::Running), ["placed"]);
        life
    }

    fn created(&mut self, answer: Result<Option<&str>, CreateRefusal>) -> Vec<String> {
        let answer = answer.map(|uid| uid.map(|uid| PodUid(uid.into())));
        told(&self.pods.created(AGAIN, (self.ticket, &self.pool), answer))
    }

    fn seen(&mut self, reading: PodReading) -> Vec<String> {
        self.sighted(UID, reading, None)
    }

    fn leaves(&mut self, reading: PodReading, why: &str) -> Vec<String> {
        self.sighted(UID, reading, Some(why))
    }

    fn sighted(&mut self, uid: &str, reading: PodReading, leaves: Option<&str>) -> Vec<String> {
        let leaves = leaves.map(str::to_owned);
        let sighting = PodSighting { uid: PodUid(uid.into()), reading, leaves };
        told(&self.pods.seen(START, (self.ticket, &self.pool), sighting))
    }

    /// The worker of a token that Kubernetes says is of this Pod.
    fn identified(&self, name: &str, uid: &str) -> Result<TicketId, String> {
        let identity = PodIdentity { name: name.into(), uid: PodUid(uid.into()) };
        let named = |pool: &str, _| format!("assay-{pool}");
        self.pods.identify(&identity, named).map_err(|refused| refused.to_string())
    }

    fn stop(&mut self, how: Stop) -> Vec<String> {
        told(&self.pods.stop(START, self.ticket, how))
    }

    /// The actions in the place of a creation whose turn has come.
    fn turn(&mut self) -> Vec<String> {
        told(&self.pods.given_up(self.ticket).expect("it is not made"))
    }

    fn gone(&mut self) -> Vec<String> {
        told(&self.pods.gone(self.ticket))
    }
}

#[test]
fn a_worker_waits_runs_and_ends() {
    let mut life = Life::made();
    let waits = || PodReading::Waiting("Unschedulable: no GPU is free".into());
    assert_eq!(life.seen(waits()), ["waits: Unschedulable: no GPU is free"]);
    assert!(life.seen(waits()).is_empty(), "a reason is told once");
    assert_eq!(life.seen(PodReading::Starting), ["waits: its node prepares its containers"]);
    assert_eq!(life.seen(PodReading::Running), ["placed"]);
    assert!(life.seen(PodReading::Running).is_empty());
    assert_eq!(life.pods.running().len(), 1);
    let ended = life.seen(PodReading::Failed("Evicted: no memory".into()));
    assert_eq!(ended, ["failed: Evicted: no memory", "delete in 1 s"]);
    assert!(life.gone().is_empty(), "an end is told once");
    assert!(life.pods.workers().is_empty());
}

#[test]
fn a_pod_that_cannot_start_is_a_failed_start() {
    let mut life = Life::made();
    let ended = life.seen(PodReading::Stuck("ImagePullBackOff".into()));
    assert_eq!(ended, ["not started: ImagePullBackOff", "delete in 1 s"]);
    let mut life = Life::asked();
    let refused = CreateRefusal::ForGood("spec.containers[0].image: Required value".into());
    assert_eq!(
        life.created(Err(refused)),
        ["not started: spec.containers[0].image: Required value"]
    );
}

#[test]
fn a_quota_is_waited_for_and_tried_again() {
    let mut life = Life::asked();
    let refused = || Err(CreateRefusal::ForNow("exceeded quota".into()));
    assert_eq!(life.created(refused()), ["waits: exceeded quota"]);
    assert_eq!(life.pods.next_due(), Some(AGAIN));
    assert!(life.pods.due(START).is_empty());
    assert_eq!(told(&life.pods.due(AGAIN)), ["create"]);
    assert!(life.pods.due(at(1_000)).is_empty(), "it is under way");
    assert!(life.created(refused()).is_empty(), "the reason is the same");
    // A call without an answer may have made it.
    assert_eq!(life.stop(Stop::GiveUp), ["delete in 1 s", "finished: it was not started"]);
}

#[test]
fn a_creation_that_was_given_up_before_its_turn_is_not_made() {
    let mut life = Life::asked();
    assert!(life.pods.given_up(life.ticket).is_none(), "it is made");
    assert!(life.stop(Stop::GiveUp).is_empty());
    assert_eq!(life.turn(), ["finished: it was not started"]);
    assert!(life.pods.workers().is_empty());
    assert!(life.turn().is_empty(), "an end is told once");
    // A call before may have made it.
    let mut life = Life::asked();
    let _ = life.created(Err(CreateRefusal::ForNow("it gave no answer".into())));
    let _ = life.pods.due(AGAIN);
    assert!(life.stop(Stop::Kill).is_empty());
    assert_eq!(life.turn(), ["delete in 1 s", "finished: it was not started"]);
    // A Pod that runs goes on.
    let mut life = Life::running();
    assert!(life.turn().is_empty());
    assert_eq!(life.pods.running().len(), 1);
}

#[test]
fn a_stop_is_polite_or_not_and_a_stronger_one_follows_a_weaker_one() {
    let mut life = Life::running();
    assert_eq!(life.stop(Stop::Leave), ["delete politely"]);
    assert!(life.stop(Stop::Leave).is_empty());
    assert_eq!(life.stop(Stop::Kill), ["delete in 1 s"]);
    assert!(life.stop(Stop::GiveUp).is_empty());
    assert_eq!(life.gone(), ["finished: its Pod was deleted"]);
}

#[test]
fn a_stop_during_the_creation_deletes_what_comes_of_it() {
    let mut life = Life::asked();
    assert!(life.stop(Stop::GiveUp).is_empty());
    assert_eq!(life.created(MADE), ["delete in 1 s"]);
    assert_eq!(life.gone(), ["finished: its Pod was deleted"]);
    // Its end may have been known before the answer.
    assert_eq!(life.created(MADE), ["delete in 1 s"]);
}

#[test]
fn a_node_that_does_not_confirm_an_end_is_not_waited_for() {
    let mut life = Life::running();
    life.stop(Stop::Leave);
    assert_eq!(life.pods.next_due(), None, "one that leaves has its own time");
    life.stop(Stop::Kill);
    assert_eq!(life.pods.next_due(), Some(START + GIVEN_UP_AFTER));
    let given_up = told(&life.pods.due(START + GIVEN_UP_AFTER));
    let why = "finished: it was deleted, which its node has not confirmed";
    assert_eq!(given_up, ["delete in 0 s", why]);
    assert_eq!(life.pods.next_due(), None);
}

#[test]
fn a_node_that_does_not_start_a_worker_is_given_up() {
    let mut life = Life::made();
    life.seen(PodReading::Starting);
    life.seen(PodReading::Starting);
    let late = START + PREPARE_MAX;
    assert_eq!(life.pods.next_due(), Some(late));
    let mut slow = Life::made();
    slow.seen(PodReading::Starting);
    slow.seen(PodReading::Running);
    assert_eq!(slow.pods.next_due(), None, "it runs");
    assert!(life.pods.due(at(60)).is_empty());
    let given_up = told(&life.pods.due(late));
    assert_eq!(given_up, ["delete in 1 s".into(), format!("not started: {}", unprepared())]);
    assert!(life.pods.workers().is_empty());
}

#[test]
fn somebody_elses_deletion_is_a_failure() {
    assert_eq!(Life::running().gone(), ["failed: its Pod was deleted, and not by Assay"]);
}

#[test]
fn a_pod_is_gone_if_a_list_that_began_after_it_lacks_it() {
    let mut life = Life::asked();
    life.pods.list_begins();
    assert!(life.created(MADE).is_empty());
    assert!(life.pods.list_ends().is_empty(), "the list may have begun before");
    life.pods.list_begins();
    life.seen(PodReading::Running);
    assert!(life.pods.list_ends().is_empty());
    life.pods.list_begins();
    let gone = told(&life.pods.list_ends());
    assert_eq!(gone, ["failed: its Pod was deleted, and not by Assay"]);
}

#[test]
fn nothing_is_gone_while_kubernetes_cannot_be_asked() {
    let mut life = Life::made();
    let why = ["waits: Kubernetes cannot be asked: refused"];
    assert_eq!(told(&life.pods.not_asked("refused")), why);
    assert!(Life::running().pods.not_asked("refused").is_empty());
    assert_eq!(life.pods.workers().len(), 1);
}

#[test]
fn a_server_finds_the_workers_of_the_server_before_it() {
    let (mut pods, pool): (_, Arc<str>) = (Pods::default(), "gpu".into());
    let tickets: Vec<TicketId> = (0..3).map(|_| TicketId::generate()).collect();
    let sighting = |reading| PodSighting { uid: PodUid(UID.into()), reading, leaves: None };
    pods.list_begins();
    assert_eq!(
        told(&pods.seen(START, (tickets[0], &pool), sighting(PodReading::Running))),
        ["placed"]
    );
    let waits = sighting(PodReading::Waiting("no node".into()));
    assert_eq!(pods.seen(START, (tickets[1], &pool), waits).len(), 1);
    let over = told(&pods.seen(START, (tickets[2], &pool), sighting(PodReading::Succeeded)));
    assert_eq!(over, ["delete in 1 s"], "its end was told by the server before");
    assert!(pods.list_ends().is_empty());
    assert_eq!(told(&pods.end_waiting(START)), ["delete in 1 s"]);
    assert_eq!(pods.running(), [(tickets[0], pool)]);
}

#[test]
fn a_pod_that_somebody_else_ends_leaves_as_soon_as_it_is_seen() {
    let why = "EvictionByEvictionAPI: evicting";
    let leaves = [format!("leaves: {why}")];
    let mut life = Life::running();
    assert_eq!(life.leaves(PodReading::Running, why), leaves);
    assert!(life.leaves(PodReading::Running, "its Pod is being deleted").is_empty(), "told once");
    assert_eq!(life.seen(PodReading::Succeeded), ["finished: its Pod succeeded", "delete in 1 s"]);
    assert_eq!(Life::made().leaves(PodReading::Starting, why)[1..], leaves, "it has not joined");
    let mut found = Life { pods: Pods::default(), ..Life::made() };
    assert_eq!(found.leaves(PodReading::Running, why)[..], ["placed", &*leaves[0]]);
    let mut life = Life::running();
    life.stop(Stop::Leave);
    assert!(life.leaves(PodReading::Running, "its Pod is being deleted").is_empty(), "by Assay");
}

#[test]
fn a_token_is_good_for_the_pod_that_was_made_while_it_stays() {
    let (life, mut life_that_leaves) = (Life::running(), Life::running());
    assert_eq!(life.identified("assay-gpu", UID), Ok(life.ticket));
    let refused = |life: &Life, name: &str, uid: &str| life.identified(name, uid).expect_err("no");
    assert_eq!(refused(&life, "assay-cpu", UID), "the Pod assay-cpu is none of this server's");
    let why = "the Pod assay-gpu is another one than that which was made";
    assert_eq!(refused(&life, "assay-gpu", "4a2d"), why);
    life_that_leaves.leaves(PodReading::Running, "evicted");
    let why = "the Pod assay-gpu is being deleted";
    assert_eq!(refused(&life_that_leaves, "assay-gpu", UID), why);
    let mut stopped = Life::running();
    stopped.stop(Stop::GiveUp);
    assert_eq!(refused(&stopped, "assay-gpu", UID), why);
    // Its worker may be faster than the answer to its creation.
    let mut early = Life::asked();
    assert_eq!(refused(&early, "assay-gpu", UID), "the Pod assay-gpu is not known yet");
    // A call before made it.
    assert!(early.created(Ok(None)).is_empty());
    assert_eq!(refused(&early, "assay-gpu", UID), "the Pod assay-gpu is not known yet");
    early.seen(PodReading::Running);
    assert_eq!(early.identified("assay-gpu", UID), Ok(early.ticket));
}

#[test]
fn a_pod_in_the_place_of_the_one_that_was_made_is_deleted() {
    let mut life = Life::running();
    let replaced = life.sighted("4a2d", PodReading::Running, None);
    let why = "failed: its Pod was replaced by another one of its name";
    assert_eq!(replaced, [why, "delete in 1 s"]);
    let why = "the Pod assay-gpu is none of this server's";
    assert_eq!(life.identified("assay-gpu", "4a2d"), Err(why.into()));
}
