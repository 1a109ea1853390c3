//! A comparison of runs: for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use assay_core::time::Micros;
use serde::Serialize;

use crate::account::{PoolUse, TenantUse};
use crate::engine::Run;

/// A comparison of several policies on one trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    pub policies: Vec<PolicyReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyReport {
    pub policy: String,
    /// The report of each pool, by name.
    pub pools: BTreeMap<String, PoolReport>,
    pub extra_delay_s: ExtraDelay,
    pub group_delay_s: GroupDelay,
    pub planner_s: PlannerReport,
    pub batches: usize,
    pub requests: usize,
    /// Requests that ended without an answer, by a fault.
    pub failed_requests: usize,
    /// The report of each tenant, by name; empty if there is only one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tenants: BTreeMap<String, TenantReport>,
    /// The report of each cell; empty if there is only one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cells: Vec<CellReport>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellReport {
    /// The report of each pool, by name.
    pub pools: BTreeMap<String, CellPool>,
    pub extra_delay_s: ExtraDelay,
    pub batches: usize,
    pub requests: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellPool {
    pub allocated_worker_s: f64,
    pub peak_workers: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TenantReport {
    /// The time of the workers that served the tenant, in seconds, by pool.
    pub worker_s: BTreeMap<String, f64>,
    pub extra_delay_s: ExtraDelay,
    pub batches: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PoolReport {
    pub allocated_worker_s: f64,
    pub executed_worker_s: f64,
    /// Allocated over executed; `None` if nothing ran.
    pub norm: Option<f64>,
    /// The worker time of ZQ-Dedicated divided by that of this policy; `None` if it was not compared.
    pub ratio_to_zq: Option<f64>,
    pub peak_workers: usize,
    pub starts: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExtraDelay {
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub max: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupDelay {
    pub mean: f64,
    pub p99: f64,
    pub max: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannerReport {
    pub mean: f64,
    pub max: f64,
    pub plans: u32,
}

impl Report {
    /// Adds the reports of the cells of each policy: their runs, in the order of the policies.
    #[must_use]
    pub fn with_cells(mut self, cells: &[Vec<Run>]) -> Self {
        for (policy, cells) in self.policies.iter_mut().zip(cells) {
            policy.cells = cells.iter().map(CellReport::of).collect();
        }
        self
    }

    #[must_use]
    pub fn of(runs: &[Run]) -> Self {
        let zq = runs.iter().find(|run| run.policy.has_pools_by_task());
        Self { policies: runs.iter().map(|run| PolicyReport::of(run, zq)).collect() }
    }
}

impl PolicyReport {
    fn of(run: &Run, zq: Option<&Run>) -> Self {
        let mut pools = BTreeMap::new();
        for (place, used) in run.pools.iter().enumerate() {
            let of_zq = zq.map(|zq| zq.pools[place].allocated_s());
            let pool = PoolReport {
                allocated_worker_s: used.allocated_s(),
                executed_worker_s: used.executed_s(),
                norm: used.norm(),
                ratio_to_zq: of_zq.filter(|_| used.allocated > 0).map(|zq| zq / used.allocated_s()),
                peak_workers: used.peak,
                starts: used.starts,
            };
            pools.insert(used.pool.clone(), pool);
        }
        let delays = Spread::of(run.batches.iter().map(|batch| batch.extra_delay()));
        let groups = run.batches.iter().flat_map(|batch| batch.group_delays.iter().copied());
        let groups = Spread::of(groups);
        let plans = run.planner.plans;
        Self {
            policy: run.policy.to_string(),
            pools,
            extra_delay_s: ExtraDelay::of(&delays),
            group_delay_s: GroupDelay {
                mean: groups.mean(),
                p99: groups.quantile(0.99),
                max: groups.quantile(1.0),
            },
            planner_s: PlannerReport {
                mean: run.planner.total.as_secs_f64() / f64::from(plans.max(1)),
                max: run.planner.max.as_secs_f64(),
                plans,
            },
            batches: run.batches.len(),
            requests: run.batches.iter().map(|batch| batch.requests).sum(),
            failed_requests: run.batches.iter().map(|batch| batch.failed).sum(),
            tenants: run
                .tenants
                .iter()
                .map(|used| (used.tenant.clone(), TenantReport::of(run, used)))
                .collect(),
            cells: Vec::new(),
        }
    }
}

impl CellReport {
    fn of(run: &Run) -> Self {
        let pool = |used: &PoolUse| {
            let of = CellPool { allocated_worker_s: used.allocated_s(), peak_workers: used.peak };
            (used.pool.clone(), of)
        };
        let delays = Spread::of(run.batches.iter().map(|batch| batch.extra_delay()));
        Self {
            pools: run.pools.iter().map(pool).collect(),
            extra_delay_s: ExtraDelay::of(&delays),
            batches: run.batches.len(),
            requests: run.batches.iter().map(|batch| batch.requests).sum(),
        }
    }
}

impl TenantReport {
    fn of(run: &Run, used: &TenantUse) -> Self {
        let pools = run.pools.iter().enumerate();
        let worker_s = pools.map(|(place, of)| {
            let time = used.worker_time(place, Micros::ZERO..run.ended);
            (of.pool.clone(), time as f64 / 1e6)
        });
        let batches = run.batches.iter().filter(|batch| used.tasks.contains(&batch.task));
        let delays = Spread::of(batches.map(|batch| batch.extra_delay()));
        Self {
            worker_s: worker_s.collect(),
            extra_delay_s: ExtraDelay::of(&delays),
            batches: delays.0.len(),
        }
    }
}

impl ExtraDelay {
    fn of(delays: &Spread) -> Self {
        Self {
            mean: delays.mean(),
            p50: delays.quantile(0.5),
            p90: delays.quantile(0.9),
            p99: delays.quantile(0.99),
            max: delays.quantile(1.0),
        }
    }
}

/// Sorted spans.
struct Spread(Vec<Micros>);

impl Spread {
    fn of(spans: impl Iterator<Item = Micros>) -> Self {
        let mut spans: Vec<Micros> = spans.collect();
        spans.sort_unstable();
        Self(spans)
    }

    fn mean(&self) -> f64 {
        let sum: u128 = self.0.iter().map(|span| u128::from(span.0)).sum();
        sum as f64 / 1e6 / self.0.len().max(1) as f64
    }

    /// The smallest value that this fraction of all values does not exceed, in seconds.
    fn quantile(&self, fraction: f64) -> f64 {
        let rank = (fraction * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.saturating_sub(1)).map_or(0.0, |span| span.as_secs_f64())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![self.heading()];
        rows.extend(self.policies.iter().map(PolicyReport::row));
        write_table(f, &rows)?;
        let pools: Vec<_> =
            self.policies.first().into_iter().flat_map(|policy| policy.pools.keys()).collect();
        let tenants: Vec<_> = self.policies.iter().flat_map(PolicyReport::tenant_rows).collect();
        if !tenants.is_empty() {
            let pools = pools.iter().map(|pool| format!("{pool} worker s")).collect();
            write_part(f, "policy, tenant", pools, tenants)?;
        }
        let cells: Vec<_> = self.policies.iter().flat_map(PolicyReport::cell_rows).collect();
        if !cells.is_empty() {
            let pools = pools
                .iter()
                .flat_map(|pool| [format!("{pool} worker s"), "peak".to_owned()])
                .collect();
            write_part(f, "policy, cell", pools, cells)?;
        }
        Ok(())
    }
}

/// A table of parts of the policies' runs, after an empty line.
fn write_part(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    pools: Vec<String>,
    rows: Vec<Vec<String>>,
) -> fmt::Result {
    writeln!(f)?;
    let rest = ["batches", "delay mean", "max"].map(str::to_owned);
    let heading = [vec![what.to_owned()], pools, rest.to_vec()].concat();
    write_table(f, &[vec![heading], rows].concat())
}

fn write_table(f: &mut fmt::Formatter<'_>, rows: &[Vec<String>]) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            line.push_str(&format!("  {cell:>width$}"));
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

impl Report {
    fn heading(&self) -> Vec<String> {
        let mut cells = vec!["policy".to_owned()];
        let pools = self.policies.first().into_iter().flat_map(|policy| policy.pools.keys());
        for pool in pools {
            cells.push(format!("{pool} norm"));
            cells.extend(["vs zq", "peak", "starts"].map(str::to_owned));
        }
        let rest = [
            "delay mean",
            "p50",
            "p90",
            "p99",
            "max",
            "group mean",
            "p99",
            "plan ms",
            "max",
            "plans",
        ];
        cells.extend(rest.map(str::to_owned));
        if self.policies.iter().any(|policy| policy.failed_requests > 0) {
            cells.push("failed".to_owned());
        } else {
            cells.push(String::new());
        }
        cells
    }
}

impl PolicyReport {
    fn tenant_rows(&self) -> Vec<Vec<String>> {
        let row = |(name, tenant): (&String, &TenantReport)| {
            let mut cells = vec![format!("{}, {name}", self.policy)];
            cells.extend(tenant.worker_s.values().map(|time| format!("{time:.0}")));
            cells.push(tenant.batches.to_string());
            let delay = &tenant.extra_delay_s;
            cells.extend([delay.mean, delay.max].map(|seconds| format!("{seconds:.2}")));
            cells
        };
        self.tenants.iter().map(row).collect()
    }

    fn cell_rows(&self) -> Vec<Vec<String>> {
        let row = |(place, cell): (usize, &CellReport)| {
            let mut columns = vec![format!("{}, {}", self.policy, place + 1)];
            for pool in cell.pools.values() {
                columns.push(format!("{:.0}", pool.allocated_worker_s));
                columns.push(pool.peak_workers.to_string());
            }
            columns.push(cell.batches.to_string());
            let delay = &cell.extra_delay_s;
            columns.extend([delay.mean, delay.max].map(|seconds| format!("{seconds:.2}")));
            columns
        };
        self.cells.iter().enumerate().map(row).collect()
    }

    fn row(&self) -> Vec<String> {
        let number = |value: Option<f64>, places: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.places$}"))
        };
        let mut cells = vec![self.policy.clone()];
        for pool in self.pools.values() {
            cells.push(number(pool.norm, 3));
            cells.push(number(pool.ratio_to_zq, 2));
            cells.push(pool.peak_workers.to_string());
            cells.push(pool.starts.to_string());
        }
        let (delay, group) = (&self.extra_delay_s, &self.group_delay_s);
        for seconds in [delay.mean, delay.p50, delay.p90, delay.p99, delay.max] {
            cells.push(format!("{seconds:.2}"));
        }
        cells.push(format!("{:.2}", group.mean));
        cells.push(format!("{:.2}", group.p99));
        cells.push(format!("{:.2}", self.planner_s.mean * 1e3));
        cells.push(format!("{:.2}", self.planner_s.max * 1e3));
        cells.push(self.planner_s.plans.to_string());
        let failed = self.failed_requests;
        cells.push(if failed > 0 { failed.to_string() } else { String::new() });
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_by_nearest_rank() {
        let spread = Spread::of((1..=10).rev().map(Micros::from_secs));
        assert_eq!(spread.mean(), 5.5);
        assert_eq!(spread.quantile(0.5), 5.0);
        assert_eq!(spread.quantile(0.9), 9.0);
        assert_eq!(spread.quantile(0.99), 10.0);
        assert_eq!(spread.quantile(1.0), 10.0);
        assert_eq!(Spread::of(std::iter::empty()).quantile(0.5), 0.0);
    }
}
