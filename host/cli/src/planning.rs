//! Options for pools and the planner.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use assay_core::limits;
use assay_core::plugin::check_name;
use assay_core::time::Micros;

use assay_dispatch::planning::{Bounds, PoolDefaults};
use assay_dispatch::{Discipline, PlanConfig, Policy};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// The assumed start-up time of a worker until one was measured.
const STARTUP: Micros = Micros::from_ms(100);
const DAY_SECONDS: f64 = 86_400.0;
/// The pool whose workers have GPUs unless `--workers` says otherwise.
const GPU_POOL: &str = "gpu";

#[derive(clap::Args)]
pub(super) struct PlanOptions {
    /// Number of workers of a pool, fixed (cpu=2) or planned within bounds (cpu=0..8), and the
    /// number of GPUs of each worker, 0 or 1 [default: 1 in the pool gpu, 0 in others]; may be
    /// repeated. They run on this machine, or as jobs of Slurm if the file of --slurm names the pool
    /// [default: up to one cpu worker per core, and one gpu worker per GPU]
    #[arg(long, value_name = "POOL=N|MIN..MAX[,gpus=G]", value_parser = pool_option)]
    workers: Vec<PoolOption>,
    /// Policy that plans the number of workers
    #[arg(long, value_name = "POLICY", default_value = "assay", value_parser = policy())]
    planner: Policy,
    /// Extra delay that a batch may have, in milliseconds, for runs that do not set their own
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(..=86_400_000))]
    tolerance_ms: u64,
    /// Seconds between two plans while a batch is live; its start and its end cause plans as well
    #[arg(long, default_value = "10", value_parser = period)]
    period_s: Micros,
    /// Cost of a worker of each pool, in any common unit; 1 for pools that are not listed
    #[arg(
        long,
        value_name = "POOL=COST,...",
        value_delimiter = ',',
        default_value = "cpu=1,gpu=10",
        value_parser = pool_cost
    )]
    cost: Vec<(Arc<str>, f64)>,
    /// Seconds after which an idle worker is stopped if the plan does not hold it
    #[arg(long, default_value = "30", value_parser = seconds)]
    linger_s: Micros,
    /// Seconds for which workers are kept ready for an announced batch that is overdue
    #[arg(long, default_value = "60", value_parser = seconds)]
    patience_s: Micros,
    /// Milliseconds for which a tenant without a worker waits before a worker of a tenant with
    /// several is stopped for it; 0 for no limit
    #[arg(long, value_name = "MS", default_value_t = limits::PREEMPT_AFTER_MS)]
    preempt_after_ms: u64,
    /// Milliseconds for which a stage runs before an idle worker may run it as well, if its pool lost a busy
    /// worker in the last ten minutes and it is one of the last of its batch; 0 for never
    #[arg(long, value_name = "MS", default_value_t = limits::HEDGE_AFTER_MS)]
    hedge_after_ms: u64,
}

/// The value of one `--workers`.
#[derive(Debug, Clone)]
struct PoolOption {
    pool: Arc<str>,
    bounds: Bounds,
    has_gpu: bool,
}

/// The pools as the options describe them.
pub(super) struct Pools {
    pub plan: PlanConfig,
    pub preempt_after: Option<Duration>,
    pub hedge_after: Option<Duration>,
    pub defaults: PoolDefaults,
    /// The pools whose workers have a GPU each.
    pub with_gpus: BTreeSet<Arc<str>>,
}

/// Bounds of pools that no option names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unsaid {
    /// Minimum number of CPU workers.
    pub cpu_min: usize,
    /// Maximum number of GPU workers.
    pub gpu_max: usize,
}

impl PlanOptions {
    pub(super) fn config(
        self,
        Unsaid { cpu_min, gpu_max }: Unsaid,
        discipline: Discipline,
    ) -> anyhow::Result<Pools> {
        let defaults = PoolDefaults {
            costs: self.cost.into_iter().collect(),
            startup: STARTUP,
            linger: self.linger_s,
        };
        let mut workers = self.workers;
        if workers.is_empty() {
            let cores = std::thread::available_parallelism().map_or(2, usize::from);
            let bounds = Bounds { min: cpu_min, max: cores.max(cpu_min) };
            workers.push(PoolOption { pool: "cpu".into(), bounds, has_gpu: false });
        }
        let mut with_gpus = BTreeSet::new();
        if workers.iter().all(|option| &*option.pool != GPU_POOL) {
            // Its bounds may also be set while the server runs.
            with_gpus.insert(GPU_POOL.into());
            if gpu_max > 0 {
                let bounds = Bounds { min: 0, max: gpu_max };
                workers.push(PoolOption { pool: GPU_POOL.into(), bounds, has_gpu: true });
            }
        }
        let mut pools = BTreeMap::new();
        for PoolOption { pool: name, bounds, has_gpu } in workers {
            let pool = defaults.pool(&name, bounds);
            let twice = pools.insert(Arc::clone(&name), pool).is_some();
            anyhow::ensure!(!twice, "--workers names the pool {name} twice");
            with_gpus.extend(has_gpu.then_some(name));
        }
        let count = pools.len();
        anyhow::ensure!(
            count <= limits::POOLS_MAX,
            "--workers names {count} pools, the limit is {}",
            limits::POOLS_MAX
        );
        let plan = PlanConfig {
            discipline,
            tolerance: Micros::from_ms(self.tolerance_ms),
            period: self.period_s,
            patience: self.patience_s,
            forecasts: true,
            ..PlanConfig::new(self.planner, pools)
        };
        let unless_zero = |ms: u64| (ms > 0).then_some(Duration::from_millis(ms));
        let preempt_after = unless_zero(self.preempt_after_ms);
        let hedge_after = unless_zero(self.hedge_after_ms);
        Ok(Pools { plan, preempt_after, hedge_after, defaults, with_gpus })
    }
}

