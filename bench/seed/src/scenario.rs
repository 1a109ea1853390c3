//! Plausible batches: rewards that rise with the iterations, groups that are too easy or too hard,
//! long tails, a few errors and timeouts, and some batches with a large extra delay.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_api::batch::{BatchState, Consumes};
use assay_api::history::ProfileStage;
use assay_api::result::{Counts, ResultItem, StageTime};
use assay_core::id::{BatchId, Digest, RequestId, TenantId};
use assay_core::outcome::{Artifact, Outcome, Scored};
use assay_core::time::Micros;
use assay_wire::proto;
use prost::Message as _;
use uuid::Uuid;

use super::words::{ERRORS, PLUGINS, Random, SeededPlugin};
use assay_dispatch::batch_stats::BatchStats;
use assay_store::admissions::{Admission, Admitted, BatchMark, BatchRow, RequestRow};
use assay_store::history::HistoryRow;
use assay_store::outcomes::{ArtifactRow, EndRow, LogRow, OutcomeRow, Record, Recorded};
use assay_store::summaries::BatchSummaryRow;
use assay_store::usage::UsageRow;

const GROUP_SIZE: u32 = 16;
const MAX_EXTRA_DELAY_MS: u32 = 1_000;
/// The cost of a worker per second.
const COSTS: [(&str, f64); 2] = [("cpu", 1.0), ("gpu", 8.0)];

/// How much is made, and where it ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub batches: u32,
    pub size: u32,
    /// Batches of a run.
    pub run_batches: u32,
    /// Words of a response; 0 for a fixed sentence.
    pub words: u32,
    pub until: Micros,
    pub days: u32,
    pub seed: u64,
}

pub(super) struct PlannedRun {
    pub tenant: TenantId,
    pub name: String,
    pub plugin: &'static SeededPlugin,
    pub settings: String,
    pub began_at: Micros,
    pause: Micros,
    iterations: u32,
    words: u32,
    seed: u64,
}

/// The rows of one batch.
pub(super) struct SeededBatch {
    pub admitted: Vec<Admitted>,
    pub recorded: Vec<Recorded>,
}

/// One request from its arrival to its end.
struct Seeded {
    seq: u32,
    arrived_at: Micros,
    finished_at: Micros,
    earliest_end_at: Micros,
    times: Vec<StageTime>,
    outcome: Outcome,
}

impl Plan {
    /// The tenants with their batches: each has half of what those before it left, the last the
    /// rest.
    pub(super) fn shares(&self, tenants: &[String]) -> Vec<(String, u32)> {
        let mut left = self.batches;
        let shares = tenants.iter().enumerate().map(|(at, name)| {
            let own = if at + 1 == tenants.len() { left } else { left.div_ceil(2) };
            left -= own;
            (name.clone(), own)
        });
        shares.collect()
    }

    /// The runs of the tenant at this place, one after the other over the plan's days.
    pub(super) fn runs(&self, tenant: TenantId, at: usize, batches: u32) -> Vec<PlannedRun> {
        let count = batches.div_ceil(self.run_batches).max(1);
        let days = Micros::from_secs(u64::from(self.days) * 86_400);
        let each = Micros(days.0 / u64::from(count));
        let runs = (0..count).map(|number| {
            let iterations = batches / count + u32::from(number < batches % count);
            let plugin = &PLUGINS[(number as usize + at) % PLUGINS.len()];
            let seed = Random(self.seed ^ ((at as u64) << 48) ^ (u64::from(number) << 32)).next();
            PlannedRun {
                tenant,
                name: format!("{}-7b-{:02}", plugin.name, number + 1),
                plugin,
                settings: format!(r#"{{"learning_rate":{}e-6}}"#, 1 + seed % 5),
                began_at: self.until - days + Micros(each.0 * u64::from(number)),
                pause: Micros(each.0 / u64::from(iterations.max(1) + 1)),
                iterations,
                words: self.words,
                seed,
            }
        });
        runs.filter(|run| run.iterations > 0).collect()
    }

    pub(super) fn made<'a>(
        &'a self,
        runs: &'a [PlannedRun],
    ) -> impl Iterator<Item = SeededBatch> + 'a {
        let size = self.size;
        runs.iter().flat_map(move |run| {
            (0..run.iterations).map(move |iteration| run.batch(iteration, size))
        })
    }
}

impl PlannedRun {
    pub(super) fn digest(&self) -> Digest {
        assay_core::id::Digest::of(self.plugin.name.as_bytes())
    }

