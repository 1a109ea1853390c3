//! What the parts of a simulation share: the faults of its seed, the server that lives now, and what went wrong.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use assay_clock::simulated::random;
use assay_clock::{now, sleep};
use assay_core::id::{BatchId, RequestId};
use assay_core::time::Micros;
use assay_dispatch::Dispatch;
use assay_fleet::Fleet;
use assay_wire::proto;
use tokio::sync::Notify;

use crate::database::Rows;

pub const START: Micros = Micros::from_secs(1_790_000_000);
/// Faults strike in this time at the longest.
const FAULTY_SECONDS_MAX: u64 = 40;
/// Everything has ended this long after the last fault.
const QUIET_SECONDS_MAX: u64 = 4 * 3_600;

/// A number below `end`.
pub fn below(end: u64) -> u64 {
    random() % end
}

pub fn one_in(count: u64) -> bool {
    below(count) == 0
}

/// A pause of random length, mostly short.
pub async fn pause(micros_max: u64) {
    let micros = if one_in(2) { below(micros_max / 16 + 1) } else { below(micros_max + 1) };
    sleep(Duration::from_micros(micros)).await;
}

/// What a defective part would do; a simulation that has one must fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// The database forgets a commit that it acknowledged.
    CommitLost,
    /// The database acknowledges before it commits.
    AcknowledgedTooEarly,
    /// The database refuses a group and keeps half of it.
    HalfCommitted,
    /// The database takes a second outcome of a request.
    OutcomeDoubled,
    /// The database keeps another reward than it was given.
    RewardChanged,
    /// The database turns an error into a reward.
    ErrorIsNumber,
    /// A commit never returns.
    CommitHangs,
    /// A commit of a former server takes effect after the next one has read.
    FormerServerWrites,
    /// A starting server does not see a request that waits.
    RequestForgotten,
    /// A starting server gets the artifact of another stage's request.
    ArtifactConfused,
    /// A link gives the answer for one lease to another one.
    AnswerConfused,
}

impl Mutation {
    pub const ALL: [Self; 11] = [
        Self::CommitLost,
        Self::AcknowledgedTooEarly,
        Self::HalfCommitted,
        Self::OutcomeDoubled,
        Self::RewardChanged,
        Self::ErrorIsNumber,
        Self::CommitHangs,
        Self::FormerServerWrites,
        Self::RequestForgotten,
        Self::ArtifactConfused,
        Self::AnswerConfused,
    ];
}

/// How often each fault strikes, in thousandths of its opportunities.
#[derive(Debug)]
pub struct Faults {
    pub connection_refused: u64,
    pub lost_before_commit: u64,
    pub lost_after_commit: u64,
    pub lost_in_commit: u64,
    pub commit_late: u64,
    pub commit_slow: u64,
    pub reading_fails: u64,
    pub batch_refused: u64,
    pub request_refused: u64,
    pub outcome_refused: u64,
    pub worker_dies: u64,
    pub worker_hangs: u64,
    pub worker_answers_twice: u64,
    pub worker_fails: u64,
    pub worker_talks_nonsense: u64,
    pub worker_ignores_revocations: u64,
    pub worker_starts_badly: u64,
    pub link_cut: u64,
    pub trainer_dies: u64,
    pub plugin_missing: u64,
    pub plugin_slow: u64,
    /// The number of times that the server ends.
    pub crashes: u64,
}

impl Faults {
    fn of_seed() -> Self {
        let up_to = |max: u64| if one_in(2) { 0 } else { below(max + 1) };
        Self {
            connection_refused: up_to(300),
            lost_before_commit: up_to(200),
            lost_after_commit: up_to(200),
            lost_in_commit: up_to(200),
            commit_late: up_to(100),
            commit_slow: up_to(100),
            reading_fails: up_to(300),
            batch_refused: up_to(200),
            request_refused: up_to(200),
            outcome_refused: up_to(100),
            worker_dies: up_to(200),
            worker_hangs: up_to(50),
            worker_answers_twice: up_to(200),
            worker_fails: up_to(200),
            worker_talks_nonsense: up_to(50),
            worker_ignores_revocations: up_to(500),
            worker_starts_badly: up_to(300),
            link_cut: up_to(100),
            trainer_dies: up_to(300),
            plugin_missing: up_to(500),
            plugin_slow: up_to(200),
            crashes: if one_in(3) { 0 } else { below(5) },
        }
    }
}

/// A server that dispatches.
#[derive(Clone)]
pub struct Live {
    pub life: u64,
    pub dispatch: Dispatch,
    pub fleet: Fleet,
}

pub struct World {
    pub faults: Faults,
    /// Trainers go on for so long, and not for some batches; faults strike all the time.
    pub hours: Option<u64>,
    pub quiet_at: Micros,
    pub mutation: Option<Mutation>,
    rows: Mutex<Rows>,
    server: Mutex<Option<Live>>,
    /// The batches whose plugin is lost with the server that they were announced to: their trainers cancel them.
    plugin_lost: Mutex<BTreeSet<BatchId>>,
    /// The first thing that went wrong.
    failure: Mutex<Option<String>>,
    /// Says that one of these two has changed; it wakes in the order of the calls, which a `watch` does not.
    changed: Notify,
    trace: Mutex<Trace>,
}

