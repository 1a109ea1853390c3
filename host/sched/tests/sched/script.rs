//! Scenarios as text: a line an event, below it the actions that it must lead to.
//!
//! ```text
//! config discipline=fcfs         only before the first event; `wakes=shown` shows wake-ups,
//!                                `plans=shown` calls for a plan, not paused between
//! 0ms announce A stages=cpu:1s,gpu:2s:1 size=4 group=2 run=r plugin=1 announced=0ms tenant=1
//! 0ms join w1 cpu leases=4       `come` for a worker that nobody started
//! 1ms submit A 0 1 2 group=0 arrived=0ms stage=1 ran=2ms ended=9ms last=9ms deadline=8ms primary=B.0
//!                                `ended` is t_i of one that has ended, `last` its end if that is later
//!   -> grant w1 L1 A.0 stage 0 try 1
//! 3ms finish w1 scored 2ms       answers the worker's running lease
//! 3ms answer w1 L1 scored 2ms    answers any lease
//! 2ms loading w1 L1 | loaded w1 L1
//! 3ms deadline A.0 9ms
//! 3ms waiter A.1 scored 5ms    ends with its primary, which could have ended then
//! 3ms release A.1 A.2 A.3        runs; the others wait for it
//! 4ms seal A | cancel A | drain w1 | lose w1 | tick
//! 5ms plan cpu hold=2 ceiling=5 linger=0ms again=10s
//! 6ms start-failed cpu | outdated
//! 6ms hold 1 | hold 1 all | unhold 1  the first stages of tenant 1, or all but the last
//! 7ms entitlement 1 weight=0.5 cpu=2 runs=shared  bounds by pool; what is not said is the default
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_core::id::{BatchId, Digest, LeaseId, RequestId, TenantId, WorkerId};
use assay_core::outcome::ErrorCode;
use assay_core::time::Micros;
use assay_sched::{
    Action, BatchEnding, Config, Consumes, Discipline, End, Ending, Entitlement, Event, FinalEnd,
    HeldStages, KillReason, NewBatch, NewRequest, PoolPlan, Progress, Released, Sched, SharedEnd,
    StageShape, StageTiming, WaiterEnd, Weight,
};
use uuid::Uuid;

/// Runs the script and compares it, its actions filled in, with itself.
#[track_caller]
pub(crate) fn check(script: &str) {
    let wanted: Vec<&str> =
        script.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let indent = wanted.iter().map(|line| line.len() - line.trim_start().len()).min();
    let wanted: Vec<&str> = wanted.iter().map(|line| &line[indent.unwrap_or(0)..]).collect();
    let events = wanted.iter().filter(|line| !line.starts_with("  ->"));
    let mut player = Player::default();
    let mut played = Vec::new();
    for line in events {
        played.push((*line).to_owned());
        played.extend(player.play(line).iter().map(|action| format!("  -> {action}")));
    }
    assert!(played == wanted, "the script plays as\n\n{}\n", played.join("\n"));
}

/// Plays lines of a script.
pub(crate) struct Player {
    config: Config,
    sched: Option<Sched>,
    wakes_shown: bool,
    plans_shown: bool,
    plan_pause: Micros,
    leases: BTreeMap<WorkerId, Vec<LeaseId>>,
}

impl Default for Player {
    /// Nothing is hedged without a setting, which would add a wake-up to each long stage.
    fn default() -> Self {
        Self {
            config: Config { hedge_after: None, ..Config::default() },
            sched: None,
            wakes_shown: false,
            plans_shown: false,
            plan_pause: Micros::ZERO,
            leases: BTreeMap::new(),
        }
    }
}

impl Player {
    pub(crate) fn sched(&mut self) -> &mut Sched {
        // Scripts are about small numbers: a worker is killed a second after its stage's timeout.
        let config = Config {
            plan_pause: self.plan_pause,
            lease_factor: 1,
            lease_grace: Micros::from_secs(1),
            ..self.config.clone()
        };
        self.sched.get_or_insert_with(|| Sched::new(config))
    }

    pub(crate) fn play(&mut self, line: &str) -> Vec<String> {
        let words = Words::new(line);
        if words.plain[0] == "config" {
            self.configure(&words);
            return Vec::new();
        }
        let event = self.event(&words);
        let actions = self.sched().step(span(words.plain[0]), event);
        for action in &actions {
            self.note(action);
        }
        let shown = |action: &&Action| match action {
            Action::WakeAt(_) => self.wakes_shown,
            Action::PlanAnew => self.plans_shown,
            _ => true,
        };
        actions.iter().filter(shown).map(show).collect()
    }