/// The names of the planner's table, each with its help.
fn policy() -> impl TypedValueParser<Value = Policy> {
    let names = Policy::ALL.map(|policy| PossibleValue::new(policy.name).help(policy.summary));
    PossibleValuesParser::new(names)
        .map(|name| Policy::named(&name).expect("only names of the table are possible"))
}

/// The names of the scheduler's table, each with its help.
pub(super) fn discipline() -> impl TypedValueParser<Value = Discipline> {
    let names = Discipline::ALL.map(|row| PossibleValue::new(row.name).help(row.summary));
    PossibleValuesParser::new(names)
        .map(|name| Discipline::named(&name).expect("only names of the table are possible"))
}

fn pool_option(text: &str) -> Result<PoolOption, String> {
    let (pool, rest) =
        text.split_once('=').ok_or("write POOL=N or POOL=MIN..MAX, such as cpu=2 or cpu=0..8")?;
    let pool = pool_name(pool)?;
    let (bounds, gpus) = match rest.split_once(',') {
        Some((bounds, gpus)) => (bounds, Some(gpus)),
        None => (rest, None),
    };
    let has_gpu = match gpus {
        Some("gpus=1") => true,
        Some("gpus=0") => false,
        Some(other) => {
            return Err(format!("`{other}` is not gpus=0 or gpus=1; a worker has one GPU at most"));
        }
        // The beginning of a name used to decide; nobody shall lose a GPU unnoticed.
        None if pool.starts_with("gpu-") => {
            return Err(format!(
                "say whether the workers of {pool} have a GPU: write {text},gpus=1 or {text},gpus=0 \
                 (the name no longer says so)"
            ));
        }
        None => &*pool == GPU_POOL,
    };
    Ok(PoolOption { pool, bounds: parse_bounds(bounds)?, has_gpu })
}

fn pool_name(pool: &str) -> Result<Arc<str>, String> {
    check_name("pool", pool, limits::PLUGIN_NAME_BYTES_MAX)?;
    Ok(pool.into())
}

/// Parses `2` (always two) or `0..8` (from none to eight).
pub(super) fn parse_bounds(text: &str) -> Result<Bounds, String> {
    let count = |text: &str| {
        let count = text.parse().ok().filter(|&count: &u32| count <= limits::POOL_WORKERS_MAX);
        let count = count.ok_or_else(|| {
            format!("`{text}` is not a number of workers from 0 to {}", limits::POOL_WORKERS_MAX)
        })?;
        Ok::<usize, String>(count as usize)
    };
    let (min, max) = match text.split_once("..") {
        Some((min, max)) => (count(min)?, count(max)?),
        None => (count(text)?, count(text)?),
    };
    if min > max {
        return Err(format!("{min}..{max} has a minimum above its maximum"));
    }
    Ok(Bounds { min, max })
}

/// A number of seconds up to a day; fractions are allowed.
fn seconds(text: &str) -> Result<Micros, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=DAY_SECONDS).contains(seconds));
    let seconds: f64 = seconds
        .ok_or_else(|| format!("`{text}` is not a number of seconds from 0 to {DAY_SECONDS}"))?;
    Ok(Micros::from_secs_f64(seconds))
}

/// A planning period; the scheduler asks for no plans at shorter intervals.
fn period(text: &str) -> Result<Micros, String> {
    let least = Micros::from_ms(limits::PLAN_PAUSE_MS);
    let period = seconds(text)?;
    if period < least {
        return Err(format!("`{text}` is less than {} s", least.as_secs_f64()));
    }
    Ok(period)
}

