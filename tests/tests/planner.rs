//! The planner live: pools follow what the simulator says of the same requests, stages that run into
//! their timeouts are allowed for, every mode works, and an overdue batch gives its workers back.
//!
//! Stages sleep, so that the machine's cores do not bound how many run at once.

use std::collections::BTreeMap;
use std::time::Duration;

use assay_api::batch::{AnnounceBatch, Batch};
use assay_api::capacity::{Capacity, PlanReason, PoolWorkers};
use assay_client::Client;
use assay_core::time::Micros;
use assay_sim::policy::{ByStage, Policy, Settings};
use assay_sim::trace::Trace;
use assay_sim::{BatchRun, Run, StageUse, Watch};
use assay_tests::{Host, HostOptions, Sleepers, assay, item, until};
use tokio::time::Instant;

const SOON: Duration = Duration::from_secs(60);
const PLUGIN: &str = "two_pools";
/// Its stages with the pool and the timeout of each.
const STAGES: [(&str, &str); 2] = [("compile", "cpu"), ("execute", "gpu")];
const RUN: &str = "sleepers";
/// From a batch's announcement to its first request.
const LEAD: Duration = Duration::from_millis(700);

fn start(sleepers: &Sleepers, bounds: [usize; 2], arguments: &[&str]) -> Host {
    let pools = STAGES.iter().zip(bounds);
    let program = ["--worker-program", &sleepers.program()].map(str::to_owned);
    Host::start(HostOptions {
        workers: pools.map(|((_, pool), max)| format!("{pool}=0..{max}")).collect(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).chain(program).collect(),
        ..HostOptions::default()
    })
}

/// A request: when it is sent and how long its stages sleep, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Timed {
    at: u64,
    sleeps: [u64; 2],
}

/// `count` requests over a span, each stage within its bounds; the same for the same seed.
fn requests(seed: u64, count: usize, span: u64, sleeps: [(u64, u64); 2]) -> Vec<Timed> {
    let mut state = seed;
    let mut between = |from: u64, to: u64| {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        from + (mixed ^ (mixed >> 31)) % (to - from)
    };
    let one =
        |_| Timed { at: between(0, span), sleeps: sleeps.map(|(from, to)| between(from, to)) };
    let mut requests: Vec<Timed> = (0..count).map(one).collect();
    requests.sort_by_key(|request| request.at);
    requests
}

async fn announce(client: &Client, plugin: &str, iteration: u64, size: usize) -> Batch {
    let announcement = AnnounceBatch {
        plugin: plugin.into(),
        run: RUN.into(),
        iteration,
        expected_size: Some(u32::try_from(size).expect("a small number")),
        group_size: None,
        max_extra_delay_ms: None,
        share_equal: Some(false),
        settings: None,
    };
    client.announce(&announcement).await.expect("announces")
}

/// A trainer's step: announces a batch, sends each request at its time, waits for the end.
async fn play(client: &Client, plugin: &str, iteration: u64, requests: &[Timed]) -> Batch {
    let batch = announce(client, plugin, iteration, requests.len()).await;
    let start = Instant::now() + LEAD;
    for (at, request) in requests.iter().enumerate() {
        tokio::time::sleep_until(start + Duration::from_millis(request.at)).await;
        let [compile, execute] = request.sleeps;
        let item = item(format!("r{at}"), &format!("{compile} {execute}"), "null");
        client.submit(batch.id, &[item]).await.expect("submits");
    }
    client.wait_batch(batch.id, SOON).await.expect("answers")
}

/// The workers that a pool had at each moment of observation.
type Looks = Vec<(Instant, PoolWorkers)>;

fn alive(workers: PoolWorkers) -> usize {
    (workers.starting + workers.idle + workers.busy) as usize
}

/// Looks at the pools while something goes on. At no time may one have more than it is allowed.
async fn watch<T>(client: &Client, work: impl Future<Output = T>) -> (T, BTreeMap<String, Looks>) {
    let mut looks: BTreeMap<String, Looks> = BTreeMap::new();
    let mut work = std::pin::pin!(work);
    let mut period = tokio::time::interval(Duration::from_millis(20));
    loop {
        tokio::select! {
            done = &mut work => return (done, looks),
            _ = period.tick() => {}
        }
        let capacity = client.capacity().await.expect("answers");
        for pool in capacity.pools {
            let (workers, target) = (pool.workers, pool.target.as_ref());
            assert!(alive(workers) <= pool.max as usize, "{pool:?}");
            assert!(target.is_none_or(|it| it.hold <= it.ceiling && it.ceiling <= pool.max));
            looks.entry(pool.pool).or_default().push((Instant::now(), workers));
        }
    }
}

/// The most workers at once and their seconds together.
#[derive(Debug, Clone, Copy)]
struct Used {
    peak: usize,
    seconds: f64,
}

