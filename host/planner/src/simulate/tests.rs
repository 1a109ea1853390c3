//! SIMULATE against a reference that looks at every request at every moment, and what must hold of
//! every run and search.

mod reference;

use proptest::prelude::*;

use assay_sched::Discipline;

use self::reference::reference;
use super::*;
use crate::problem::{Flow, FlowStage, ProblemBatch, ProblemPool, ProblemRequest};
use crate::search::search;
use crate::tail::Tail;

const NOW: Micros = Micros::from_secs(1_000);
const FLOWS: usize = 3;
const BATCHES: usize = 4;

/// The size of a generated problem: the numbers of pools and of stages.
#[derive(Debug, Clone, Copy)]
struct Shape {
    pools: usize,
    stages: usize,
}

/// Times of a few units, so that many things happen at once; or any.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![4 => (0_u64..6).prop_map(|units| units * 500_000), 1 => 0_u64..20_000_000]
}

fn problems(shape: Shape) -> impl Strategy<Value = Problem> {
    let Shape { pools, stages } = shape;
    let costs = prop::collection::vec(1_u32..4, pools);
    let flow = prop::collection::vec((0..pools, time()), 1..=stages);
    let flows = prop::collection::vec(flow, FLOWS);
    let batch = (0..FLOWS, 0_u64..4, time(), time(), prop::option::of(time()));
    let batches = prop::collection::vec(batch, BATCHES);
    let service = prop::collection::vec(time(), stages);
    let request = (0..BATCHES, 0..stages, 0..5_u32, time(), service);
    let requests = prop::collection::vec(request, 1..60);
    (costs, flows, batches, requests).prop_map(move |(costs, flows, batches, requests)| {
        let pool = |cost: &u32| ProblemPool {
            name: format!("{cost}").into(),
            cost: f64::from(*cost),
            max: usize::MAX,
        };
        let stage = |(pool, timeout): &(usize, u64)| FlowStage {
            pool: *pool,
            timeout: Micros(timeout + 1),
        };
        let flow = |stages: &Vec<_>| Flow { stages: stages.iter().map(stage).collect() };
        let mut problem = Problem {
            now: NOW,
            pools: costs.iter().map(pool).collect(),
            flows: flows.iter().map(flow).collect(),
            batches: Vec::new(),
            requests: Vec::new(),
            service: Vec::new(),
            stages_max: stages,
        };
        problem.batches.extend(batches.into_iter().enumerate().map(|(number, given)| {
            let (flow, rank, end, tolerance, wait_max) = given;
            ProblemBatch {
                id: assay_core::id::BatchId(uuid::Uuid::from_u128(number as u128)),
                run: format!("{number}").into(),
                flow,
                rank: Micros::from_secs(rank),
                earliest_end: NOW + Micros(2 * end),
                tolerance: Micros(tolerance),
                wait_max: wait_max.map(Micros),
            }
        }));
        for (batch, stage, kind, ready, service) in requests {
            let stages = problem.flows[problem.batches[batch].flow].stages.len();
            let stage = if kind < 3 { 0 } else { stage % stages };
            let (running, waits) = (kind == 4, kind >= 2);
            let ready = if waits { NOW } else { NOW + Micros(ready) };
            problem.requests.push(ProblemRequest { batch, stage, running, ready });
            let row = problem.service.len();
            problem.service.extend(service.into_iter().map(Micros));
            problem.service[row..row + stage].fill(Micros::ZERO);
            problem.service[row + stages..].fill(Micros::ZERO);
            if running {
                problem.service[row + stage] = problem.service[row + stage].max(Micros(1));
            }
        }
        problem
    })
}

/// Problems from one stage in one pool up to circles of shared pools.
fn any_problem() -> impl Strategy<Value = Problem> {
    prop_oneof![Just((1, 1)), Just((2, 2)), Just((3, 3)), Just((2, 4)), Just((1, 3))]
        .prop_flat_map(|(pools, stages)| problems(Shape { pools, stages }))
}

