//! One batch: its unfinished requests, its groups, and when it could end (the paper's T).
//!
//! ```text
//!                first request          sealed, or as many as expected
//!   ANNOUNCED -----------------> OPEN ---------------------------------> SEALED
//!     |  |  |                    |  |                                    |    |
//!     |  |  | sealed, empty      |  | idle for too long                  |    |
//!     |  |  +-----> done         |  +---------> expired                  |    |
//!     |  | no request for long   |                       all ended       |    |
//!     |  +-----> expired         | cancelled                done <-------+    |
//!     | cancelled                v                                            |
//!     +----------------------> cancelled <------------------------------------+
//! ```
//!
//! Owned by the scheduler, which drops it once it is done, cancelled or expired: a final batch is
//! an unknown one. Requests are accepted in every state. An open batch is idle while it has no unfinished
//! requests. It must never end a request twice.

mod order;

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_core::id::{RequestId, WorkerId};
use assay_core::time::Micros;

use crate::action::{Action, FinalEnd, Finish, StageTiming};
use crate::config::Config;
use crate::event::{NewBatch, NewRequest, Progress};
use crate::fair_queue::Owner;
use crate::profile::{Ending, Profile, ProfileRequest};
use crate::request::Request;
use crate::seq_map::SeqMap;
use crate::seq_set::SeqSet;
use crate::view::{BatchView, StageView};

#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) new: NewBatch,
    pub(crate) requests: SeqMap<Request>,
    /// Its entry among the timers.
    pub(crate) due: Option<Micros>,
    /// Whether it was noted that only its last requests are left (`hedge`).
    pub(crate) noted_last: bool,
    sealed: bool,
    /// The number of requests that will have come, by what the trainer last said of its rollouts.
    size_told: Option<u32>,
    submitted: SeqSet,
    groups: BTreeMap<u32, Group>,
    stages: Vec<Reached>,
    waiters: Waiters,
    /// The ended requests, in order of their ends; `ran` has their stage times.
    ended: Vec<ProfileRequest>,
    ran: Vec<Micros>,
    first_arrival: Option<Micros>,
    /// From the first arrival to T of the run's last completed batch, as it stood at the first
    /// request.
    span_before: Option<Micros>,
    /// The time that a request usually takes from each stage on, in milliseconds, as it stood at the first request.
    usual_left_ms: Arc<[u32]>,
    earliest_end: Option<Micros>,
    /// The time at which the last request to end so far ended.
    last_end: Option<Micros>,
    /// The time at which this scheduler heard of it.
    heard: Micros,
    /// The time of its last event.
    touched: Micros,
    estimate: Option<Micros>,
    told: Option<Micros>,
}

/// The requests at a stage: their number, and the latest time at which one could have arrived without
/// queueing.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    live: usize,
    latest: Micros,
    /// Requests that ran this stage to its end, and their times together.
    ended: u32,
    ended_time: Micros,
}

impl Reached {
    fn ran(&mut self, ran: Micros) {
        self.ended += 1;
        self.ended_time = self.ended_time + ran;
    }

    fn view(&self) -> StageView {
        StageView {
            waiting: self.live,
            held: 0,
            running: Vec::new(),
            reached: self.latest,
            ended: self.ended,
            ended_time: self.ended_time,
        }
    }
}

/// The waiters of a batch: requests that wait for the outcome of another.
#[derive(Debug, Clone, Copy, Default)]
struct Waiters {
    live: usize,
    latest: Micros,
}

#[derive(Debug, Default)]
struct Group {
    submitted: u32,
    ended: u32,
    done: bool,
}

impl Batch {
    pub(crate) fn new(new: NewBatch, now: Micros) -> Self {
        let stages = vec![Reached::default(); new.stages.len()];
        let mut batch = Self {
            new,
            requests: SeqMap::default(),
            due: None,
            noted_last: false,
            sealed: false,
            size_told: None,
            submitted: SeqSet::default(),
            groups: BTreeMap::new(),
            stages,
            waiters: Waiters::default(),
            ended: Vec::new(),
            ran: Vec::new(),
            first_arrival: None,
            span_before: None,
            usual_left_ms: Arc::default(),
            earliest_end: None,
            last_end: None,
            heard: now,
            touched: now,
            estimate: None,
            told: None,
        };
        batch.sealed = batch.is_full();
        batch
    }