    fn batch(&self, iteration: u32, size: u32) -> SeededBatch {
        let mut random = Random(self.seed ^ u64::from(iteration));
        let announced_at = self.began_at + Micros(self.pause.0 * u64::from(iteration));
        let id = batch_id(announced_at, &mut random);
        let mut requests = self.requests(iteration, size, announced_at, &mut random);
        let row = BatchRow {
            tenant: self.tenant,
            id,
            run: self.name.clone(),
            iteration: iteration.into(),
            plugin: self.plugin.name.into(),
            version: self.plugin.version.into(),
            digest: self.digest(),
            settings: self.settings.clone(),
            expected_size: Some(size),
            group_size: Some(GROUP_SIZE.min(size)),
            max_extra_delay_ms: Some(MAX_EXTRA_DELAY_MS),
            consumes: Consumes::Batch,
            share_equal: true,
            idle_ms: None,
            idempotency: None,
            announced_at,
            sealed_at: None,
        };
        let admitted = self.admitted(row, &requests, size);
        requests.sort_by_key(|request| (request.finished_at, request.seq));
        SeededBatch { admitted, recorded: self.recorded(id, announced_at, &requests, size) }
    }

    fn body(&self, iteration: u64, seq: u32, size: u32) -> Vec<u8> {
        let prompt = format!("Problem {}: solve it and explain each step.", seq % groups(size));
        let response = match self.words {
            0 => format!("Attempt {seq}: first we look at what is given. ").repeat(6),
            words => {
                let mut random = Random(self.seed ^ (iteration << 32) ^ u64::from(seq));
                // Half of the words are around the median of their number.
                let words = random.running(f64::from(words), 0.5).min(50_000.0) as u32;
                random.text(words)
            }
        };
        proto::Body { prompt, response, label: seq.to_string(), metadata: String::new() }
            .encode_to_vec()
    }

    fn requests(
        &self,
        iteration: u32,
        size: u32,
        announced_at: Micros,
        random: &mut Random,
    ) -> Vec<Seeded> {
        let skill = 1.0 - (-(f64::from(iteration) + 8.0) / 45.0).exp();
        let span_ms = 30_000.0 + 40_000.0 * random.share();
        let late = random.chance(0.06);
        let backlog_ms = 2_000.0 + 6_000.0 * random.share();
        let error_rate = if random.chance(0.04) { 0.06 } else { 0.003 };
        let groups = groups(size);
        let hardness: Vec<f64> = (0..groups).map(|_| random.share() * 1.2).collect();
        let requests = (0..size).map(|seq| {
            let place = f64::from(seq) / f64::from(size);
            // Most rollouts are short; the longest take the whole span.
            let arrived_ms = span_ms * -(1.0 - 0.98 * place).ln() / 50f64.ln();
            let solved = 1.0 / (1.0 + (-9.0 * (skill - hardness[(seq % groups) as usize])).exp());
            let jam_ms = if late && place > 0.8 { backlog_ms * (place - 0.8) / 0.2 } else { 0.0 };
            let arrived_at = announced_at + Micros::from_ms_f64(2_000.0 + arrived_ms);
            self.request(seq, arrived_at, (solved, error_rate, jam_ms), random)
        });
        requests.collect()
    }

    /// Odds: that it is solved, that it fails; and what it waits for its last stage.
    fn request(
        &self,
        seq: u32,
        arrived_at: Micros,
        (solved, error_rate, jam_ms): (f64, f64, f64),
        random: &mut Random,
    ) -> Seeded {
        let stages = self.plugin.stages;
        let fails = random.chance(error_rate);
        let times_out = !fails && random.chance(0.008);
        let reached =
            if fails { 1 + (random.next() as usize) % stages.len() } else { stages.len() };
        let mut times = Vec::with_capacity(reached);
        for (at, stage) in stages.iter().take(reached).enumerate() {
            let last = at + 1 == stages.len();
            let whole = random.running(stage.median_ms, 0.5).min(f64::from(stage.timeout_ms));
            let ran_ms = if last && times_out { f64::from(stage.timeout_ms) } else { whole };
            let jam_ms = if last { jam_ms } else { 0.0 };
            let round = |ms: f64| Micros::from_ms_f64(ms).as_ms_f64();
            times.push(StageTime {
                stage: stage.name.into(),
                queued_ms: round(random.waiting(4.0) + jam_ms),
                ran_ms: round(ran_ms),
                attempts: 1 + u32::from(random.chance(0.004)),
            });
        }
        let sum = |time: fn(&StageTime) -> f64| Micros::from_ms_f64(times.iter().map(time).sum());
        let earliest_end_at = arrived_at + sum(|time| time.ran_ms);
        let finished_at = earliest_end_at + sum(|time| time.queued_ms) + Micros(150);
        let outcome = self.outcome(fails, times_out, solved, random);
        Seeded { seq, arrived_at, finished_at, earliest_end_at, times, outcome }
    }