#[derive(Default)]
struct Trace {
    hash: DefaultHasher,
    is_shown: bool,
    mutated: u64,
}

impl World {
    pub fn new(hours: Option<u64>, mutation: Option<Mutation>, is_shown: bool) -> Arc<Self> {
        let faulty = if one_in(8) { 0 } else { below(FAULTY_SECONDS_MAX * 1_000_000) };
        let faulty = hours.map_or(Micros(faulty), |hours| Micros::from_secs(hours * 3_600));
        let faults = Faults::of_seed();
        let world = Self {
            faults,
            hours,
            quiet_at: START + faulty,
            mutation,
            rows: Mutex::default(),
            server: Mutex::default(),
            plugin_lost: Mutex::default(),
            failure: Mutex::default(),
            changed: Notify::new(),
            trace: Mutex::new(Trace { is_shown, ..Trace::default() }),
        };
        world.say(|| format!("quiet at {}, {:?}", world.quiet_at, world.faults));
        Arc::new(world)
    }

    pub fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().expect("no part panics with it")
    }

    /// Whether a fault strikes now.
    pub fn strikes(&self, fault: u64) -> bool {
        now() < self.quiet_at && below(1_000) < fault
    }

    /// The next server will not get the plugin of this batch.
    pub fn lose_plugin(&self, batch: BatchId) {
        self.plugin_lost.lock().expect("no panics").insert(batch);
    }

    pub fn has_lost_plugin(&self, batch: BatchId) -> bool {
        self.plugin_lost.lock().expect("no panics").contains(&batch)
    }

    /// The time at which this life of the server ends by a crash, after so many others.
    pub fn crash_at(&self, earlier: u64) -> Option<Micros> {
        let (crashes, within) = match self.hours {
            Some(_) => (u64::MAX, 2 * 3_600_000_000),
            None => (self.faults.crashes, 15_000_000),
        };
        let at = (earlier < crashes).then(|| now() + Micros(below(within)));
        at.filter(|at| *at < self.quiet_at)
    }

    /// Whether this mutation takes place now.
    pub fn mutates(&self, mutation: Mutation) -> bool {
        let does = self.mutation == Some(mutation) && one_in(4);
        if does {
            self.trace.lock().expect("no panics").mutated += 1;
            self.say(|| format!("{mutation:?}"));
        }
        does
    }

    /// The number of times that a mutation took place.
    pub fn mutated(&self) -> u64 {
        self.trace.lock().expect("no panics").mutated
    }

    /// Adds to the trace, which a replay shows.
    pub fn say(&self, what: impl FnOnce() -> String) {
        let mut trace = self.trace.lock().expect("no panics");
        let what = what();
        (now(), &what).hash(&mut trace.hash);
        if trace.is_shown {
            println!("{:>13.6} {what}", now().since(START).as_secs_f64());
        }
    }

    /// A number that tells two runs apart.
    pub fn hash(&self) -> u64 {
        self.trace.lock().expect("no panics").hash.finish()
    }

    pub fn fail(&self, what: impl Into<String>) {
        let what = what.into();
        self.say(|| format!("FAILED: {what}"));
        self.failure.lock().expect("no panics").get_or_insert(what);
        self.changed.notify_waiters();
    }

    async fn wait_for<T>(&self, met: impl Fn() -> Option<T>) -> T {
        loop {
            let changed = self.changed.notified();
            if let Some(met) = met() {
                return met;
            }
            changed.await;
        }
    }

    pub fn check(&self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.fail(what());
        }
    }

    /// Returns once something went wrong or took too long.
    pub async fn failed(&self) -> String {
        let late = self.quiet_at + Micros::from_secs(QUIET_SECONDS_MAX);
        tokio::select! {
            biased;
            failure = self.wait_for(|| self.failure()) => failure,
            () = assay_clock::sleep_until(late) => "not everything ended in time".into(),
        }
    }

    /// What went wrong so far, if anything did.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().expect("no panics").clone()
    }

    /// A worker gets no request that a crash could take back, but for single ones.
    pub fn check_grant(&self, grant: &proto::Grant) {
        let request: RequestId = grant.request_id.parse().expect("an id");
        let rows = self.rows();
        let is_durable = rows.requests.contains_key(&(request.batch, request.seq));
        let may = is_durable || rows.singles.contains(&request.batch);
        self.check(may, || format!("{request} is granted before its commit"));
    }

    pub fn set_server(&self, live: Option<Live>) {
        *self.server.lock().expect("no panics") = live;
        self.changed.notify_waiters();
    }

    /// The server that lives now, or the next one.
    pub async fn server(&self) -> Live {
        self.wait_for(|| self.server.lock().expect("no panics").clone()).await
    }

    /// The server of this life; `None` once it has ended.
    pub async fn server_of(&self, life: u64) -> Option<Live> {
        let live = self.server().await;
        (live.life == life).then_some(live)
    }

    /// Returns once the server of this life has ended.
    pub async fn ended(&self, life: u64) {
        let is_over = || {
            let server = self.server.lock().expect("no panics");
            server.as_ref().is_none_or(|live| live.life != life).then_some(())
        };
        self.wait_for(is_over).await;
    }
}
