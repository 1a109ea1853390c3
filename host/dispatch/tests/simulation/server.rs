//! The server: one life after the other, each restored from what is durable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use assay_clock::{sleep, sleep_until};
use assay_core::time::Micros;
use assay_dispatch::planning::{Bounds, PlannerPlace, PoolDefaults};
use assay_dispatch::tenants::Tenants;
use assay_dispatch::{Dispatch, Parts, PlanConfig, Plugins, Policy, ReadyPlugin};
use assay_fleet::Fleet;
use assay_store::admissions::BatchRow;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::truth;
use crate::worker::SimulatedLauncher;
use crate::world::{Live, World, one_in, pause};

/// Keeps a server alive, until this is dropped.
pub async fn serve(world: Arc<World>) {
    let policy = if one_in(8) { Policy::ASSAY } else { Policy::FIXED };
    let preempt_after = one_in(2).then_some(Duration::from_millis(500));
    let hedge_after = one_in(2).then_some(Duration::from_millis(20));
    // Room for some, or for as many as there are.
    let artifact_bytes_max = if one_in(2) { 200 } else { 1 << 20 };
    for life in 1.. {
        let crash_at = world.crash_at(life - 1);
        world.say(|| format!("life {life} of the server begins"));
        live(&world, life, crash_at, (policy, preempt_after, hedge_after, artifact_bytes_max))
            .await;
        pause(2_000_000).await;
    }
}

/// The plugins, which cannot be had or take long to compile now and then.
struct Published(Arc<World>);

impl Plugins for Published {
    async fn of(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        let is_slow = self.0.strikes(self.0.faults.plugin_slow);
        pause(if is_slow { 15_000_000 } else { 2_000 }).await;
        let is_missing = self.0.strikes(self.0.faults.plugin_missing);
        anyhow::ensure!(!is_missing, "the plugin cannot be had");
        anyhow::ensure!(!self.0.has_lost_plugin(row.id), "the plugin is lost");
        Ok(truth::plugin(row.version.parse().expect("a number of stages")))
    }

    async fn described(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        pause(2_000).await;
        let is_missing = self.0.strikes(self.0.faults.plugin_missing);
        anyhow::ensure!(!is_missing, "the description cannot be had");
        Ok(truth::described(row.version.parse().expect("a number of stages")))
    }
}

/// Waits for tasks that fail; one that has nothing to do any more may end.
async fn watch(world: &World, tasks: &mut JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        world.check(ended.is_ok(), || format!("a task of the server ended: {ended:?}"));
    }
    world.fail("the server ended unasked");
}

async fn crash(at: Option<Micros>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn live(
    world: &Arc<World>,
    life: u64,
    crash_at: Option<Micros>,
    (policy, preempt_after, hedge_after, artifact_bytes_max): (
        Policy,
        Option<Duration>,
        Option<Duration>,
        usize,
    ),
) {
    // The sessions of the life before are ended.
    world.rows().fence(life);
    let (fleet, failures) =
        Fleet::new(|events| SimulatedLauncher::new(Arc::clone(world), life, events));
    let pool_defaults = PoolDefaults {
        costs: BTreeMap::new(),
        startup: Micros::from_ms(200),
        linger: Micros::from_secs(2),
    };
    let pool = |max| pool_defaults.pool("any", Bounds { min: 1, max });
    let pools = BTreeMap::from([("cpu".into(), pool(3)), ("gpu".into(), pool(2))]);
    let parts = Parts {
        store: Database { world: Arc::clone(world), life },
        fleet: fleet.clone(),
        failures,
        plan: PlanConfig { forecasts: true, ..PlanConfig::new(policy, pools) },
        planner: PlannerPlace::Runtime,
        preempt_after,
        hedge_after,
        artifact_bytes_max,
        pool_defaults: pool_defaults.clone(),
        tenants: Arc::new(Tenants::new(Vec::new(), Arc::default())),
        history: Vec::new(),
        traces: None,
    };
    let started = tokio::select! {
        biased;
        started = Dispatch::start(parts, Published(Arc::clone(world))) => started,
        () = crash(crash_at) => return,
    };
    let Ok((dispatch, mut tasks)) = started else { return };
    world.set_server(Some(Live { life, dispatch: dispatch.clone(), fleet: fleet.clone() }));
    tokio::select! {
        biased;
        () = watch(world, &mut tasks) => {}
        () = crash(crash_at) => {}
    }
    if one_in(3) {
        world.say(|| format!("life {life} of the server is asked to end"));
        let end = async {
            fleet.stop_all().await;
            dispatch.stop().await;
            while tasks.join_next().await.is_some() {}
        };
        tokio::select! { biased; () = end => {}, () = sleep(Duration::from_secs(10)) => {} }
    }
    world.say(|| format!("life {life} of the server ends"));
    world.set_server(None);
    tasks.abort_all();
    while tasks.join_next().await.is_some() {}
}