    pub(crate) fn is_done(&self) -> bool {
        self.sealed && self.requests.is_empty()
    }

    pub(crate) fn earliest_end(&self) -> Option<Micros> {
        self.earliest_end
    }

    /// The end of the batch if it is over at `now`: that of its last request. Unfinished requests end now, and a batch
    /// without requests does.
    pub(crate) fn end(&self, now: Micros) -> Micros {
        self.last_end.filter(|_| self.requests.is_empty()).unwrap_or(now)
    }

    pub(crate) fn estimate(&self) -> Option<Micros> {
        self.estimate
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner { tenant: self.new.tenant, run: Arc::clone(&self.new.run) }
    }

    /// When it is to be looked at next, to see whether it has expired.
    pub(crate) fn expires(&self, config: &Config) -> Option<Micros> {
        match self.first_arrival {
            _ if self.sealed => None,
            // While no scheduler was there, no request could come.
            None => Some(self.heard + config.announced_max),
            Some(_) => Some(self.touched + config.open_idle_max),
        }
    }

    /// Takes requests in. Returns those that have not ended. None arrived later than now, even if the clock that
    /// says so was set back since.
    pub(crate) fn submit(
        &mut self,
        requests: Vec<NewRequest>,
        now: Micros,
        out: &mut Vec<Action>,
    ) -> Vec<u32> {
        let mut unfinished = Vec::with_capacity(requests.len());
        for mut request in requests {
            if !self.submitted.insert(request.seq) {
                continue;
            }
            request.arrived = request.arrived.min(now);
            let first = self.first_arrival.unwrap_or(Micros::MAX);
            self.first_arrival = Some(first.min(request.arrived));
            self.touched = now;
            if let Some(group) = request.group {
                self.groups.entry(group).or_default().submitted += 1;
            }
            match &request.progress {
                Progress::Waiting { stage, ran } => {
                    self.admit(&request, *stage, ran, now);
                    unfinished.push(request.seq);
                }
                Progress::WaitsFor { primary } => {
                    self.admit_waiter(&request, *primary);
                    unfinished.push(request.seq);
                }
                Progress::Finished { earliest_end, ended, ran, ending } => {
                    self.count_ran(ran);
                    self.keep(request.arrived, ran.iter().copied(), *ending);
                    self.last_end = self.last_end.max(Some((*ended).min(now)));
                    self.count_end(request.group, (*earliest_end).min(now), out);
                }
            }
        }
        if self.is_full() {
            self.seal(out);
        }
        unfinished
    }

    fn admit(&mut self, new: &NewRequest, stage: usize, ran: &[Micros], now: Micros) {
        let stage = stage.min(self.stages.len() - 1);
        let ready = if stage == 0 { new.arrived } else { now };
        let mut before = ran.to_vec();
        // A time that nobody kept counts as none.
        before.resize(stage, Micros::ZERO);
        self.count_ran(&before);
        let mut request = Request::new(new.group, new.arrived, ready, before);
        request.expect(new.expected_ms);
        self.reach(stage, request.earliest_end());
        self.requests.insert(new.seq, request);
    }

    fn admit_waiter(&mut self, new: &NewRequest, primary: RequestId) {
        let mut request = Request::new(new.group, new.arrived, new.arrived, Vec::new());
        request.expect(new.expected_ms);
        request.set_primary(Some(primary));
        self.waiters.live += 1;
        self.waiters.latest = self.waiters.latest.max(new.arrived);
        self.requests.insert(new.seq, request);
    }

    /// Makes a waiter wait for a worker from now on.
    pub(crate) fn release(&mut self, seq: u32) {
        let request = self.request(seq);
        request.set_primary(None);
        let at = request.earliest_end();
        self.waiters.live -= 1;
        self.reach(0, at);
    }