    fn outcome(&self, fails: bool, times_out: bool, solved: f64, random: &mut Random) -> Outcome {
        if fails {
            let (code, message) = ERRORS[(random.next() as usize) % ERRORS.len()];
            let attempts = 1 + u32::from(code.retryable()) * 3;
            let (message, retryable) = (message.to_owned(), code.retryable());
            return Outcome::Error { code, message, retryable, attempts };
        }
        if times_out {
            let stage = self.plugin.stages.last().map_or("", |stage| stage.name).to_owned();
            return Outcome::TimedOut { stage, reward: 0.0 };
        }
        let bad = self.plugin.bad;
        let (verdict, reward) = if random.chance(solved) {
            (self.plugin.good, 1.0)
        } else {
            // Each is half as likely as the one before it.
            let place = (random.next().trailing_ones() as usize).min(bad.len() - 1);
            bad[place]
        };
        Outcome::Scored(Scored {
            reward,
            verdict: verdict.into(),
            components: BTreeMap::from([("correct".into(), reward)]),
            explanation: String::new(),
        })
    }

    /// The batch as it was announced, then its requests as they came.
    fn admitted(&self, row: BatchRow, requests: &[Seeded], size: u32) -> Vec<Admitted> {
        let (tenant, batch, iteration) = (row.tenant, row.id, row.iteration);
        let of = |at, admission| Admitted { tenant, batch, at, admission };
        let announced =
            of(row.announced_at, Admission { batch: Some(row), ..Admission::default() });
        let last = requests.last().map(|request| request.arrived_at);
        let all = requests.iter().map(|request| {
            let row = RequestRow {
                seq: request.seq,
                key: format!("sample-{:05}", request.seq),
                group: Some(group_name(request.seq, size)),
                body: self.body(iteration, request.seq, size).into(),
                expected_ms: None,
            };
            let first_request_at = (request.seq == 0).then_some(request.arrived_at);
            let sealed_at = last.filter(|_| request.seq + 1 == size);
            let mark = BatchMark { first_request_at, sealed_at };
            of(request.arrived_at, Admission { batch: None, requests: vec![row], mark })
        });
        std::iter::once(announced).chain(all).collect()
    }

    /// Everything that came out, by completion, and the end.
    fn recorded(
        &self,
        batch: BatchId,
        announced_at: Micros,
        requests: &[Seeded],
        size: u32,
    ) -> Vec<Recorded> {
        let tenant = self.tenant;
        let stages = self.plugin.description().stages;
        let of = |record| Recorded { tenant, batch, record };
        let mut recorded = Vec::with_capacity(requests.len() + 1);
        let mut tally = BatchStats::default();
        let mut counts = Counts { submitted: size, ..Counts::default() };
        let mut reward_sum = 0.0;
        for (request, position) in requests.iter().zip(1..) {
            let item = ResultItem {
                cursor: position,
                id: RequestId { batch, seq: request.seq },
                key: format!("sample-{:05}", request.seq),
                group: Some(group_name(request.seq, size)),
                outcome: request.outcome.clone(),
                stages: request.times.clone(),
                shared_from: None,
                trace_id: None,
            };
            let group = request.seq % groups(size);
            tally.add(&stages, &item, Some(group), request.earliest_end_at);
            reward_sum += item.outcome.reward().unwrap_or(0.0);
            match &item.outcome {
                Outcome::Scored(_) => counts.scored += 1,
                Outcome::TimedOut { .. } => counts.timed_out += 1,
                Outcome::Error { message, .. } => {
                    counts.error += 1;
                    recorded.extend(self.traces(request, message).map(of));
                }
            }
            recorded.push(of(Record::Outcome(OutcomeRow {
                seq: request.seq,
                position,
                kind: item.outcome.kind(),
                reward: item.outcome.reward(),
                verdict: item.outcome.verdict().to_owned(),
                earliest_end_at: request.earliest_end_at,
                finished_at: request.finished_at,
                shared: false,
                result: serde_json::to_vec(&item).expect("a result is plain data").into(),
            })));
        }
        let usage = self.usage(requests);
        let rollup = tally.summary(&stages, Some(GROUP_SIZE.min(size)), &usage);
        let history = self.history(batch, announced_at, requests, &usage);
        recorded.push(of(Record::End(EndRow {
            state: BatchState::Done,
            ended_at: history.ended_at,
            earliest_end_at: Some(history.earliest_end_at),
            tolerance: Micros::from_ms(MAX_EXTRA_DELAY_MS.into()),
            counts,
            reward_sum,
            usage,
            history: Some(Box::new(history)),
            summary: Some(Box::new(BatchSummaryRow {
                run: self.name.clone(),
                plugin: self.plugin.name.into(),
                version: self.plugin.version.into(),
                summary: rollup,
            })),
        })));
        recorded
    }

