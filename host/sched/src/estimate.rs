//! Estimates from history: the run time of a stage, and the duration of a run's batches.
//!
//! Owned by the scheduler; bounded: the entries not used for longest make room for new ones. It
//! decides the order of service and nothing else, so a lost entry costs no correctness.

use std::sync::Arc;

use assay_core::id::{Digest, TenantId};
use assay_core::time::Micros;

use crate::lru_map::LruMap;
use crate::profile::Profile;
use crate::slowness::{UsualTime, UsualTimes};
use crate::stage::StageShape;

/// Plugins whose service times are kept, and runs whose last batch is.
const ENTRIES_MAX: usize = 4_096;

/// A stage that was never seen to run is expected to take its timeout, but no more than this.
const UNSEEN_MAX: Micros = Micros::from_secs(1);

/// Each observation weighs one part in this many.
const DECAY: u64 = 8;

/// A decaying mean of service times, kept `DECAY` times too large to round well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mean(u64);

impl Mean {
    pub(crate) fn first(ran: Micros) -> Self {
        Self(ran.0.saturating_mul(DECAY))
    }

    pub(crate) fn observe(&mut self, ran: Micros) {
        self.0 = (self.0 - self.0 / DECAY).saturating_add(ran.0);
    }

    pub(crate) fn value(self) -> Micros {
        Micros(self.0 / DECAY)
    }
}

type RunKey = (TenantId, Arc<str>);

#[derive(Debug)]
pub(crate) struct Estimates {
    plugins: LruMap<Digest, Vec<Option<Mean>>>,
    usual: LruMap<Digest, Vec<UsualTimes>>,
    last_batches: LruMap<RunKey, LastBatch>,
}

/// The span of a run's last completed batch, and the times of its requests.
#[derive(Debug, Default)]
pub(crate) struct LastBatch {
    /// The time from its first arrival to T.
    pub(crate) span: Micros,
    /// See [`left_ms`].
    pub(crate) left_ms: Arc<[u32]>,
}

/// The mean time that a request which reaches a stage takes from there on, in milliseconds; from the number of requests
/// that ended each stage and the sum of their times.
pub(crate) fn left_ms(ended: &[(u32, Micros)]) -> Arc<[u32]> {
    let left = ended.iter().enumerate().map(|(stage, (count, _))| {
        let times = ended[stage..].iter().map(|(_, time)| time.0 / 1_000);
        let mean = times.sum::<u64>().checked_div(u64::from(*count)).unwrap_or(0);
        u32::try_from(mean).unwrap_or(u32::MAX)
    });
    left.collect()
}

impl Estimates {
    pub(crate) fn new() -> Self {
        Self {
            plugins: LruMap::new(ENTRIES_MAX),
            usual: LruMap::new(ENTRIES_MAX),
            last_batches: LruMap::new(ENTRIES_MAX),
        }
    }

    /// A batch of this plugin is about to come.
    pub(crate) fn plugin_used(&mut self, plugin: Digest, stages: usize) {
        self.plugins.entry(plugin, || vec![None; stages]);
        self.usual.entry(plugin, || vec![UsualTimes::default(); stages]);
    }

    /// `ran` is the worker's word: it counts up to the stage's timeout.
    pub(crate) fn stage_ran(
        &mut self,
        plugin: Digest,
        stage: usize,
        shape: &StageShape,
        ran: Micros,
    ) {
        let ran = ran.min(shape.timeout);
        if let Some(usual) = self.usual.get_mut(&plugin).and_then(|stages| stages.get_mut(stage)) {
            usual.observe(ran);
        }
        let means = self.plugins.get_mut(&plugin);
        match means.and_then(|means| means.get_mut(stage)) {
            Some(Some(mean)) => mean.observe(ran),
            Some(unseen) => *unseen = Some(Mean::first(ran)),
            None => {}
        }
    }

    /// A run of a stage ended without a failure.
    pub(crate) fn note_end(&mut self, plugin: &Digest, stage: usize, now: Micros) {
        if let Some(usual) = self.usual.get_mut(plugin).and_then(|stages| stages.get_mut(stage)) {
            usual.note_end(now);
        }
    }

    /// The last time that a run of a stage ended without a failure; `None` where none was seen.
    pub(crate) fn last_end(&self, plugin: &Digest, stage: usize) -> Option<Micros> {
        self.usual.get(plugin)?.get(stage)?.last_end()
    }

    /// Service times of a plugin's stages; empty or `None` where nothing was seen yet.
    pub(crate) fn stages(&self, plugin: &Digest) -> &[Option<Mean>] {
        self.plugins.get(plugin).map_or(&[], Vec::as_slice)
    }

    /// The time that a stage usually takes; `None` where too little was seen.
    pub(crate) fn usual(&self, plugin: &Digest, stage: usize) -> Option<UsualTime> {
        self.usual.get(plugin)?.get(stage)?.usual()
    }

    pub(crate) fn batch_completed(&mut self, tenant: TenantId, run: Arc<str>, last: LastBatch) {
        let known = self.last_batches.entry((tenant, run), LastBatch::default);
        *known = last;
    }