    /// A request came that is through with these stages.
    fn count_ran(&mut self, ran: &[Micros]) {
        self.stages.iter_mut().zip(ran).for_each(|(stage, ran)| stage.ran(*ran));
    }

    fn reach(&mut self, stage: usize, at: Micros) {
        let reached = &mut self.stages[stage];
        reached.live += 1;
        reached.latest = reached.latest.max(at);
    }

    /// No more requests are expected. A group whose size nobody told is complete with those that
    /// were submitted.
    pub(crate) fn seal(&mut self, out: &mut Vec<Action>) {
        if self.sealed {
            return;
        }
        self.sealed = true;
        for (number, group) in &mut self.groups {
            if !group.done && group.ended == group.submitted {
                group.done = true;
                out.push(Action::GroupDone { batch: self.new.id, group: *number });
            }
        }
    }

    /// The request goes on to its next stage.
    pub(crate) fn advance(&mut self, seq: u32, timing: StageTiming, now: Micros) {
        let request = self.requests.get_mut(seq).expect("a live lease's request is unfinished");
        self.stages[request.stage()].live -= 1;
        self.stages[request.stage()].ran(timing.ran);
        request.advance(timing, now);
        let (stage, at) = (request.stage(), request.earliest_end());
        self.reach(stage, at);
        self.touched = now;
    }

    /// The request ends; `timing` is of its last stage, where that ran to an end. Returns its
    /// group, of which one less is left now.
    pub(crate) fn finish(
        &mut self,
        seq: u32,
        end: FinalEnd,
        timing: Option<StageTiming>,
        now: Micros,
        out: &mut Vec<Action>,
    ) -> Option<u32> {
        let request = self.requests.remove(seq).expect("a request ends once");
        let stage = &mut self.stages[request.stage()];
        stage.live -= 1;
        if let Some(timing) = timing {
            stage.ran(timing.ran);
        }
        let ran = timing.map_or(Micros::ZERO, |timing| timing.ran);
        let earliest_end = request.earliest_end() + ran;
        self.keep(request.arrived, request.times().chain(timing.map(|_| ran)), end.ending());
        let group = request.group;
        self.ended(group, request.into_finish(self.id(seq), end, timing, earliest_end), now, out)
    }

    /// A waiter ends with its primary, which could have ended at `primary_end`. Returns its group.
    pub(crate) fn finish_waiter(
        &mut self,
        seq: u32,
        end: FinalEnd,
        primary_end: Micros,
        now: Micros,
        out: &mut Vec<Action>,
    ) -> Option<u32> {
        let request = self.requests.remove(seq).expect("a request ends once");
        self.waiters.live -= 1;
        let earliest_end = request.arrived.max(primary_end);
        self.keep(request.arrived, request.times(), end.ending());
        let group = request.group;
        self.ended(group, request.into_finish(self.id(seq), end, None, earliest_end), now, out)
    }

    fn ended(
        &mut self,
        group: Option<u32>,
        finish: Finish,
        now: Micros,
        out: &mut Vec<Action>,
    ) -> Option<u32> {
        self.touched = now;
        self.last_end = Some(now);
        let earliest_end = finish.earliest_end;
        out.push(Action::Finish(finish));
        self.count_end(group, earliest_end, out);
        group
    }

    fn id(&self, seq: u32) -> RequestId {
        RequestId { batch: self.new.id, seq }
    }

    /// Keeps what the planner learns of an ended request.
    fn keep(&mut self, arrived: Micros, ran: impl Iterator<Item = Micros>, ending: Ending) {
        let end = self.ran.len() + self.stages.len();
        // A stage that ran took time, however little: zero says that it was not reached.
        self.ran.extend(ran.take(self.stages.len()).map(|ran| ran.max(Micros(1))));
        self.ran.resize(end, Micros::ZERO);
        self.ended.push(ProfileRequest { arrived, ending });
    }

