//! Scenarios as text: what is configured, learned and seen, and after each `plan` what it says.
//!
//! ```text
//! # Why it has to come out so.
//! mode assay tolerance=2s period=10s patience=60s discipline=fcfs forecasts=yes   anew, with what was learned
//! pool gpu max=100 min=0 cost=1 startup=30s                       before the first plan
//! plugin P cpu:120s gpu:60s                                       its stages, with their timeouts
//! learn r P 64 every=2s ran=48s,4s lead=100s                      a completed batch of run r
//! learn r P 64 every=2s ran=48s,4s odd=30s,0s                     every second one ran so
//! live A r P announced=100s first=90s submitted=32 size=64 tolerance=2s   times ago
//! live A r P submitted=32 sealed consumes=groups
//! at A 1 waiting=5 held=2 running=3x2s,1x7s ended=20x4s           its requests at a stage
//! has gpu workers=8 idle=5 starting=2x10s unplaced=1x60s startup=20s tenants-max=6
//! later 10s                                                       time passes
//! gone A
//! plan
//!   -> gpu hold=3 ceiling=8 zero-queue=9: needed
//!   -> again in 10s
//! ```

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;

use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;
use assay_planner::{
    LateReason, Plan, PlanConfig, Planner, Policy, PoolConfig, PoolReport, Reason,
};
use assay_sched::{
    BatchView, Consumes, Discipline, Ending, PoolView, Profile, ProfileRequest, RunningView,
    SchedView, StageShape, StageView,
};
use uuid::Uuid;

/// Late enough that whatever is seen can have come before it.
const START: Micros = Micros::from_secs(1_000_000);

/// Plays the scenario and compares it, its plans filled in, with itself.
#[track_caller]
pub(crate) fn check(scenario: &str) {
    let mut player = Player::new();
    let mut played = String::new();
    for line in scenario.lines().filter(|line| !line.starts_with("  ->")) {
        played += &format!("{line}\n");
        for said in player.play(line) {
            played += &format!("  -> {said}\n");
        }
    }
    assert!(played == scenario, "the scenario plays as\n\n{played}\n");
}

struct Player {
    now: Micros,
    config: PlanConfig,
    /// Made by the first plan after a `mode`.
    planner: Option<Planner>,
    learned: Vec<Arc<Profile>>,
    plugins: BTreeMap<String, Arc<[StageShape]>>,
    seen: SchedView,
}

impl Player {
    fn new() -> Self {
        Self {
            now: START,
            config: PlanConfig::new(Policy::ASSAY, BTreeMap::new()),
            planner: None,
            learned: Vec::new(),
            plugins: BTreeMap::new(),
            seen: SchedView::default(),
        }
    }

    fn play(&mut self, line: &str) -> Vec<String> {
        let words = Words::of(line);
        match words.plain.first() {
            None | Some(&"#") => {}
            Some(&"mode") => self.policy(&words),
            Some(&"pool") => self.pool(&words),
            Some(&"plugin") => self.plugin(&words),
            Some(&"learn") => self.learn(&words),
            Some(&"live") => self.live(&words),
            Some(&"at") => self.at(&words),
            Some(&"has") => self.has(&words),
            Some(&"later") => self.now = self.now + span(words.plain[1]),
            Some(&"gone") => {
                let id = batch(words.plain[1]);
                self.seen.batches.retain(|batch| batch.id != id);
            }
            Some(&"plan") => return self.plan(),
            Some(other) => panic!("what is {other}?"),
        }
        Vec::new()
    }

    fn policy(&mut self, words: &Words) {
        let name = words.plain[1];
        let policy = Policy::named(name).unwrap_or_else(|| panic!("no policy is called {name}"));
        let pools = std::mem::take(&mut self.config.pools);
        let defaults = PlanConfig::new(policy, pools);
        self.config = PlanConfig {
            tolerance: words.span("tolerance").unwrap_or(defaults.tolerance),
            period: words.span("period").unwrap_or(defaults.period),
            patience: words.span("patience").unwrap_or(defaults.patience),
            discipline: words.get("discipline").map_or(Discipline::EBF, |name| {
                Discipline::named(name).expect("a name of the table")
            }),
            forecasts: words.get("forecasts") == Some("yes"),
            ..defaults
        };
        self.planner = None;
    }

    fn pool(&mut self, words: &Words) {
        assert!(self.planner.is_none(), "pools come before the first plan");
        let pool = PoolConfig {
            min: words.number("min").unwrap_or(0),
            max: words.number("max").expect("a pool has a maximum"),
            cost: words.number("cost").unwrap_or(1.0),
            startup: words.span("startup").unwrap_or(Micros::from_secs(30)),
            linger: Micros::ZERO,
        };
        self.config.pools.insert(words.plain[1].into(), pool);
    }

