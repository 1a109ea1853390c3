//! Every policy live and in simulation: the same requests, played on this machine and replayed by the simulator with the
//! same settings and the start-up times that were measured. `make live` plays them more often and writes the comparison to
//! docs/live.md.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use assay_api::batch::Batch;
use assay_api::capacity::Capacity;
use assay_core::time::Micros;
use assay_sim::policy::{ByPool, Settings, SimulatedPolicy};
use assay_sim::{BatchRun, PoolUse, Run, Watch};
use assay_tests::{Host, Sleepers, assay};

use super::{
    LATE_MAX, LOOK, Looks, PLUGIN, RUN, STAGES, TRIES, alive, cannot_be_compared, late, play,
    requests, start, watch,
};

const POLICIES: [&str; 5] = ["assay", "distrs", "history", "zq", "fixed"];
const WORKERS_MAX: [usize; 2] = [20, 30];
const TOLERANCE_MS: u64 = 1_000;
const PERIOD_MS: u64 = 500;
const LINGER_MS: u64 = 500;
/// Where the comparison is written to, and the number of batches of each policy; see `make live`.
const REPORT: &str = "ASSAY_LIVE_REPORT";
const ROUNDS: &str = "ASSAY_LIVE_ROUNDS";

/// The workers of a pool while one batch was live.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    seconds: f64,
    peak: f64,
    /// The number of times that the pool grew by a worker.
    starts: f64,
}

/// A batch, and the use of each pool by it.
#[derive(Debug, Clone, Copy)]
struct PlayedBatch {
    delay_s: f64,
    pools: [Used; 2],
}

/// One batch of a policy, played and simulated.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    live: PlayedBatch,
    simulated: PlayedBatch,
}

/// Two batches are history; then each policy plays batches of its own.
#[tokio::test]
async fn every_policy_does_what_it_does_in_simulation() {
    let sleepers = Sleepers::starting_in(Duration::from_millis(300));
    let mut host = start(&sleepers, WORKERS_MAX, &[]);
    let plugin = host.publish(PLUGIN).await;
    let mut iteration = 0;
    for _ in 0..2 {
        iteration += 1;
        play(&host.client(), &plugin, iteration, &drawn(iteration)).await;
    }
    let rounds = std::env::var(ROUNDS).map_or(1, |rounds| rounds.parse().expect("a number"));
    let mut compared: BTreeMap<&str, Vec<Comparison>> = BTreeMap::new();
    for policy in POLICIES.repeat(rounds) {
        assert!(host.stop());
        let arguments = arguments(policy, &sleepers.program());
        host.restart_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        match undisturbed(&host, &plugin, policy, &mut iteration).await {
            Ok(comparison) => compared.entry(policy).or_default().push(comparison),
            Err(came_late) => return cannot_be_compared(came_late),
        }
    }
    if let Some(path) = std::env::var_os(REPORT) {
        std::fs::write(path, report(&compared, rounds)).expect("writes");
    }
    for (policy, comparisons) in &compared {
        comparisons.iter().for_each(|comparison| comparison.check(policy));
    }
}

fn drawn(iteration: u64) -> Vec<super::Timed> {
    requests(iteration, 80, 4_000, [(100, 500), (200, 1_000)])
}

fn arguments(policy: &str, program: &str) -> Vec<String> {
    let seconds = |ms: u64| (ms as f64 / 1e3).to_string();
    let options = [
        ("--planner", policy.to_owned()),
        ("--worker-program", program.to_owned()),
        ("--tolerance-ms", TOLERANCE_MS.to_string()),
        ("--period-s", seconds(PERIOD_MS)),
        ("--linger-s", seconds(LINGER_MS)),
    ];
    options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]).collect()
}

/// Plays batches until the machine kept going during one, and compares that one; else how late something came at last.
async fn undisturbed(
    host: &Host,
    plugin: &str,
    policy: &str,
    iteration: &mut u64,
) -> Result<Comparison, Duration> {
    let client = host.client();
    let mut came_late = Duration::ZERO;
    for _ in 0..TRIES {
        *iteration += 1;
        let requests = drawn(*iteration);
        let played = play(&client, plugin, *iteration, &requests);
        let (batch, looks) = watch(&client, played).await;
        came_late = late(&client, &batch, &requests, &looks).await;
        eprintln!("{policy}, batch {iteration}: something came {came_late:?} late");
        if came_late <= LATE_MAX {
            return Ok(compare(host, policy, &batch, &looks).await);
        }
    }
    Err(came_late)
}

/// The last batch, as it was played and as the simulator plays it.
async fn compare(
    host: &Host,
    policy: &str,
    played: &Batch,
    looks: &BTreeMap<String, Looks>,
) -> Comparison {
    let export = assay(Some(host), &["batch", "export", "--run", RUN, "--cost", "gpu=10"]);
    assert_eq!(export.code, Some(0), "{export:?}");
    let trace = assay_sim::trace::read(export.stdout.as_bytes()).expect("a trace");
    let capacity = host.client().capacity().await.expect("answers");
    let maxima = STAGES.iter().zip(WORKERS_MAX);
    let settings = Settings {
        tolerance: Micros::from_ms(TOLERANCE_MS),
        startup: startups(&capacity),
        quota: ByPool {
            all: 0,
            named: maxima.map(|((_, pool), max)| ((*pool).to_owned(), max)).collect(),
        },
        linger: Micros::from_ms(LINGER_MS),
        period: Micros::from_ms(PERIOD_MS),
        ..Settings::default()
    };
    let run = simulate(&trace, policy, &settings);
    let wanted = run.batches.last().expect("at least one has a history");
    let mut of_pool = STAGES.iter().map(|(_, pool)| live(&looks[*pool]));
    let live = PlayedBatch {
        delay_s: played.extra_delay_ms.expect("it is done") / 1e3,
        pools: std::array::from_fn(|_| of_pool.next().expect("two pools")),
    };
    let simulated = PlayedBatch {
        delay_s: wanted.extra_delay().as_secs_f64(),
        pools: std::array::from_fn(|stage| simulated(&run.pools[stage], wanted)),
    };
    eprintln!("{policy}: {live:?} {simulated:?}");
    Comparison { live, simulated }
}