fn live(looks: &Looks) -> Used {
    let spans = looks.windows(2).map(|two| (two[1].0 - two[0].0, alive(two[0].1)));
    Used {
        peak: looks.iter().map(|(_, workers)| alive(*workers)).max().unwrap_or(0),
        seconds: spans.map(|(span, workers)| span.as_secs_f64() * workers as f64).sum(),
    }
}

/// While one batch was live.
fn simulated(stage: &StageUse, batch: &BatchRun) -> Used {
    let samples = &stage.timeline.samples;
    let ends = samples.iter().skip(1).map(|sample| sample.at).chain([batch.completed]);
    let (mut peak, mut seconds) = (0, 0.0);
    for (sample, end) in samples.iter().zip(ends) {
        let span = end.min(batch.completed).since(sample.at.max(batch.rollout_start));
        if span > Micros::ZERO {
            peak = peak.max(sample.workers);
            seconds += span.as_secs_f64() * sample.workers as f64;
        }
    }
    Used { peak, seconds }
}

fn simulate(trace: &Trace, settings: &Settings) -> Run {
    let watch =
        Watch { elapsed: &mut || Duration::ZERO, completed: &mut |_, _| {}, patience: None };
    let policy: Policy = "assay".parse().expect("a policy of the table");
    assay_sim::simulate(trace, &policy, settings, watch).expect("the trace fits")
}

/// Two batches are history, the third is compared: the exported trace of all three goes through
/// the simulator, with the same settings and with the start-up times that were measured.
#[tokio::test]
async fn pools_follow_what_the_simulator_allocates() {
    let sleepers = Sleepers::starting_in(Duration::from_millis(300));
    let (bounds, tolerance_ms) = ([40, 40], 1_000);
    let options = ["--period-s", "0.5", "--linger-s", "0.5", "--tolerance-ms", "1000"];
    let host = start(&sleepers, bounds, &options);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    let batch = |seed| requests(seed, 80, 4_000, [(100, 500), (200, 1_000)]);
    for iteration in 1..=2 {
        play(&client, &plugin, iteration, &batch(iteration)).await;
    }
    let (third, looks) = watch(&client, play(&client, &plugin, 3, &batch(3))).await;

    let export = assay(Some(&host), &["batch", "export", "--run", RUN, "--cost", "gpu=10"]);
    assert_eq!(export.code, Some(0), "{export:?}");
    let trace = assay_sim::trace::read(export.stdout.as_bytes()).expect("a trace");
    let capacity = client.capacity().await.expect("answers");
    let settings = Settings {
        tolerance: Micros::from_ms(tolerance_ms),
        startup: startups(&capacity),
        quota: ByStage::all(bounds[0]),
        linger: Micros::from_ms(500),
        period: Micros::from_ms(500),
        ..Settings::default()
    };
    let run = simulate(&trace, &settings);
    let wanted = &run.batches[1];
    for ((stage, pool), stage_use) in STAGES.iter().zip(&run.stages) {
        let (live, simulated) = (live(&looks[*pool]), simulated(stage_use, wanted));
        eprintln!("{stage}: live {live:?}, simulated {simulated:?}");
        assert_eq!(*stage, stage_use.stage);
        // A peak is one moment of a real machine: when it stalls, demand piles up and is answered with more
        // workers. The workers' time below is the stricter measure.
        let apart = live.peak.abs_diff(simulated.peak) as f64;
        assert!(apart <= (0.5 * simulated.peak as f64).max(2.0), "{stage}: the peak");
        let share = live.seconds / simulated.seconds;
        assert!((0.67..=1.33).contains(&share), "{stage}: {share} of the workers' time");
    }
    let live = third.extra_delay_ms.expect("it is done") / 1e3;
    let simulated = wanted.extra_delay().as_secs_f64();
    eprintln!("extra delay: live {live} s, simulated {simulated} s");
    assert!((live - simulated).abs() <= 0.75, "{live} s live, {simulated} s simulated");
}

/// By stage, as they were measured.
fn startups(capacity: &Capacity) -> ByStage<Micros> {
    let measured = |pool: &str| {
        let pool = capacity.pools.iter().find(|known| known.pool == pool);
        let ms = pool.and_then(|pool| pool.startup_ms).expect("workers were started");
        assert!((300.0..3_000.0).contains(&ms), "a start took {ms} ms");
        Micros::from_ms_f64(ms)
    };
    let named = STAGES.iter().map(|(stage, pool)| ((*stage).to_owned(), measured(pool)));
    ByStage { all: Micros::ZERO, named: named.collect() }
}

