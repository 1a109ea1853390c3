//! `GET /metrics`: metrics in the Prometheus text format.
//!
//! The metrics by tenant are written as they are now, so that a tenant that no longer waits has no line, and the
//! tenants with the highest values have a line each, so that the number of lines is bounded.

use std::cmp::Reverse;
use std::fmt::Write as _;

use assay_api::capacity::{Capacity, PoolWorkers};
use assay_api::operations::IncidentKind;
use assay_core::id::TenantId;
use assay_core::limits;
use assay_dispatch::{DispatchError, INCIDENTS, SchedView};
use assay_store::DATABASE_FAILURES;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use metrics::{counter, gauge};

use crate::app::{App, AppState};
use crate::extract::guard::{Platform, Scoped};
use crate::problem::ApiError;

const WAITING: &str = "assay_tenant_waiting";
const WORKERS: &str = "assay_tenant_workers";
const QUEUE: &str = "assay_stage_queue_requests";
const LEASES: &str = "assay_pool_leases";

/// Metrics in the Prometheus text format.
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, body = String, content_type = "text/plain"))
)]
pub(crate) async fn metrics(
    State(app): AppState,
    _: Scoped<Platform>,
) -> Result<Response, ApiError> {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, metrics_page(&app).await?).into_response())
}

/// The text of `GET /metrics`.
pub async fn metrics_page(app: &App) -> Result<String, DispatchError> {
    let view = app.dispatch.view().await?;
    measure(&view);
    let capacity = app.dispatch.capacity().await?;
    measure_pools(&capacity);
    start_counters(&capacity);
    gauge!("assay_admission_budget_free_bytes").set(app.dispatch.budget.free_bytes() as f64);
    Ok(app.metrics.render() + &by_pool(&view) + &by_tenant(app, &view))
}

/// The calls and requests that wait, and the workers for which requests wait, by tenant.
fn by_tenant(app: &App, view: &SchedView) -> String {
    let name = |tenant: TenantId| app.dispatch.tenants.name(tenant).to_string();
    let (mut waiting, mut workers) = (Metric::new(WAITING), Metric::new(WORKERS));
    for (pool, state) in &view.pools {
        let tenants = || state.tenants.iter();
        let queued = tenants().map(|tenant| (name(tenant.tenant), tenant.waiting));
        waiting.add(&format!("cause=\"worker\",pool=\"{pool}\""), queued.collect());
        let serving = tenants().map(|tenant| (name(tenant.tenant), tenant.workers));
        workers.add(&format!("pool=\"{pool}\""), serving.collect());
    }
    for (cause, calls) in [
        ("artifacts", view.held.iter().map(|(tenant, held)| (*tenant, held.requests)).collect()),
        ("memory", app.dispatch.budget.waiting()),
        ("body", app.buffered.waiting()),
        ("answer", app.repeated.waiting()),
        ("upload", app.uploads.waiting()),
        ("compilation", app.registry.compilations_waiting()),
    ] {
        // Rules look for each cause, also where nobody waits.
        let cause = format!("cause=\"{cause}\"");
        if calls.is_empty() {
            waiting.line(&cause, 0);
        }
        let calls = calls.into_iter().map(|(tenant, calls)| (name(tenant), calls));
        waiting.add(&cause, calls.collect());
    }
    waiting.text + &workers.text
}

/// Lines of a metric that are made anew each time.
struct Metric {
    name: &'static str,
    text: String,
}

impl Metric {
    fn new(name: &'static str) -> Self {
        Self { name, text: format!("# TYPE {name} gauge\n") }
    }

    /// Adds the highest values, each with its tenant; the rest is one sum without a tenant.
    fn add(&mut self, labels: &str, mut values: Vec<(String, usize)>) {
        values.retain(|(_, value)| *value > 0);
        values.sort_by_key(|(_, value)| Reverse(*value));
        let rest = values.split_off(values.len().min(limits::METRICS_TENANTS_MAX));
        for (tenant, value) in values {
            self.line(&format!("{labels},tenant=\"{tenant}\""), value);
        }
        if !rest.is_empty() {
            self.line(labels, rest.iter().map(|(_, value)| value).sum());
        }
    }

    fn line(&mut self, labels: &str, value: usize) {
        writeln!(self.text, "{}{{{labels}}} {value}", self.name).expect("a string takes it");
    }
}

fn measure(view: &SchedView) {
    gauge!("assay_live_batches").set(view.batches.len() as f64);
    gauge!("assay_live_requests").set(view.requests() as f64);
}

/// The numbers of requests that wait in each pool and that its workers hold. Tenants' plugins name pools: one that is gone leaves
/// nothing.
fn by_pool(view: &SchedView) -> String {
    let (mut queue, mut leases) = (Metric::new(QUEUE), Metric::new(LEASES));
    for (pool, state) in &view.pools {
        queue.line(&format!("pool=\"{pool}\""), state.waiting);
        leases.line(&format!("pool=\"{pool}\""), state.leased);
    }
    queue.text + &leases.text
}

fn measure_pools(capacity: &Capacity) {
    for pool in &capacity.pools {
        let PoolWorkers { starting, idle, busy, draining, joined } = pool.workers;
        let states =
            [("starting", starting), ("idle", idle), ("busy", busy), ("draining", draining)];
        for (state, count) in states {
            gauge!("assay_pool_workers", "pool" => pool.pool.clone(), "state" => state)
                .set(f64::from(count));
        }
        gauge!("assay_pool_joined_workers", "pool" => pool.pool.clone()).set(f64::from(joined));
        let Some(target) = &pool.target else { continue };
        let kinds =
            [("hold", target.hold), ("ceiling", target.ceiling), ("zero_queue", target.zero_queue)];
        for (kind, count) in kinds {
            gauge!("assay_planner_target_workers", "pool" => pool.pool.clone(), "kind" => kind)
                .set(f64::from(count));
        }
    }
}

/// Counters of what goes wrong are there before it does: Prometheus sees no increase from nothing to 1.
fn start_counters(capacity: &Capacity) {
    counter!(DATABASE_FAILURES).increment(0);
    for kind in IncidentKind::ALL {
        counter!(INCIDENTS, "kind" => kind.as_str()).increment(0);
    }
    for outcome in ["scored", "timed_out", "error"] {
        counter!("assay_requests_total", "outcome" => outcome).increment(0);
    }
    for pool in &capacity.pools {
        counter!("assay_stages_starved_total", "pool" => pool.pool.clone()).increment(0);
        let taken = ["assay_workers_preempted_total", "assay_slow_workers_stopped_total"];
        for name in taken.into_iter().chain(["assay_hedges_total"]) {
            counter!(name, "pool" => pool.pool.clone()).increment(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_tenants_have_a_line_each_and_the_rest_one() {
        let mut metric = Metric::new("waiting");
        metric.add("pool=\"cpu\"", vec![("a".into(), 2), ("b".into(), 0), ("c".into(), 5)]);
        let lines = [
            "# TYPE waiting gauge",
            r#"waiting{pool="cpu",tenant="c"} 5"#,
            r#"waiting{pool="cpu",tenant="a"} 2"#,
        ];
        assert_eq!(metric.text.lines().collect::<Vec<_>>(), lines);
        let mut metric = Metric::new("waiting");
        let many = (0..limits::METRICS_TENANTS_MAX + 3).map(|tenant| (tenant.to_string(), 1));
        metric.add("pool=\"cpu\"", many.collect());
        assert_eq!(metric.text.lines().count(), limits::METRICS_TENANTS_MAX + 2);
        assert_eq!(metric.text.lines().last(), Some(r#"waiting{pool="cpu"} 3"#));
    }
}