    /// Knows the batch as if it had run here: each stage's mean counts as one observation.
    pub(crate) fn history_read(&mut self, profile: &Profile) {
        self.plugin_used(profile.plugin, profile.stages.len());
        let mut ended = Vec::with_capacity(profile.stages.len());
        for (stage, shape) in profile.stages.iter().enumerate() {
            let (count, time) = profile.reached(stage);
            ended.push((count, time));
            if let Some(mean) = time.0.checked_div(count.into()) {
                self.stage_ran(profile.plugin, stage, shape, Micros(mean));
            }
        }
        let span = profile.earliest_end.since(profile.first_arrival);
        let last = LastBatch { span, left_ms: left_ms(&ended) };
        self.batch_completed(profile.tenant, Arc::clone(&profile.run), last);
    }

    pub(crate) fn last_batch(&self, tenant: TenantId, run: &Arc<str>) -> Option<&LastBatch> {
        self.last_batches.get(&(tenant, Arc::clone(run)))
    }

    /// The time that a request of the plugin is expected to take from each stage on, where its run has no batch to go by.
    pub(crate) fn usual_left_ms(&self, plugin: &Digest, stages: &[StageShape]) -> Arc<[u32]> {
        let means = self.stages(plugin);
        let mean = |stage: usize| means.get(stage).copied().flatten();
        let ended = stages.iter().enumerate().map(|(at, shape)| (1, expected(mean(at), shape)));
        left_ms(&ended.collect::<Vec<_>>())
    }
}

/// How long a stage is expected to run.
pub(crate) fn expected(mean: Option<Mean>, shape: &StageShape) -> Micros {
    mean.map_or_else(|| shape.timeout.min(UNSEEN_MAX), Mean::value)
}

#[cfg(test)]
mod tests {
    use assay_core::id::BatchId;

    use super::*;
    use crate::config::Config;
    use crate::discipline::Consumes;
    use crate::event::{Event, NewBatch, NewRequest, Progress};
    use crate::profile::{Ending, ProfileRequest};
    use crate::sched::Sched;

    const SHAPE_TIMEOUT: Micros = Micros::from_secs(5);

    fn shape() -> StageShape {
        StageShape { pool: "cpu".into(), timeout: SHAPE_TIMEOUT, retries_max: 0 }
    }

    fn seen(observations: &[u64]) -> Micros {
        let plugin = Digest([7; 32]);
        let mut estimates = Estimates::new();
        estimates.plugin_used(plugin, 1);
        for ran in observations {
            estimates.stage_ran(plugin, 0, &shape(), Micros(*ran));
        }
        expected(estimates.stages(&plugin)[0], &shape())
    }

    #[test]
    fn the_mean_follows_what_ran() {
        assert_eq!(seen(&[]), Micros::from_secs(1));
        assert_eq!(seen(&[100]), Micros(100));
        assert_eq!(seen(&[100, 900]), Micros(200));
        assert_eq!(seen(&[3; 100]), Micros(3));
        assert_eq!(seen(&[u64::MAX; 9]), SHAPE_TIMEOUT);
        let settled = seen(&[&[100][..], &[900; 64][..]].concat());
        assert!((895..=900).contains(&settled.0), "{settled:?}");
    }

    #[test]
    fn history_ranks_the_next_batch_of_its_run() {
        let stages: Arc<[StageShape]> = vec![shape(); 2].into();
        let id = |number| BatchId(uuid::Uuid::from_u128(number));
        let (tenant, plugin) = (TenantId(uuid::Uuid::nil()), Digest([7; 32]));
        let profile = Profile {
            batch: id(1),
            tenant,
            run: "r".into(),
            plugin,
            stages: Arc::clone(&stages),
            announced: Micros(100),
            first_arrival: Micros(200),
            earliest_end: Micros(900),
            ended: Micros(950),
            requests: vec![
                ProfileRequest { arrived: Micros(0), ending: Ending::Scored },
                ProfileRequest { arrived: Micros(5), ending: Ending::Scored },
            ],
            ran: vec![Micros(20), Micros(0), Micros(40), Micros(7)],
        };
        let mut sched = Sched::new(Config::default());
        let at = Micros(10_000);
        assert_eq!(sched.step(at, Event::HistoryRead(Arc::new(profile))), []);
        assert_eq!(sched.estimates.stages(&plugin)[0].map(Mean::value), Some(Micros(30)));
        assert_eq!(sched.estimates.stages(&plugin)[1].map(Mean::value), Some(Micros(7)));
        let announced = NewBatch {
            id: id(2),
            tenant,
            run: "r".into(),
            plugin,
            stages,
            expected_size: None,
            group_size: None,
            tolerance: None,
            consumes: Consumes::Batch,
            hedged: true,
            announced: at,
        };
        let _ = sched.step(at, Event::BatchAnnounced(announced));
        let progress = Progress::Waiting { stage: 0, ran: Vec::new() };
        let requests = vec![NewRequest {
            seq: 0,
            group: None,
            arrived: at,
            deadline: None,
            expected_ms: None,
            progress,
        }];
        let _ = sched.step(at, Event::RequestsSubmitted { batch: id(2), requests });
        assert_eq!(sched.estimated_done(id(2)), Some(at + Micros(700)));
    }
}