/// One of each kind of check, made for the flows of a problem.
fn check(problem: &Problem, kind: usize) -> Check {
    match kind {
        0 => Check::Late,
        1 => Check::Timeouts,
        _ => {
            let tail = |stage: &FlowStage| Tail::of(&[stage.timeout, Micros(3_000_000)]);
            let tails = |flow: &Flow| flow.stages.iter().map(tail).collect();
            let tails = problem.flows.iter().map(tails).collect();
            let trusted = (0..BATCHES).map(|batch| batch != 2).collect();
            Check::Risk { tails, trusted, budget: Micros(900_000) }
        }
    }
}

fn rule(problem: &Problem, discipline: Discipline, kind: usize) -> Rule {
    Rule { discipline, check: check(problem, kind) }
}

fn any_discipline() -> impl Strategy<Value = Discipline> {
    prop_oneof![Just(Discipline::EBF), Just(Discipline::FCFS)]
}

/// Some workers at first, and some that join later.
fn capacities() -> impl Strategy<Value = Vec<Capacity>> {
    let later = prop::collection::vec((time(), 1_usize..4), 0..4).prop_map(|mut later| {
        later.sort_unstable();
        later
    });
    let workers = prop_oneof![4 => (0_usize..12).prop_map(Some), 1 => Just(None)];
    let capacity = (workers, later).prop_map(|(workers, later)| Capacity { workers, later });
    prop::collection::vec(capacity, 3)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 6 * ProptestConfig::default().cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_run_says_what_the_reference_says(
        problem in any_problem(),
        discipline in any_discipline(),
        kind in 0_usize..3,
        capacities in capacities(),
    ) {
        let rule = rule(&problem, discipline, kind);
        let capacities = &capacities[..problem.pools.len()];
        let wanted = reference(&problem, &rule, capacities);
        let mut simulator = Simulator::new(&problem, &rule);
        let first = simulator.workload.first.clone();
        // Twice: nothing of a run is left in the next.
        for _ in 0..2 {
            let ran = simulator.run(0, &first, capacities, SimulationQuestion::End);
            prop_assert_eq!(ran.is_ok(), wanted.satisfied);
            prop_assert_eq!(&simulator.batch_ends, &wanted.batch_ends);
            prop_assert_eq!(&simulator.usage, &wanted.usage);
            let ran = simulator.run(0, &first, capacities, SimulationQuestion::Violation);
            prop_assert_eq!(ran.is_ok(), wanted.satisfied);
        }
    }

    /// The result of a search satisfies its rule, and gives no pool more workers than it has participants.
    #[test]
    fn a_search_finds_what_satisfies_its_rule(
        problem in any_problem(),
        discipline in any_discipline(),
        kind in 0_usize..2,
    ) {
        let rule = rule(&problem, discipline, kind);
        let found = search(&problem, &rule);
        prop_assert!(simulate(&problem, &rule, &found).satisfied);
        let search = crate::search::Search::new(&problem, &rule);
        for (pool, workers) in found.iter().enumerate() {
            prop_assert!(*workers <= search.participants(pool));
        }
    }

    #[test]
    fn without_queues_every_rule_is_satisfied(
        problem in any_problem(),
        discipline in any_discipline(),
        kind in 0_usize..3,
    ) {
        let rule = rule(&problem, discipline, kind);
        let search = crate::search::Search::new(&problem, &rule);
        let peaks: Vec<usize> =
            (0..problem.pools.len()).map(|pool| search.zero_queue(pool)).collect();
        prop_assert!(simulate(&problem, &rule, &peaks).satisfied);
    }

    /// In one pool with one stage, first come first served, one more worker makes no request start later,
    /// so a rule that holds still holds. That is true of no other case: see the tests below.
    #[test]
    fn a_worker_more_delays_nobody_in_one_line(
        problem in problems(Shape { pools: 1, stages: 1 }),
        kind in 0_usize..3,
        workers in 1_usize..20,
    ) {
        let rule = rule(&problem, Discipline::FCFS, kind);
        let fewer = simulate(&problem, &rule, &[workers]);
        let more = simulate(&problem, &rule, &[workers + 1]);
        prop_assert!(more.satisfied || !fewer.satisfied);
        let pairs = more.batch_ends.iter().zip(&fewer.batch_ends);
        prop_assert!(pairs.into_iter().all(|(more, fewer)| more <= fewer));
    }
}