fn simulate(trace: &assay_sim::trace::Trace, policy: &str, settings: &Settings) -> Run {
    let watch =
        Watch { elapsed: &mut || Duration::ZERO, completed: &mut |_, _| {}, patience: None };
    let policy: SimulatedPolicy = policy.parse().expect("a policy of the table");
    assay_sim::simulate(trace, &policy, settings, watch).expect("the trace fits")
}

/// By pool, as they were measured.
fn startups(capacity: &Capacity) -> ByPool<Micros> {
    let measured = |pool: &str| {
        let pool = capacity.pools.iter().find(|known| known.pool == pool);
        let ms = pool.and_then(|pool| pool.startup_ms).expect("workers were started");
        assert!(ms >= 300.0, "a start took {ms} ms");
        Micros::from_ms_f64(ms)
    };
    let named = STAGES.iter().map(|(_, pool)| ((*pool).to_owned(), measured(pool)));
    ByPool { all: Micros::ZERO, named: named.collect() }
}

fn live(looks: &Looks) -> Used {
    let counts = looks.iter().map(|(at, workers)| (*at, alive(*workers)));
    let counts: Vec<_> = counts.collect();
    let spans = counts.windows(2).map(|two| ((two[1].0 - two[0].0).as_secs_f64(), two[0].1));
    used(spans.collect(), counts.first().map_or(0, |(_, workers)| *workers))
}

/// Looked at as often as the live pools are.
fn simulated(pool: &PoolUse, batch: &BatchRun) -> Used {
    let samples = &pool.timeline.samples;
    let workers = |at: Micros| {
        let seen = samples.partition_point(|sample| sample.at <= at);
        seen.checked_sub(1).map_or(0, |last| samples[last].workers)
    };
    let span = batch.completed.since(batch.rollout_start);
    let looks = (0..).map(|look| Micros(look * LOOK.as_micros() as u64));
    let spans = looks.take_while(|look| *look < span).map(|look| {
        let left = span.since(look).as_secs_f64().min(LOOK.as_secs_f64());
        (left, workers(batch.rollout_start + look))
    });
    // Workers that are asked for at the very start count as started, as live.
    used(spans.collect(), workers(Micros(batch.rollout_start.0.saturating_sub(1))))
}

/// Spans of time in seconds, each with the workers that there were; and the workers before them.
fn used(spans: Vec<(f64, usize)>, before: usize) -> Used {
    let mut used = Used::default();
    let mut last = before;
    for (span, workers) in spans {
        used.seconds += span * workers as f64;
        used.peak = used.peak.max(workers as f64);
        used.starts += workers.saturating_sub(last) as f64;
        last = workers;
    }
    used
}

impl Comparison {
    fn check(&self, policy: &str) {
        for ((_, pool), (live, simulated)) in
            STAGES.iter().zip(self.live.pools.iter().zip(&self.simulated.pools))
        {
            // A peak is one moment of a real machine. The workers' time is the stricter measure.
            let apart = (live.peak - simulated.peak).abs();
            assert!(apart <= (0.5 * simulated.peak).max(2.0), "{policy}, {pool}: {self:?}");
            let share = live.seconds / simulated.seconds;
            assert!(
                (0.8..=1.25).contains(&share),
                "{policy}, {pool}: {share} of the time, {self:?}"
            );
        }
        let (live, simulated) = (self.live.delay_s, self.simulated.delay_s);
        assert!((live - simulated).abs() <= 0.5, "{policy}: {live} s, simulated {simulated} s");
    }
}

fn median(comparisons: &[Comparison], of: impl Fn(&Comparison) -> f64) -> f64 {
    let mut values: Vec<f64> = comparisons.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn report(compared: &BTreeMap<&str, Vec<Comparison>>, rounds: usize) -> String {
    let mut page = String::from(include_str!("live.md"));
    let mut line = |text: String| writeln!(page, "{text}").expect("a string takes it");
    line(format!(
        "| medians of {rounds} | d, s | simulated | CPU workers, s | simulated | GPU workers, s | simulated | starts | simulated |"
    ));
    line("|---|--:|--:|--:|--:|--:|--:|--:|--:|".into());
    for policy in POLICIES {
        let all = &compared[policy];
        let pair = |of: fn(&PlayedBatch) -> f64, digits: usize| {
            let [live, simulated] =
                [median(all, |it| of(&it.live)), median(all, |it| of(&it.simulated))];
            format!("{live:.digits$} | {simulated:.digits$}")
        };
        line(format!(
            "| `{policy}` | {} | {} | {} | {} |",
            pair(|batch| batch.delay_s, 2),
            pair(|batch| batch.pools[0].seconds, 1),
            pair(|batch| batch.pools[1].seconds, 1),
            pair(|batch| batch.pools[0].starts + batch.pools[1].starts, 0),
        ));
    }
    page
}