    fn plugin(&mut self, words: &Words) {
        let stage = |text: &&str| {
            let (pool, timeout) = text.split_once(':').expect("pool:timeout");
            StageShape { pool: pool.into(), timeout: span(timeout), retries_max: 0 }
        };
        let stages = words.plain[2..].iter().map(stage).collect();
        self.plugins.insert(words.plain[1].into(), stages);
    }

    fn learn(&mut self, words: &Words) {
        let count: usize = number(words.plain[3]);
        let every = words.span("every").expect("how far apart they arrive");
        let stages = |ran: &str| -> Vec<Micros> { ran.split(',').map(span).collect() };
        let ran = stages(words.get("ran").expect("how long the stages ran"));
        let odd = words.get("odd").map_or_else(|| ran.clone(), stages);
        let arrived = |nth: usize| Micros(every.0 * nth as u64);
        let requests = (0..count)
            .map(|nth| ProfileRequest { arrived: arrived(nth), ending: Ending::Scored })
            .collect();
        let first_arrival = words.span("lead").unwrap_or_default();
        let earliest_end =
            ran.iter().fold(first_arrival + arrived(count - 1), |end, ran| end + *ran);
        let profile = Arc::new(Profile {
            batch: BatchId(Uuid::nil()),
            tenant: tenant(),
            run: words.plain[1].into(),
            plugin: digest(words.plain[2]),
            stages: Arc::clone(&self.plugins[words.plain[2]]),
            announced: Micros::ZERO,
            first_arrival,
            earliest_end,
            ended: earliest_end,
            requests,
            ran: [&ran[..], &odd[..]].into_iter().cycle().take(count).flatten().copied().collect(),
        });
        if let Some(planner) = &mut self.planner {
            planner.learn(Arc::clone(&profile));
        }
        self.learned.push(profile);
    }

    /// In place of what was seen of it before, if anything.
    fn live(&mut self, words: &Words) {
        let id = batch(words.plain[1]);
        let stages = Arc::clone(&self.plugins[words.plain[3]]);
        let first = words.span("first");
        let seen = BatchView {
            id,
            tenant: tenant(),
            run: words.plain[2].into(),
            plugin: digest(words.plain[3]),
            tolerance: words.span("tolerance"),
            consumes: consumes(words.get("consumes")),
            announced: self.now - words.span("announced").or(first).unwrap_or_default(),
            first_arrival: first.map(|first| self.now - first),
            submitted: words.number("submitted").unwrap_or(0),
            expected_size: words.number("size"),
            sealed: words.plain.contains(&"sealed"),
            earliest_end: None,
            rank: None,
            at_stage: vec![StageView::default(); stages.len()],
            waiters: 0,
            stages,
        };
        self.seen.batches.retain(|batch| batch.id != id);
        self.seen.batches.push(seen);
        self.seen.batches.sort_by_key(|batch| batch.id);
    }

    fn at(&mut self, words: &Words) {
        let id = batch(words.plain[1]);
        let seen = self.seen.batches.iter_mut().find(|batch| batch.id == id);
        let seen = seen.expect("only what is live has requests");
        let (ended, each) = words.get("ended").map_or((0, Micros::ZERO), times);
        let running = |elapsed| RunningView { elapsed, queued: Micros::ZERO };
        seen.at_stage[number::<usize>(words.plain[2])] = StageView {
            waiting: words.number("waiting").unwrap_or(0),
            held: words.number("held").unwrap_or(0),
            running: words.spans("running").into_iter().map(running).collect(),
            reached: self.now,
            ended,
            ended_time: Micros(each.0 * u64::from(ended)),
        };
    }

    fn has(&mut self, words: &Words) {
        let seen = PoolView {
            workers: words.number("workers").unwrap_or(0),
            idle: words.number("idle").unwrap_or(0),
            starting: words.spans("starting"),
            unplaced: words.spans("unplaced"),
            startup: words.span("startup"),
            workers_max: words.number("tenants-max"),
            ..PoolView::default()
        };
        self.seen.pools.insert(words.plain[1].into(), seen);
    }

    fn plan(&mut self) -> Vec<String> {
        let planner = self.planner.get_or_insert_with(|| {
            let mut planner = Planner::new(self.config.clone());
            self.learned.iter().for_each(|profile| planner.learn(Arc::clone(profile)));
            planner
        });
        let plan = planner.plan(self.now, &self.seen);
        self.show(&plan)
    }