/// Requests by batch, when they come, and what their stages take, in seconds; batch 0 is the one
/// that matters, and is due at `due`.
fn scripted(due: u64, pools: usize, requests: &[(usize, f64, &[f64])]) -> Problem {
    let micros = |seconds: f64| Micros((seconds * 1e6) as u64);
    let stage = |pool| FlowStage { pool, timeout: Micros::ZERO };
    let batch = |number: u128, due: u64| ProblemBatch {
        id: assay_core::id::BatchId(uuid::Uuid::from_u128(number)),
        run: "run".into(),
        flow: 0,
        rank: Micros::from_secs(due),
        earliest_end: NOW + Micros::from_secs(due),
        tolerance: Micros::ZERO,
        wait_max: None,
    };
    Problem {
        now: NOW,
        pools: vec![ProblemPool { name: "pool".into(), cost: 1.0, max: 9 }; pools],
        flows: vec![Flow { stages: (0..pools).map(stage).collect() }],
        batches: vec![batch(0, due), batch(1, 10_000)],
        requests: requests
            .iter()
            .map(|(batch, ready, _)| ProblemRequest {
                batch: *batch,
                stage: 0,
                running: false,
                ready: NOW + micros(*ready),
            })
            .collect(),
        service: requests.iter().flat_map(|(_, _, service)| *service).map(|s| micros(*s)).collect(),
        stages_max: pools,
    }
}

/// With two workers both take long requests of the batch that can wait before the urgent one comes;
/// with one the second of them is still in the queue by then.
#[test]
fn earliest_batch_first_may_need_fewer_workers() {
    let (short, long) = (&[3.0][..], &[100.0][..]);
    let requests =
        [(1, 0.0, short), (1, 0.0, &[1.0]), (1, 0.0, long), (1, 0.0, long), (0, 3.5, &[10.0])];
    let problem = scripted(15, 1, &requests);
    let rule = Rule { discipline: Discipline::EBF, check: Check::Late };
    assert!(simulate(&problem, &rule, &[1]).satisfied);
    assert!(!simulate(&problem, &rule, &[2]).satisfied);
}

/// With two workers in the first pool a long request overtakes the urgent one, and is before it in
/// the second.
#[test]
fn two_stages_may_need_fewer_workers() {
    let problem = scripted(5, 2, &[(0, 0.0, &[2.0, 1.0]), (1, 0.0, &[1.0, 100.0])]);
    let rule = Rule { discipline: Discipline::FCFS, check: Check::Late };
    assert!(simulate(&problem, &rule, &[1, 1]).satisfied);
    assert!(!simulate(&problem, &rule, &[2, 1]).satisfied);
}

#[test]
fn what_never_starts_is_late() {
    let problem = scripted(5, 1, &[(0, 0.0, &[1.0])]);
    let rule = Rule { discipline: Discipline::FCFS, check: Check::Late };
    assert!(!simulate(&problem, &rule, &[0]).satisfied);
}

/// The one worker joins so late that the first end lies further ahead of the start than any stage.
#[test]
fn ends_are_counted_from_when_a_worker_joins() {
    let problem = scripted(5, 1, &[(0, 0.0, &[0.5]), (0, 0.0, &[0.5])]);
    let rule = Rule { discipline: Discipline::FCFS, check: Check::Late };
    let mut simulator = Simulator::new(&problem, &rule);
    let first = simulator.workload.first.clone();
    let capacity = Capacity { workers: Some(0), later: vec![(24_800, 1)] };
    assert!(simulator.run(0, &first, &[capacity], SimulationQuestion::End).is_ok());
    assert_eq!(simulator.batch_ends, [1_024_800, 0]);
}
