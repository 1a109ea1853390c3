//! `assay capacity`.

use std::process::ExitCode;

use assay_api::capacity::{Capacity, PoolCapacity, SetCapacity};
use clap::Subcommand;

use super::ClientOptions;
use super::planning::parse_bounds;
use super::table::table;
use assay_dispatch::planning::Bounds;

#[derive(clap::Args)]
pub(super) struct CapacityCommand {
    #[command(flatten)]
    client: ClientOptions,
    #[command(subcommand)]
    verb: Option<CapacityVerb>,
}

#[derive(Subcommand)]
enum CapacityVerb {
    /// List the pools with their workers and the planner's reasons; the default
    Ls,
    /// Set the number of workers of a pool, such as 0..8, immediately and for later starts of the
    /// server
    Set {
        /// Name of the pool
        pool: String,
        /// Fixed number of workers, or bounds for the planner
        #[arg(value_name = "N|MIN..MAX", value_parser = parse_bounds)]
        bounds: Bounds,
    },
}

pub(super) async fn run(options: CapacityCommand) -> anyhow::Result<ExitCode> {
    let client = options.client.connect()?;
    match options.verb.unwrap_or(CapacityVerb::Ls) {
        CapacityVerb::Ls => {
            let capacity = client.capacity().await?;
            options.client.format.print(&capacity, text)?;
        }
        CapacityVerb::Set { pool, bounds } => {
            let count = |count| u32::try_from(count).expect("bounds were checked");
            let wanted = SetCapacity { min: count(bounds.min), max: count(bounds.max) };
            let pool = client.set_capacity(&pool, &wanted).await?;
            options.client.format.print(&pool, |pool| pools(std::slice::from_ref(pool)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn text(capacity: &Capacity) -> String {
    let plan = capacity.plan.as_ref().map_or("no plan yet".into(), |plan| {
        format!(
            "last plan {:.1} s ago, in {:.1} ms: {} requests simulated {} times",
            plan.age_ms / 1e3,
            plan.took_ms,
            plan.requests,
            plan.simulations
        )
    });
    format!("planner {}; {plan}\n\n{}", capacity.planner, pools(&capacity.pools))
}

/// One line for each pool, and below them why workers wait, leave, or failed to start.
fn pools(pools: &[PoolCapacity]) -> String {
    const HEAD: [&str; 12] = [
        "POOL", "BOUNDS", "HOLD", "UP TO", "STARTING", "IDLE", "BUSY", "DRAINING", "JOINED",
        "QUEUED", "START-UP", "WHY",
    ];
    let mut text = table(HEAD, pools.iter().map(row));
    for pool in pools {
        for waiting in &pool.waiting {
            text.push_str(&format!(
                "\n{}: {} workers wait since {}: {}\n",
                pool.pool, waiting.workers, waiting.since, waiting.reason
            ));
        }
        for leaving in &pool.leaving {
            text.push_str(&format!(
                "\n{}: {} workers leave since {}: {}\n",
                pool.pool, leaving.workers, leaving.since, leaving.reason
            ));
        }
        if let Some(trouble) = &pool.trouble {
            text.push_str(&format!(
                "\n{}: {} failed starts, the last at {}: {}\n",
                pool.pool, trouble.failures, trouble.failed_at, trouble.error
            ));
        }
    }
    text
}

fn row(pool: &PoolCapacity) -> [String; 12] {
    let target = pool.target.as_ref();
    let number = |number: Option<u32>| number.map_or("-".into(), |number| number.to_string());
    [
        pool.pool.clone(),
        format!("{}..{}", pool.min, pool.max),
        number(target.map(|target| target.hold)),
        number(target.map(|target| target.ceiling)),
        pool.workers.starting.to_string(),
        pool.workers.idle.to_string(),
        pool.workers.busy.to_string(),
        pool.workers.draining.to_string(),
        pool.workers.joined.to_string(),
        pool.queued.to_string(),
        pool.startup_ms.map_or("-".into(), |ms| format!("{ms:.0} ms")),
        target.map(|target| target.why.clone()).unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use assay_api::capacity::{
        LeavingWorkers, PlanReason, PoolTarget, PoolWorkers, StartTrouble, WaitingWorkers,
    };
    use assay_core::time::Micros;

    use super::*;

    #[test]
    fn a_table_reads_well() {
        let target = PoolTarget {
            hold: 1,
            ceiling: 12,
            zero_queue: 40,
            why: "the pool's maximum; the plan wanted 40".into(),
            reason: PlanReason::Maximum { wanted: 40 },
        };
        let cpu = PoolCapacity {
            pool: "cpu".into(),
            min: 0,
            max: 12,
            cost: 1.0,
            workers: PoolWorkers { starting: 2, idle: 0, busy: 10, draining: 1, joined: 0 },
            queued: 312,
            startup_ms: Some(84.3),
            target: Some(target),
            trouble: None,
            waiting: vec![WaitingWorkers {
                workers: 2,
                reason: "no node has the requested resources free (Slurm: Resources)".into(),
                since: Micros::from_secs(30),
            }],
            leaving: vec![LeavingWorkers {
                workers: 1,
                reason: "EvictionByEvictionAPI".into(),
                since: Micros::from_secs(40),
            }],
        };
        let trouble = StartTrouble {
            failures: 7,
            error: "a worker ended before it joined: exit status: 3".into(),
            failed_at: Micros::from_secs(60),
            next_try_at: Micros::from_secs(61),
        };
        let gpu = PoolCapacity {
            pool: "gpu".into(),
            target: None,
            startup_ms: None,
            trouble: Some(trouble),
            workers: PoolWorkers::default(),
            waiting: Vec::new(),
            leaving: Vec::new(),
            queued: 0,
            ..cpu.clone()
        };
        let capacity = Capacity { planner: "assay".into(), plan: None, pools: vec![cpu, gpu] };
        let expected = "\
planner assay; no plan yet

POOL  BOUNDS  HOLD  UP TO  STARTING  IDLE  BUSY  DRAINING  JOINED  QUEUED  START-UP  WHY
cpu   0..12   1     12     2         0     10    1         0       312     84 ms     the pool's maximum; the plan wanted 40
gpu   0..12   -     -      0         0     0     0         0       0       -

cpu: 2 workers wait since 1970-01-01T00:00:30Z: no node has the requested resources free (Slurm: Resources)

cpu: 1 workers leave since 1970-01-01T00:00:40Z: EvictionByEvictionAPI

gpu: 7 failed starts, the last at 1970-01-01T00:01:00Z: a worker ended before it joined: exit status: 3
";
        assert_eq!(text(&capacity), expected);
    }
}