    /// The log lines of a failed request.
    fn traces(&self, request: &Seeded, message: &str) -> impl Iterator<Item = Record> {
        let stage = request.times.last().map_or("", |time| &time.stage).to_owned();
        let line = |line, level: &str, message: &str| LogRow {
            seq: request.seq,
            line,
            stage: stage.clone(),
            level: level.into(),
            message: message.into(),
        };
        let said = vec![
            line(1, "info", "reading the response"),
            line(2, "warn", "the response has 3 code blocks; taking the last"),
            line(3, "error", message),
        ];
        let left = (request.times.len() > 1).then(|| {
            Record::Artifact(ArtifactRow {
                seq: request.seq,
                stage: 0,
                artifact: Arc::new(Artifact {
                    content_type: "application/octet-stream".into(),
                    bytes: vec![0x7f; 256],
                }),
                times: serde_json::to_string(&request.times[..1]).expect("times are plain data"),
                at: request.finished_at,
            })
        });
        std::iter::once(Record::Logs(said)).chain(left)
    }

    fn usage(&self, requests: &[Seeded]) -> Vec<UsageRow> {
        let rows = COSTS.iter().map(|(pool, cost)| {
            let stages = self.plugin.stages.iter().filter(|stage| stage.pool == *pool);
            let names: Vec<&str> = stages.map(|stage| stage.name).collect();
            let on_pool = |time: &&StageTime| names.contains(&time.stage.as_str());
            let ran = |request: &Seeded| {
                request.times.iter().filter(on_pool).map(|time| time.ran_ms / 1e3).sum::<f64>()
            };
            let worker_seconds: f64 = requests.iter().map(ran).sum();
            let reached = requests.iter().filter(|request| ran(request) > 0.0).count();
            UsageRow {
                pool: (*pool).into(),
                requests: u32::try_from(reached).expect("within a batch's limit"),
                worker_seconds,
                cost: worker_seconds * cost,
            }
        });
        rows.filter(|row| row.requests > 0).collect()
    }

    fn history(
        &self,
        batch: BatchId,
        announced_at: Micros,
        requests: &[Seeded],
        usage: &[UsageRow],
    ) -> HistoryRow {
        let first = requests.iter().map(|request| request.arrived_at).min().unwrap_or(announced_at);
        let last = |at: fn(&Seeded) -> Micros| requests.iter().map(at).max().unwrap_or(first);
        let stages: Vec<ProfileStage> = self
            .plugin
            .stages
            .iter()
            .map(|stage| ProfileStage {
                name: stage.name.into(),
                pool: stage.pool.into(),
                timeout_ms: stage.timeout_ms,
                retries_max: 1,
            })
            .collect();
        let micros = |span: Micros| i64::try_from(span.0).expect("a batch takes less than ages");
        let ran = requests.iter().flat_map(|request| {
            let ran = |at| {
                let time: Option<&StageTime> = request.times.get(at);
                time.map_or(0, |time| micros(Micros::from_ms_f64(time.ran_ms)))
            };
            (0..stages.len()).map(ran)
        });
        let worker_seconds: BTreeMap<&str, f64> =
            usage.iter().map(|row| (row.pool.as_str(), row.worker_seconds)).collect();
        HistoryRow {
            tenant: self.tenant,
            batch,
            run: self.name.clone(),
            digest: self.digest().0.to_vec(),
            announced_at,
            first_arrival_at: first,
            earliest_end_at: last(|request| request.earliest_end_at),
            ended_at: last(|request| request.finished_at),
            worker_seconds: serde_json::to_string(&worker_seconds).expect("plain data"),
            arrived_us: requests
                .iter()
                .map(|request| micros(request.arrived_at.since(first)))
                .collect(),
            ran_us: ran.collect(),
            endings: requests.iter().map(|request| &request.outcome.kind()[..1]).collect(),
            stages: serde_json::to_string(&stages).expect("stages are plain data"),
        }
    }
}

fn groups(size: u32) -> u32 {
    (size / GROUP_SIZE).max(1)
}

fn group_name(seq: u32, size: u32) -> String {
    format!("prompt-{:04}", seq % groups(size))
}

/// Ids grow with time, in their first 48 bits in milliseconds; the rest is random.
fn batch_id(at: Micros, random: &mut Random) -> BatchId {
    let noise = u128::from(random.next()) << 64 | u128::from(random.next());
    let time = u128::from(at.0 / 1_000) << 80;
    let version_and_variant = 0x7 << 76 | 0b10 << 62;
    let free = !(u128::MAX << 80) & !(0xF << 76) & !(0b11 << 62);
    BatchId(Uuid::from_u128(time | version_and_variant | (noise & free)))
}