    fn configure(&mut self, words: &Words) {
        let config = &mut self.config;
        for (key, value) in &words.named {
            match (*key, *value) {
                ("discipline", name) => {
                    config.discipline = Discipline::named(name).expect("a name of the table");
                }
                ("wakes", "shown") => self.wakes_shown = true,
                ("plans", "shown") => self.plans_shown = true,
                ("plan_pause", value) => self.plan_pause = span(value),
                ("hedge_after", value) => config.hedge_after = Some(span(value)),
                ("preempt_after", "never") => config.preempt_after = None,
                ("preempt_after", value) => config.preempt_after = Some(span(value)),
                ("lost_retries", value) => config.worker_lost_retries_max = number(value),
                ("leases_after", value) => config.leases_after = LeaseId(number(value)),
                ("announced_max", value) => config.announced_max = span(value),
                ("open_idle_max", value) => config.open_idle_max = span(value),
                other => panic!("unknown setting {other:?}"),
            }
        }
    }

    fn event(&mut self, words: &Words) -> Event {
        let now = span(words.plain[0]);
        let of = |at: usize| words.plain[at];
        match of(1) {
            "announce" => Event::BatchAnnounced(announced(words, now)),
            "submit" => submitted(words, now),
            "deadline" => Event::RequestDeadline { request: request(of(2)), deadline: span(of(3)) },
            "waiter" => {
                let end = match of(3) {
                    "timed_out" => SharedEnd::TimedOut { stage: 0 },
                    _ => SharedEnd::Scored,
                };
                let end = WaiterEnd { request: request(of(2)), end, earliest_end: span(of(4)) };
                Event::WaitersEnded { ended: vec![end] }
            }
            "release" => {
                let waiters = words.plain[3..].iter().map(|name| request(name)).collect();
                let released = Released { request: request(of(2)), waiters };
                Event::WaitersReleased { released: vec![released] }
            }
            "progress" => Event::BatchProgressed {
                batch: batch(of(2)),
                outstanding: number(words.get("outstanding").expect("progress says it")),
            },
            "seal" => Event::BatchSealed { batch: batch(of(2)) },
            "cancel" => Event::BatchCancelled { batch: batch(of(2)) },
            "join" => Event::WorkerJoined {
                worker: worker(of(2)),
                pool: of(3).into(),
                leases_max: words.get("leases").map_or(1, number),
            },
            "come" => Event::WorkerCame {
                worker: worker(of(2)),
                pool: of(3).into(),
                leases_max: words.get("leases").map_or(1, number),
            },
            "drain" => Event::WorkerDraining { worker: worker(of(2)) },
            "lose" => {
                self.leases.remove(&worker(of(2)));
                Event::WorkerLost { worker: worker(of(2)) }
            }
            "finish" => {
                let worker = worker(of(2));
                let leases =
                    self.leases.get_mut(&worker).expect("the worker was granted something");
                let (lease, end, ran) = (leases.remove(0), end(of(3)), span(of(4)));
                Event::StageFinished { worker, lease, end, ran }
            }
            "answer" => {
                let (worker, lease) = (worker(of(2)), lease(of(3)));
                self.leases.entry(worker).or_default().retain(|held| *held != lease);
                Event::StageFinished { worker, lease, end: end(of(4)), ran: span(of(5)) }
            }
            "started" => Event::StartedBeforeRevoked { worker: worker(of(2)), lease: lease(of(3)) },
            "loading" => Event::PluginLoading { worker: worker(of(2)), lease: lease(of(3)) },
            "loaded" => Event::PluginLoaded { worker: worker(of(2)), lease: lease(of(3)) },
            "plan" => planned(words, now),
            "start-failed" => Event::StartFailed { pool: of(2).into() },
            "unplaced" => {
                let count = of(3).parse().expect("a number of starts");
                Event::StartsUnplaced { pool: of(2).into(), count }
            }
            "outdated" => Event::PlanOutdated,
            "hold" => {
                let stages = match words.plain.get(3) {
                    None => HeldStages::First,
                    Some(&"all") => HeldStages::AllButLast,
                    Some(other) => panic!("which stages are `{other}`?"),
                };
                Event::StagesHeld { tenant: tenant(of(2)), stages }
            }
            "unhold" => Event::StagesReleased { tenant: tenant(of(2)) },
            "entitlement" => {
                Event::EntitlementChanged { tenant: tenant(of(2)), entitlement: entitlement(words) }
            }
            "tick" => Event::Tick,
            other => panic!("unknown event `{other}`"),
        }
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::Grant(grant) => self.leases.entry(grant.worker).or_default().push(grant.lease),
            Action::Revoke { worker, lease } => {
                self.leases.entry(*worker).or_default().retain(|held| held != lease);
            }
            Action::KillWorker { worker, reason: _ } | Action::PreemptWorker { worker } => {
                self.leases.remove(worker);
            }
            _ => {}
        }
    }
}

