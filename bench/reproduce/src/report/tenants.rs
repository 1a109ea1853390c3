//! Tenants that want more of a pool than there is: what each gets, and who waits for whom.

use assay_core::time::Micros;
use assay_sched::{Entitlement, Weight};
use assay_sim::Run;
use assay_sim::fair::{Demand, STAGE, trace};
use assay_sim::policy::{Settings, SimulatedPolicy};
use assay_sim::trace::Trace;
use assay_simulation::runs::{Job, run_all};

use super::comparison::fixed;
use super::page::Page;

const WORKERS: usize = 24;
/// The time in which requests come, all of it with waiting requests of each tenant.
const SPAN: Micros = Micros::from_secs(300);
const LOADED: Micros = Micros::from_secs(60);
/// The largest difference between a tenant's weight and its fraction of the workers.
const OFF_MAX: f64 = 0.05;

const FLOOD: u32 = 10_000;
const SMALL: u32 = 40;
const FLOOD_WORKERS: usize = 10;
const SECOND: Micros = Micros::from_secs(1);
/// The longest wait of a small batch until workers change over: no request takes longer.
const CHANGE_S: f64 = 1.5;

/// A tenant, its weight, and how long its requests take.
type Tenant = (&'static str, f64, Micros);

pub(super) fn add(page: &mut Page) -> anyhow::Result<()> {
    page.heading("Tenants that share a pool");
    page.say(format!(
        "{WORKERS} workers, and tenants each of which sends, over {} s, as much work as all of them can \
         do. An idle worker goes to the tenant with the fewest workers for its weight. Measured from \
         {} s on, while something of each waits.",
        SPAN.as_secs_f64(),
        LOADED.as_secs_f64()
    ));
    add_shares(page)?;
    add_flood(page)
}

fn add_shares(page: &mut Page) -> anyhow::Result<()> {
    let (short, long) = (Micros::from_ms(150), Micros::from_secs(15));
    let cases: [&[Tenant]; 5] = [
        &[("a", 1.0, SECOND), ("b", 1.0, SECOND)],
        &[("a", 1.0, SECOND), ("b", 3.0, SECOND)],
        &[("a", 1.0, SECOND), ("b", 2.0, SECOND), ("c", 3.0, SECOND)],
        &[("a", 1.0, long), ("b", 1.0, short)],
        &[("a", 1.0, long), ("b", 3.0, short)],
    ];
    let traces: Vec<Trace> = cases.iter().map(|tenants| contest(tenants)).collect();
    let settings: Vec<Settings> = cases.iter().map(|tenants| weighed(tenants)).collect();
    let policy = workers(WORKERS);
    let jobs = traces.iter().zip(&settings);
    let jobs = jobs.map(|(trace, settings)| Job { trace, policy: &policy, settings });
    let runs = run_all(&jobs.collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    let mut worst = 0.0_f64;
    for (tenants, run) in cases.iter().zip(&runs) {
        let total: f64 = tenants.iter().map(|(_, weight, _)| weight).sum();
        for (place, (name, weight, service)) in tenants.iter().enumerate() {
            let (wanted, seen) = (weight / total, share(run, place));
            worst = worst.max((seen / wanted - 1.0).abs());
            rows.push(vec![
                format!("`{name}` of {}", tenants.len()),
                weight.to_string(),
                fixed(service.as_secs_f64(), 2),
                fixed(wanted, 3),
                fixed(seen, 3),
            ]);
        }
    }
    let heading =
        ["tenant", "weight", "a request takes, s", "its part by weight", "of the workers"];
    page.table(&heading, &rows);
    page.say(
        "The weights divide the workers at each moment: a tenant with long stages gets as many workers as \
         one with short stages. The past does not count: a tenant that asked for nothing has saved \
         nothing. A tenant gets whole workers: where a pool has fewer than one for each tenant, \
         earliest batch first decides who is served first.",
    );
    page.goal(
        "a tenant's part of an overloaded pool, off its weight at most",
        format!("{} %", OFF_MAX * 100.0),
        format!("{} %", fixed(worst * 100.0, 1)),
        worst <= OFF_MAX,
    );
    Ok(())
}

fn add_flood(page: &mut Page) -> anyhow::Result<()> {
    let flood = |tenant| Demand {
        tenant,
        start: Micros::ZERO,
        requests: FLOOD,
        within: Micros::ZERO,
        service: SECOND,
    };
    let small = Demand { start: Micros::from_secs(100), requests: SMALL, ..flood("small") };
    let traces = [
        trace(&[flood("small"), small]),
        trace(&[flood("flood"), small]),
        trace(&[flood("flood")]),
        trace(&[small]),
    ];
    let (all, half) = (workers(FLOOD_WORKERS), workers(FLOOD_WORKERS / 2));
    let settings = Settings::default();
    let jobs = traces.iter().zip([&all, &all, &all, &half]);
    let jobs = jobs.map(|(trace, policy)| Job { trace, policy, settings: &settings });
    let runs = run_all(&jobs.collect::<Vec<_>>())?;
    let delay = |run: &Run, task: u32| {
        let batch = run.batches.iter().find(|batch| batch.task == task);
        batch.map_or(f64::NAN, |batch| batch.extra_delay().as_secs_f64())
    };
    page.say(format!(
        "A flood of {FLOOD} requests of 1 s on {FLOOD_WORKERS} workers, and 100 s later a batch of \
         {SMALL}: of one tenant, so that earliest batch first alone decides, and of two of one weight."
    ));
    let row = |name: &str, flood: f64, small: f64| {
        vec![name.to_owned(), fixed(flood, 1), fixed(small, 1)]
    };
    let shared = delay(&runs[1], 1);
    let on_its_share = delay(&runs[3], 0);
    let rows = [
        row("one tenant: EBF alone", delay(&runs[0], 0), delay(&runs[0], 1)),
        row("two tenants", delay(&runs[1], 0), shared),
        row("the flood alone", delay(&runs[2], 0), f64::NAN),
        row("the small batch alone, half of the workers", f64::NAN, on_its_share),
    ];
    page.table(&["", "flood: d, s", "small batch: d, s"], &rows);
    page.goal(
        "d of a small batch beside another tenant's flood",
        format!("{} s", fixed(on_its_share + CHANGE_S, 1)),
        format!("{} s", fixed(shared, 1)),
        shared <= on_its_share + CHANGE_S,
    );
    Ok(())
}

fn workers(count: usize) -> SimulatedPolicy {
    SimulatedPolicy::Fixed([(STAGE.to_owned(), count)].into())
}

/// Each tenant wants all workers.
fn contest(tenants: &[Tenant]) -> Trace {
    let demand = |(tenant, _, service): &Tenant| {
        let requests = WORKERS as f64 * SPAN.as_secs_f64() / service.as_secs_f64();
        let (requests, service) = (requests as u32, *service);
        Demand { tenant, start: Micros::ZERO, requests, within: SPAN, service }
    };
    trace(&tenants.iter().map(demand).collect::<Vec<_>>())
}

fn weighed(tenants: &[Tenant]) -> Settings {
    let share = |(tenant, weight, _): &Tenant| {
        let weight = Weight::new(*weight).expect("within the range of weights");
        ((*tenant).to_owned(), Entitlement { weight, ..Entitlement::default() })
    };
    Settings { entitlements: tenants.iter().map(share).collect(), ..Settings::default() }
}

fn share(run: &Run, tenant: usize) -> f64 {
    let time = run.tenants[tenant].worker_time(0, LOADED..SPAN);
    time as f64 / (WORKERS as f64 * SPAN.since(LOADED).0 as f64)
}