fn pool_cost(text: &str) -> Result<(Arc<str>, f64), String> {
    let (pool, cost) = text.split_once('=').ok_or("write POOL=COST, such as gpu=10")?;
    let cost = cost.parse().ok().filter(|cost: &f64| cost.is_finite() && *cost > 0.0);
    let cost = cost.ok_or_else(|| format!("the cost of {pool} must be a number above 0"))?;
    Ok((pool_name(pool)?, cost))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: PlanOptions,
    }

    fn parse(arguments: &[&str]) -> Result<PlanConfig, String> {
        pools(arguments).map(|pools| pools.plan)
    }

    fn pools(arguments: &[&str]) -> Result<Pools, String> {
        let line = Line::try_parse_from([&["assay"], arguments].concat());
        let unsaid = Unsaid { cpu_min: 1, gpu_max: 3 };
        let options = line.map_err(|error| error.to_string())?.options;
        options.config(unsaid, Discipline::EBF).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_fixes_a_pool_and_bounds_let_it_move() {
        let config = parse(&["--workers", "cpu=2", "--workers", "gpu=0..8"]).expect("is good");
        let pool = |name: &str| (config.pools[name].min, config.pools[name].max);
        assert_eq!((pool("cpu"), pool("gpu")), ((2, 2), (0, 8)));
        assert_eq!((config.pools["cpu"].cost, config.pools["gpu"].cost), (1.0, 10.0));
        assert_eq!(config.pools["gpu"].linger, Micros::from_secs(30));
        assert_eq!((config.policy, config.tolerance), (Policy::ASSAY, Micros::from_secs(2)));
    }

    #[test]
    fn an_option_says_which_pools_have_gpus() {
        for (arguments, expected) in [
            (&[][..], &["gpu"][..]),
            (&["--workers", "cpu=1"], &["gpu"]),
            (&["--workers", "gpu=2"], &["gpu"]),
            (&["--workers", "gpu=2,gpus=0"], &[]),
            (&["--workers", "fast=0..4,gpus=1", "--workers", "cpu=1,gpus=0"], &["fast", "gpu"]),
            (
                &["--workers", "gpu-h100=1,gpus=1", "--workers", "gpu-a=1,gpus=0"],
                &["gpu", "gpu-h100"],
            ),
            (&["--workers", "gpus=1"], &["gpu"]),
        ] {
            let with_gpus = pools(arguments).expect("is good").with_gpus;
            assert_eq!(with_gpus.iter().map(|pool| &**pool).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn spans_may_be_parts_of_a_second() {
        let spans = ["--period-s", "0.5", "--linger-s", "0", "--patience-s", "1.25"];
        let config = parse(&spans).expect("is good");
        assert_eq!(
            (config.period, config.pools["cpu"].linger),
            (Micros::from_ms(500), Micros::ZERO)
        );
        assert_eq!(config.patience, Micros::from_ms(1_250));
    }

    #[test]
    fn without_a_word_pools_go_up_to_the_cores_and_gpus() {
        let config = parse(&["--planner", "fixed", "--cost", "cpu=0.5"]).expect("is good");
        assert_eq!(config.pools.len(), 2);
        assert_eq!((config.pools["gpu"].min, config.pools["gpu"].max), (0, 3));
        let cpu = &config.pools["cpu"];
        assert_eq!((cpu.min, cpu.cost), (1, 0.5));
        assert!(cpu.max >= 1);
        assert_eq!(config.policy, Policy::FIXED);
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        for (arguments, says) in [
            (&["--workers", "cpu"][..], "write POOL=N or POOL=MIN..MAX"),
            (&["--workers", "CPU=1"], "pool"),
            (&["--workers", "cpu=3..1"], "3..1 has a minimum above its maximum"),
            (&["--workers", "cpu=1..."], "`.` is not a number of workers from 0 to 1024"),
            (&["--workers", "cpu=1025"], "`1025` is not a number of workers from 0 to 1024"),
            (&["--workers", "cpu=-1"], "`-1` is not a number"),
            (&["--workers", "cpu=1", "--workers", "cpu=2"], "names the pool cpu twice"),
            (&["--workers", "gpu-a=1..2"], "write gpu-a=1..2,gpus=1 or gpu-a=1..2,gpus=0"),
            (&["--workers", "gpu=1,gpus=2"], "`gpus=2` is not gpus=0 or gpus=1"),
            (&["--workers", "gpu=1,cpus=2"], "`cpus=2` is not gpus=0 or gpus=1"),
            (&["--cost", "gpu=free"], "the cost of gpu must be a number above 0"),
            (&["--cost", "gpu=NaN"], "above 0"),
            (&["--period-s", "0"], "`0` is less than 0.1 s"),
            (&["--period-s", "x"], "`x` is not a number of seconds from 0 to 86400"),
            (&["--linger-s=-1"], "`-1` is not a number of seconds"),
            (&["--patience-s", "NaN"], "`NaN` is not a number of seconds"),
            (&["--patience-s", "86401"], "from 0 to 86400"),
            (&["--planner", "best"], "possible values: assay, distrs, history, zq, fixed"),
        ] {
            let said = parse(arguments).expect_err("is refused");
            assert!(said.contains(says), "`{says}` is not in `{said}`");
        }
    }
}