struct Words<'a> {
    plain: Vec<&'a str>,
    named: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn new(line: &'a str) -> Self {
        let named = line.split_whitespace().filter_map(|word| word.split_once('=')).collect();
        let plain = line.split_whitespace().filter(|word| !word.contains('=')).collect();
        Self { plain, named }
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.named.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }
}

fn announced(words: &Words, now: Micros) -> NewBatch {
    let stages = words.get("stages").unwrap_or("cpu:1s").split(',').map(|stage| {
        let mut parts = stage.split(':');
        let mut part = || parts.next();
        StageShape {
            pool: part().expect("a pool").into(),
            timeout: span(part().expect("a timeout")),
            retries_max: part().map_or(0, number),
        }
    });
    NewBatch {
        id: batch(words.plain[2]),
        tenant: tenant(words.get("tenant").unwrap_or("1")),
        run: words.get("run").unwrap_or(words.plain[2]).into(),
        plugin: Digest([words.get("plugin").map_or(1, number); 32]),
        stages: stages.collect(),
        expected_size: words.get("size").map(number),
        group_size: words.get("group").map(number),
        tolerance: None,
        consumes: consumes(words.get("consumes")),
        hedged: true,
        announced: words.get("announced").map_or(now, span),
    }
}

fn consumes(text: Option<&str>) -> Consumes {
    match text {
        None | Some("batch") => Consumes::Batch,
        Some("groups") => Consumes::Groups,
        Some(other) => panic!("`{other}` is neither `batch` nor `groups`"),
    }
}

fn submitted(words: &Words, now: Micros) -> Event {
    let ran = words.get("ran").map_or(Vec::new(), |ran| ran.split(',').map(span).collect());
    let progress = match (words.get("ended"), words.get("primary")) {
        (Some(at), _) => {
            let ended = words.get("last").map_or(span(at), span);
            Progress::Finished { earliest_end: span(at), ended, ran, ending: Ending::Scored }
        }
        (None, Some(primary)) => Progress::WaitsFor { primary: request(primary) },
        (None, None) => Progress::Waiting { stage: words.get("stage").map_or(0, number), ran },
    };
    let new = |seq: &&str| NewRequest {
        seq: number(seq),
        group: words.get("group").map(number),
        arrived: words.get("arrived").map_or(now, span),
        deadline: words.get("deadline").map(span),
        expected_ms: words.get("expected").map(|time| (span(time).0 / 1_000) as u32),
        progress: progress.clone(),
    };
    let requests = words.plain[3..].iter().map(new).collect();
    Event::RequestsSubmitted { batch: batch(words.plain[2]), requests }
}

fn planned(words: &Words, now: Micros) -> Event {
    let count = |name| number(words.get(name).expect("a plan says it"));
    let plan = |name: &&str| PoolPlan {
        pool: (*name).into(),
        hold: count("hold"),
        ceiling: count("ceiling"),
        linger: words.get("linger").map_or(Micros::ZERO, span),
    };
    let pools = words.plain[2..].iter().map(plan).collect();
    Event::Planned { pools, again: words.get("again").map(|after| now + span(after)) }
}

fn entitlement(words: &Words) -> Entitlement {
    let weight = words.get("weight").map_or(1.0, number);
    let bounds = words.named.iter().filter(|(key, _)| !["weight", "runs"].contains(key));
    Entitlement {
        weight: Weight::new(weight).expect("a weight"),
        workers_max: bounds.map(|(pool, max)| ((*pool).into(), number(max))).collect(),
        share_runs: words.get("runs") == Some("shared"),
    }
}