    fn show(&self, plan: &Plan) -> Vec<String> {
        let carried = plan.pools.iter().map(|pool| (&pool.pool, pool.hold, pool.ceiling));
        let told = plan.report.pools.iter().map(|pool| (&pool.pool, pool.hold, pool.ceiling));
        assert!(carried.eq(told), "the report tells another plan: {plan:?}");
        let mut said: Vec<String> =
            plan.report.pools.iter().map(|pool| self.show_pool(pool)).collect();
        if let Some(again) = plan.again {
            said.push(format!("again in {}", seconds(again - self.now)));
        }
        said
    }

    fn show_pool(&self, report: &PoolReport) -> String {
        let PoolReport { pool, hold, ceiling, zero_queue, reason } = report;
        let reason = match reason {
            Reason::Idle => "idle".into(),
            Reason::Held => "held".into(),
            Reason::Policy => "the mode".into(),
            Reason::Minimum => "the minimum".into(),
            Reason::Maximum { wanted } => format!("the maximum, {wanted} wanted"),
            Reason::Unknown => "unknown".into(),
            Reason::Needed => "needed".into(),
            Reason::Bound(bound) => {
                let batch = name(bound.batch);
                let (ready, start) = (self.relative(bound.ready), self.relative(bound.start));
                let because = match bound.because {
                    LateReason::Late { end, by } => {
                        format!("ends {} not {}", self.relative(end), self.relative(by))
                    }
                    LateReason::MayTimeOut { latest, by } => {
                        format!("may end {} not {}", self.relative(latest), self.relative(by))
                    }
                    LateReason::Waits { mean, max } => {
                        format!("waits {} of {}", seconds(mean), seconds(max))
                    }
                    LateReason::Risk { expected, budget } => {
                        format!("risks {} of {}", seconds(expected), seconds(budget))
                    }
                };
                format!("{batch} at {} ready {ready} starts {start} {because}", bound.stage)
            }
        };
        format!("{pool} hold={hold} ceiling={ceiling} zero-queue={zero_queue}: {reason}")
    }

    fn relative(&self, at: Micros) -> String {
        format!("+{}", seconds(at.since(self.now)))
    }
}

/// A line, its `key=value` words apart from the others.
struct Words<'a> {
    plain: Vec<&'a str>,
    keyed: BTreeMap<&'a str, &'a str>,
}

impl<'a> Words<'a> {
    fn of(line: &'a str) -> Self {
        let (keyed, plain): (Vec<&str>, Vec<&str>) =
            line.split_whitespace().partition(|word| word.contains('='));
        let keyed = keyed.into_iter().filter_map(|word| word.split_once('=')).collect();
        Self { plain, keyed }
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.keyed.get(key).copied()
    }

    fn number<N: FromStr>(&self, key: &str) -> Option<N> {
        self.get(key).map(number)
    }

    fn span(&self, key: &str) -> Option<Micros> {
        self.get(key).map(span)
    }

    /// `3x2s,1x7s`: three times two seconds, once seven.
    fn spans(&self, key: &str) -> Vec<Micros> {
        let parts = self.get(key).into_iter().flat_map(|spans| spans.split(','));
        parts
            .map(times)
            .flat_map(|(count, span)| std::iter::repeat_n(span, count as usize))
            .collect()
    }
}

fn consumes(text: Option<&str>) -> Consumes {
    match text {
        None => Consumes::Batch,
        Some("groups") => Consumes::Groups,
        Some(other) => panic!("what is {other}?"),
    }
}

fn number<N: FromStr>(text: &str) -> N {
    text.parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

fn span(text: &str) -> Micros {
    match text.strip_suffix("ms") {
        Some(ms) => Micros::from_ms(number(ms)),
        None => Micros::from_secs(number(text.strip_suffix('s').expect("seconds"))),
    }
}

fn times(text: &str) -> (u32, Micros) {
    let (count, each) = text.split_once('x').expect("how many times how long");
    (number(count), span(each))
}

/// To a tenth.
fn seconds(span: Micros) -> String {
    format!("{}s", (span.as_secs_f64() * 10.0).round() / 10.0)
}

fn tenant() -> TenantId {
    TenantId(Uuid::from_u128(1))
}

/// A plugin, by the first letter of its name.
fn digest(plugin: &str) -> Digest {
    Digest([plugin.as_bytes()[0]; 32])
}

/// A batch is called by one letter.
fn batch(name: &str) -> BatchId {
    BatchId(Uuid::from_u128(u128::from(name.as_bytes()[0])))
}

fn name(batch: BatchId) -> char {
    char::from(batch.0.as_u128() as u8)
}
