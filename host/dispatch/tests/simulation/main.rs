//! The dispatcher with its database, links, workers, fleet and trainers on one thread in virtual time, one seed after the
//! other. Faults strike for a while; then everything must end, and every answer must be right, durable and given once.
//!
//! The loop, its group commits, the fleet, the scheduler and the planner are the real ones. A seed that fails is printed;
//! `ASSAY_SIMULATION_SEED=N cargo test -p assay-dispatch --test simulation seeds -- --nocapture` replays it and shows what
//! happened. `ASSAY_SIMULATION_SEEDS=N` tries so many. `ASSAY_SIMULATION_HOURS=N` is the length of `a_long_life_holds`.

mod checks;
mod database;
mod server;
mod trainer;
mod truth;
mod worker;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use assay_clock::simulated;
use tokio::task::JoinSet;

use crate::trainer::Numbers;
use crate::world::{Mutation, START, World, below};

/// In a long test, and otherwise.
const SEEDS: [u64; 2] = [100_000, 300];
/// The length of a long life in a long test, and otherwise, in hours of virtual time.
const HOURS: [u64; 2] = [72, 2];
/// The seeds in which a mutation must be found.
const SEEDS_PER_MUTATION: u64 = 400;

/// The end of one simulation.
struct SimulationEnd {
    failure: Option<String>,
    batches: usize,
    mutated: u64,
    hash: u64,
}

fn simulate(seed: u64, mutation: Option<Mutation>, is_shown: bool) -> SimulationEnd {
    simulate_world(seed, || World::new(None, mutation, is_shown))
}

fn simulate_world(seed: u64, world: impl Fn() -> Arc<World>) -> SimulationEnd {
    let simulation = || {
        let (mut ended, world) = simulated::run(seed, START, async {
            let world = world();
            (run(Arc::clone(&world)).await, Arc::downgrade(&world))
        });
        if world.strong_count() > 0 {
            ended.failure.get_or_insert("something of the simulation is kept after its end".into());
        }
        ended
    };
    catch_unwind(AssertUnwindSafe(simulation)).unwrap_or_else(|panic| {
        let texts = (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>());
        let said = texts.0.map(ToString::to_string).or(texts.1.cloned()).unwrap_or_default();
        SimulationEnd { failure: Some(format!("a panic: {said}")), batches: 0, mutated: 1, hash: 0 }
    })
}

async fn run(world: Arc<World>) -> SimulationEnd {
    let mut others = JoinSet::new();
    others.spawn(server::serve(Arc::clone(&world)));
    if below(2) == 0 {
        others.spawn(worker::remote(Arc::clone(&world), 1, "cpu"));
        others.spawn(worker::remote(Arc::clone(&world), 2, "gpu"));
    }
    let numbers = Arc::new(Numbers::default());
    let trainers = 1 + below(4);
    let all = async {
        let mut training = JoinSet::new();
        for _ in 0..trainers {
            training.spawn(trainer::train(Arc::clone(&world), Arc::clone(&numbers)));
        }
        while let Some(ended) = training.join_next().await {
            world.check(ended.is_ok(), || format!("a trainer panicked: {ended:?}"));
        }
        checks::nothing_is_left(&world).await;
        checks::rows_hold_together(&world);
    };
    let mut failure = tokio::select! {
        biased;
        failure = world.failed() => Some(failure),
        () = all => None,
    };
    if failure.is_none() {
        failure = world.failure();
    }
    // The launcher of its workers has the world: without this, each would keep the other.
    world.set_server(None);
    let batches = world.rows().batches.len();
    SimulationEnd { failure, batches, mutated: world.mutated(), hash: world.hash() }
}

fn number(variable: &str) -> Option<u64> {
    Some(std::env::var(variable).ok()?.parse().expect("a number"))
}

/// The size of a long test, or of any other.
fn size([long, short]: [u64; 2]) -> u64 {
    if std::env::var_os("ASSAY_TEST_LONG").is_some_and(|set| set == "1") { long } else { short }
}

#[test]
fn seeds_hold() {
    if let Some(seed) = number("ASSAY_SIMULATION_SEED") {
        let ended = simulate(seed, None, true);
        assert_eq!(ended.failure, None, "seed {seed}");
        return;
    }
    let all = number("ASSAY_SIMULATION_SEEDS").unwrap_or_else(|| size(SEEDS));
    let next = AtomicU64::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= all || failed.lock().expect("no panics").len() > 4 {
                        return;
                    }
                    if let Some(why) = simulate(seed, None, false).failure {
                        eprintln!("ASSAY_SIMULATION_SEED={seed} fails: {why}");
                        failed.lock().expect("no panics").push(seed);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no panics");
    assert!(failed.is_empty(), "of {all} seeds these fail, as printed above: {failed:?}");
}

/// The trainers of one simulation go on for days, through faults and crashes of the server.
#[test]
fn a_long_life_holds() {
    let hours = number("ASSAY_SIMULATION_HOURS").unwrap_or_else(|| size(HOURS));
    for seed in number("ASSAY_SIMULATION_SEED").map_or(0..2, |seed| seed..seed + 1) {
        let ended = simulate_world(seed, || World::new(Some(hours), None, false));
        println!("seed {seed}: {hours} hours, {} batches", ended.batches);
        assert_eq!(ended.failure, None, "seed {seed}");
    }
}

#[test]
fn a_seed_gives_the_same_run() {
    for seed in 0..20 {
        let [first, second] = [(), ()].map(|()| simulate(seed, None, false).hash);
        assert_eq!(first, second, "seed {seed}");
    }
}

/// The checks are worth something: each defect that is put in is found.
#[test]
fn every_mutation_is_found() {
    for mutation in Mutation::ALL {
        let ended = (0..SEEDS_PER_MUTATION).map(|seed| simulate(seed, Some(mutation), false));
        let (mut mutated, mut found) = (0, 0);
        for ended in ended.filter(|ended| ended.mutated > 0) {
            mutated += 1;
            found += u32::from(ended.failure.is_some());
            if found >= 3 {
                break;
            }
        }
        println!("{mutation:?}: found in {found} of {mutated} seeds");
        assert!(found > 0, "{mutation:?} is not found in {mutated} seeds");
    }
}