pub(crate) fn tenant(name: &str) -> TenantId {
    TenantId(Uuid::from_u128(number(name)))
}

/// `A` is 1, `B` is 2, ...
pub(crate) fn batch(name: &str) -> BatchId {
    BatchId(Uuid::from_u128(u128::from(name.as_bytes()[0] - b'A') + 1))
}

/// Such as `A.0`.
fn request(name: &str) -> RequestId {
    let (of, seq) = name.split_once('.').expect("a batch and a number");
    RequestId { batch: batch(of), seq: number(seq) }
}

fn name(batch: BatchId) -> char {
    char::from(b'A' + u8::try_from(batch.0.as_u128() - 1).expect("few batches"))
}

fn worker(name: &str) -> WorkerId {
    WorkerId(number(name.trim_start_matches('w')))
}

/// Such as `L1`.
fn lease(name: &str) -> LeaseId {
    LeaseId(number(name.trim_start_matches('L')))
}

fn end(name: &str) -> End {
    match name {
        "next" => End::Next,
        "scored" => End::Scored,
        "timed_out" => End::TimedOut,
        "no_room" => End::NoRoom,
        code => End::Failed(ErrorCode::parse(code).expect("an error code")),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}

fn span(text: &str) -> Micros {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "h" => 3_600_000_000,
        unit => panic!("unknown unit `{unit}`"),
    };
    Micros(number::<u64>(digits) * unit)
}

fn ms(at: Micros) -> String {
    format!("{}ms", at.as_ms_f64())
}

pub(crate) fn show(action: &Action) -> String {
    match action {
        Action::Grant(grant) => format!(
            "{} w{} L{} {}.{} stage {} try {}",
            if grant.hedge { "hedge" } else { "grant" },
            grant.worker.0,
            grant.lease.0,
            name(grant.request.batch),
            grant.request.seq,
            grant.stage,
            grant.attempt
        ),
        Action::Revoke { worker, lease } => format!("revoke w{} L{}", worker.0, lease.0),
        Action::KillWorker { worker, reason: KillReason::Stage } => format!("kill w{}", worker.0),
        Action::KillWorker { worker, reason: KillReason::Load } => {
            format!("kill w{}, which loads", worker.0)
        }
        Action::PreemptWorker { worker } => format!("preempt w{}", worker.0),
        Action::Advance { request, stage, time } => {
            assert_eq!(*stage, time.stage);
            format!("advance {}.{}{}", name(request.batch), request.seq, timing(time))
        }
        Action::Finish(finish) => {
            let mut text = format!("finish {}.{} ", name(finish.request.batch), finish.request.seq);
            text += &match finish.end {
                FinalEnd::Scored => "scored".into(),
                FinalEnd::TimedOut { stage } => format!("timed_out at {stage}"),
                FinalEnd::Error { code, attempts } => format!("{code} tries {attempts}"),
            };
            write!(text, " t={}", ms(finish.earliest_end)).expect("a string takes it");
            finish.stages.iter().fold(text, |text, stage| text + &timing(stage))
        }
        Action::GroupDone { batch, group } => format!("group {} {group} done", name(*batch)),
        Action::BatchDone(done) => {
            let ending = match done.ending {
                BatchEnding::Done => "done",
                BatchEnding::Cancelled => "cancelled",
                BatchEnding::Expired => "expired",
            };
            let earliest_end = done.earliest_end.map_or("none".into(), ms);
            format!("batch {} {ending} T={earliest_end} ended={}", name(done.batch), ms(done.ended))
        }
        Action::Estimate { batch, done_at } => {
            format!("estimate {} {}", name(*batch), ms(*done_at))
        }
        Action::StartWorkers { pool, count } => format!("start {pool} {count}"),
        Action::CancelStarts { pool, count } => format!("cancel starts {pool} {count}"),
        Action::StopWorker { worker } => format!("stop w{}", worker.0),
        Action::StopSlowWorker { worker } => format!("stop slow w{}", worker.0),
        Action::PlanAnew => "plan anew".into(),
        Action::WakeAt(at) => format!("wake {}", ms(*at)),
    }
}

fn timing(time: &StageTiming) -> String {
    let StageTiming { stage, queued, ran, attempts } = time;
    format!(" [{stage}: queued {} ran {} tries {attempts}]", ms(*queued), ms(*ran))
}