    /// The profile of the whole batch for the planner; `None` if no request came.
    pub(crate) fn into_profile(self, ended: Micros) -> Option<Arc<Profile>> {
        let (first_arrival, earliest_end) = (self.first_arrival?, self.earliest_end?);
        let offset = |request: ProfileRequest| ProfileRequest {
            arrived: request.arrived.since(first_arrival),
            ..request
        };
        Some(Arc::new(Profile {
            batch: self.new.id,
            tenant: self.new.tenant,
            run: self.new.run,
            plugin: self.new.plugin,
            stages: self.new.stages,
            announced: self.new.announced,
            first_arrival,
            earliest_end,
            ended,
            requests: self.ended.into_iter().map(offset).collect(),
            ran: self.ran,
        }))
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.sealed
    }

    /// The pool of the last of several stages, if requests wait for that stage or run it.
    pub(crate) fn last_stage_pool(&self) -> Option<&Arc<str>> {
        let reached = self.stages.last().filter(|_| self.stages.len() > 1)?;
        let last = self.new.stages.last()?;
        (reached.live > 0).then_some(&last.pool)
    }

    /// The worker that runs a request's stage, the first one if two do.
    pub(crate) fn holder(&self, seq: u32) -> Option<WorkerId> {
        self.requests.get(seq)?.holder
    }

    /// When the request would have been ready for its stage, had it never queued.
    pub(crate) fn could_be_ready(&self, seq: u32) -> Micros {
        self.requests.get(seq).map_or(Micros::ZERO, Request::earliest_end)
    }

    /// Leased and held requests are counted as waiting.
    pub(crate) fn view(&self) -> BatchView {
        BatchView {
            id: self.new.id,
            tenant: self.new.tenant,
            run: Arc::clone(&self.new.run),
            plugin: self.new.plugin,
            stages: Arc::clone(&self.new.stages),
            tolerance: self.new.tolerance,
            consumes: self.new.consumes,
            announced: self.new.announced,
            first_arrival: self.first_arrival,
            submitted: self.submitted.len(),
            expected_size: self.size_known(),
            sealed: self.sealed,
            earliest_end: self.earliest_end,
            rank: self.estimate,
            at_stage: self.stages.iter().map(|reached| reached.view()).collect(),
            waiters: self.waiters.live,
        }
    }

    /// So many rollouts still run; says whether that changes the number of requests that are to come. The batch is
    /// complete with the announced number all the same.
    pub(crate) fn tell_outstanding(&mut self, outstanding: u32, now: Micros) -> bool {
        self.touched = now;
        let known = self.size_known();
        self.size_told = Some(self.submitted.len().saturating_add(outstanding));
        self.size_known() != known
    }

    fn size_known(&self) -> Option<u32> {
        self.size_told.or(self.new.expected_size)
    }

    pub(crate) fn has_requests(&self) -> bool {
        self.first_arrival.is_some()
    }

    fn count_end(&mut self, group: Option<u32>, earliest_end: Micros, out: &mut Vec<Action>) {
        self.earliest_end = self.earliest_end.max(Some(earliest_end));
        let Some(number) = group else { return };
        let size = self.new.group_size;
        let group = self.groups.get_mut(&number).expect("a group is counted when submitted");
        group.ended += 1;
        let complete = size.is_some_and(|size| group.ended >= size)
            || (self.sealed && group.ended == group.submitted);
        if complete && !group.done {
            group.done = true;
            out.push(Action::GroupDone { batch: self.new.id, group: number });
        }
    }

    /// How many requests have not ended of a group; of one whose size nobody told, how many of
    /// those that were submitted. A further request of a complete group completes nothing more.
    pub(crate) fn left(&self, group: Option<u32>) -> u32 {
        let Some(number) = group else { return 1 };
        let group = self.groups.get(&number).expect("a group is counted when submitted");
        if group.done {
            return u32::MAX;
        }
        self.new.group_size.unwrap_or(group.submitted).saturating_sub(group.ended)
    }

    fn is_full(&self) -> bool {
        self.new.expected_size.is_some_and(|size| self.submitted.len() >= size)
    }

    pub(crate) fn request(&mut self, seq: u32) -> &mut Request {
        self.requests.get_mut(seq).expect("what waits or is leased is unfinished")
    }
}