/// Some requests run into the timeout of 3 s: were one of them to wait for long, the batch would end
/// as much later. The published check allows for each that queues, and nothing else promises it. Of
/// start-ups and of what history did not hold it knows nothing: they get as much again.
#[tokio::test]
async fn stages_that_run_into_their_timeouts_do_not_delay_the_batch() {
    let sleepers = Sleepers::starting_in(Duration::from_millis(100));
    let options = ["--planner", "distrs", "--linger-s", "0.5", "--tolerance-ms", "1000"];
    let host = start(&sleepers, [10, 14], &options);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    for iteration in 1..=3 {
        let mut requests = requests(iteration, 60, 3_000, [(100, 300), (100, 400)]);
        // Others at each step, the last among them.
        let first = usize::try_from(iteration).expect("small") % 9;
        requests.iter_mut().skip(first).step_by(9).for_each(|request| request.sleeps[1] = 60_000);
        requests[59].sleeps[1] = 60_000;
        let (batch, _) = watch(&client, play(&client, &plugin, iteration, &requests)).await;
        assert!(batch.counts.timed_out >= 7, "{:?}", batch.counts);
        assert_eq!(batch.counts.scored + batch.counts.timed_out, 60, "{:?}", batch.counts);
        let delay = batch.extra_delay_ms.expect("it is done");
        eprintln!("batch {iteration}: extra delay {delay} ms");
        // Nobody knows what the first batch of a run needs.
        assert!(iteration == 1 || delay <= 2_000.0, "{delay} ms");
    }
}

/// The reason that a mode gives while it plans for a batch.
fn explains(mode: &str, reason: &PlanReason) -> bool {
    match reason {
        PlanReason::Mode => matches!(mode, "zq" | "fixed"),
        PlanReason::Bound { .. } | PlanReason::Needed | PlanReason::Maximum { .. } => {
            matches!(mode, "assay" | "distrs" | "history")
        }
        PlanReason::Idle | PlanReason::Minimum | PlanReason::Unknown => false,
    }
}

#[tokio::test]
async fn every_mode_ends_its_batches_and_says_why() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut host = start(&sleepers, [4, 4], &[]);
    let plugin = host.publish(PLUGIN).await;
    // Long enough to be looked at: two rows of four.
    let requests = requests(1, 8, 100, [(700, 800), (20, 100)]);
    play(&host.client(), &plugin, 0, &requests).await;
    for (iteration, mode) in (1..).zip(["assay", "distrs", "history", "zq", "fixed"]) {
        assert!(host.stop());
        let program = sleepers.program();
        host.restart_with(&["--planner", mode, "--worker-program", &program]);
        let client = host.client();
        let said = until("a plan with its reason", async || {
            let capacity = client.capacity().await.expect("answers");
            assert_eq!(capacity.planner, mode);
            let target = capacity.pools.into_iter().find(|pool| pool.pool == "cpu")?.target?;
            explains(mode, &target.reason).then_some(target)
        });
        let (batch, said) = tokio::join!(play(&client, &plugin, iteration, &requests), said);
        assert_eq!(batch.counts.scored, 8, "{mode}: {batch:?}");
        assert!(said.ceiling > 0 && !said.why.is_empty(), "{mode}: {said:?}");
        let shown = assay(Some(&host), &["capacity"]);
        assert!(shown.stdout.starts_with(&format!("planner {mode}; last plan ")), "{shown:?}");
    }
}

/// The trainer died between its announcement and its first request.
#[tokio::test]
async fn an_announced_batch_that_never_comes_gives_its_workers_back() {
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let options = ["--period-s", "0.2", "--linger-s", "0", "--patience-s", "3"];
    let host = start(&sleepers, [4, 4], &options);
    let client = host.client();
    let plugin = host.publish(PLUGIN).await;
    let requests = requests(1, 8, 200, [(300, 400), (300, 400)]);
    play(&client, &plugin, 1, &requests).await;
    let workers = async || -> usize {
        let capacity = client.capacity().await.expect("answers");
        capacity.pools.iter().map(|pool| alive(pool.workers)).sum()
    };
    until("everybody goes", async || (workers().await == 0).then_some(())).await;
    let announced = Instant::now();
    let second = announce(&client, &plugin, 2, 8).await;
    until("workers are ready for it", async || (workers().await > 0).then_some(())).await;
    until("they are given back", async || (workers().await == 0).then_some(())).await;
    assert!(announced.elapsed() >= Duration::from_secs(3), "it was waited for");
    assert_eq!(client.batch(second.id).await.expect("answers").counts.submitted, 0);
    // When it comes after all, it is served.
    let late = item("late", "20 20", "null");
    client.submit(second.id, &[late]).await.expect("submits");
    until("it is served", async || {
        let batch = client.batch(second.id).await.expect("answers");
        (batch.counts.scored == 1).then_some(())
    })
    .await;
}
