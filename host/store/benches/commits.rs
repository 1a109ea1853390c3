//! What the group commits cost: time a commit, by what it holds.
//!
//! It needs a PostgreSQL that it may fill:
//! `assay-postgres FOLDER cargo bench -p assay-store`.

use std::sync::OnceLock;
use std::time::Duration;
use std::time::Instant;

use assay_api::batch::{BatchState, Consumes};
use assay_api::result::Counts;
use assay_api::tenant::TenantSettings;
use assay_api::view::{Histogram, Quantiles, Rewards, Rollup, StageStats};
use assay_core::id::{BatchId, Digest, TenantId};
use assay_core::time::Micros;
use assay_store::Store;
use assay_store::admissions::{self, Admission, Admitted, BatchMark, BatchRow, RequestRow};
use assay_store::audit::Actor;
use assay_store::history::HistoryRow;
use assay_store::outcomes::{self, EndRow, OutcomeRow, Record, Recorded};
use assay_store::runs::RunRow;
use assay_store::summaries::BatchSummaryRow;
use assay_store::usage::UsageRow;
use criterion::{BenchmarkId, Criterion};
use sqlx::postgres::PgConnectOptions;
use sqlx::{Connection as _, PgConnection};
use tokio::runtime::Runtime;

/// A new tenant for each run of the benchmark.
static TENANT: OnceLock<TenantId> = OnceLock::new();
const AT: Micros = Micros::from_secs(1_790_000_000);
const RUN: &str = "bench";
const SIZES: [u32; 3] = [1, 32, 512];
const BODY_BYTES: usize = 2_048;

fn main() {
    let url = std::env::var("DATABASE_URL").expect("DATABASE_URL names a PostgreSQL to fill");
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut connection = runtime.block_on(connect(&url));
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("commit");
    let mut bench = |name: &str, size: u32, make: &dyn Fn(u32) -> Group| {
        group.bench_function(BenchmarkId::new(name, size), |bench| {
            bench.iter_custom(|count| time(&runtime, &mut connection, count, || make(size)));
        });
    };
    bench("announcement", 1, &|_| Group::default().announcement());
    for size in [15, 16, 64, 256] {
        bench("outcomes", size, &|size| Group::announced().outcomes(size));
    }
    for size in SIZES {
        bench("requests", size, &|size| Group::announced().requests(size));
        bench("outcomes", size, &|size| Group::announced().outcomes(size));
        bench("end", size, &|size| Group::announced().outcomes(size).end(size));
    }
    group.finish();
    criterion.final_summary();
    for size in SHAPES {
        let batches = Shape { name: "as rows (of batches with 15)", batch_size: ROWS_EACH };
        for shape in [Shape { name: "of one batch", batch_size: size }, batches] {
            runtime.block_on(print_cost(&mut connection, size, shape));
        }
    }
}

/// The outcomes of a commit whose processor time is measured: few, whose cost is the commit's, and many.
const SHAPES: [u32; 8] = [4, 8, 15, 16, 32, 64, 256, 1_000];
/// So few outcomes of a batch are stored as rows.
const ROWS_EACH: u32 = 15;
const COMMITS: u32 = 400;

struct Shape {
    name: &'static str,
    /// The outcomes of each of the commit's batches.
    batch_size: u32,
}

/// Prints what PostgreSQL takes for an outcome: processor time of the connection's process, and write-ahead log.
async fn print_cost(connection: &mut PgConnection, size: u32, shape: Shape) {
    let commits = COMMITS.min(64_000 / size);
    let groups: Vec<Vec<Recorded>> = (0..commits)
        .map(|_| {
            let starts = (0..size).step_by(shape.batch_size as usize);
            let sizes = starts.map(|start| shape.batch_size.min(size - start));
            sizes.flat_map(|count| Group::default().outcomes(count).recorded).collect()
        })
        .collect();
    let before = Cost::read(connection).await;
    for group in &groups {
        let group: Vec<_> = group.iter().collect();
        outcomes::write(connection, &group).await.expect("a commit");
    }
    let after = Cost::read(connection).await;
    let outcomes = f64::from(commits * size);
    println!(
        "{size:5} outcomes a commit, {:30} {:6.2} us {:6.0} B of WAL an outcome",
        shape.name,
        (after.processor_us - before.processor_us) / outcomes,
        (after.wal_bytes - before.wal_bytes) / outcomes,
    );
}

struct Cost {
    processor_us: f64,
    wal_bytes: f64,
}

impl Cost {
    async fn read(connection: &mut PgConnection) -> Self {
        let (pid, wal_bytes): (i32, f64) = sqlx::query_as(
            "select pg_backend_pid(), pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8",
        )
        .fetch_one(connection)
        .await
        .expect("PostgreSQL tells");
        // The first number of it is the time on a processor in nanoseconds.
        let times = std::fs::read_to_string(format!("/proc/{pid}/schedstat"));
        let times = times.expect("PostgreSQL runs on this machine");
        let first = times.split(' ').next().and_then(|it| it.parse::<f64>().ok());
        Self { processor_us: first.expect("a number") / 1e3, wal_bytes }
    }
}

fn tenant() -> TenantId {
    *TENANT.get().expect("the benchmark has connected")
}

async fn connect(url: &str) -> PgConnection {
    let store = Store::connect(url).await.expect("the database answers");
    let run = RunRow {
        plugin: "math".into(),
        version: "1".into(),
        digest: Digest([7; 32]),
        settings: "{}".into(),
    };
    let name = format!("bench-{}", BatchId::generate());
    let settings = TenantSettings::default();
    let made =
        store.create_tenant(&name, &settings, &Actor::Platform, AT).await.expect("a new tenant");
    let tenant = *TENANT.get_or_init(|| made.id);
    store.pin_run(tenant, RUN, run, AT).await.expect("the run is pinned");
    store.close().await;
    // As the group commits connect.
    let options: PgConnectOptions = url.parse().expect("an address of PostgreSQL");
    let options = options.options([("plan_cache_mode", "force_generic_plan")]);
    PgConnection::connect_with(&options).await.expect("the database answers")
}

/// The time of `count` commits, without what comes before each.
fn time(
    runtime: &Runtime,
    connection: &mut PgConnection,
    count: u64,
    make: impl Fn() -> Group,
) -> Duration {
    let mut elapsed = Duration::ZERO;
    for _ in 0..count {
        let Group { before, admitted, recorded, .. } = make();
        let (before, admitted): (Vec<_>, Vec<_>) =
            (before.iter().collect(), admitted.iter().collect());
        let recorded: Vec<_> = recorded.iter().collect();
        elapsed += runtime.block_on(async {
            admissions::write(connection, &before).await.expect("the batch is announced");
            let start = Instant::now();
            admissions::write(connection, &admitted).await.expect("a commit");
            outcomes::write(connection, &recorded).await.expect("a commit");
            start.elapsed()
        });
    }
    elapsed
}

/// One group commit, and the announcement of its batch before it.
struct Group {
    batch: BatchId,
    before: Vec<Admitted>,
    admitted: Vec<Admitted>,
    recorded: Vec<Recorded>,
}

impl Default for Group {
    fn default() -> Self {
        let batch = BatchId::generate();
        Self { batch, before: Vec::new(), admitted: Vec::new(), recorded: Vec::new() }
    }
}

impl Group {
    fn announced() -> Self {
        let mut group = Self::default().announcement();
        group.before = std::mem::take(&mut group.admitted);
        group
    }

    fn announcement(mut self) -> Self {
        let row = BatchRow {
            tenant: tenant(),
            id: self.batch,
            run: RUN.into(),
            iteration: 1,
            plugin: "math".into(),
            version: "1".into(),
            digest: Digest([7; 32]),
            settings: "{}".into(),
            expected_size: None,
            group_size: Some(8),
            max_extra_delay_ms: None,
            consumes: Consumes::Batch,
            share_equal: true,
            idle_ms: None,
            idempotency: None,
            announced_at: AT,
            sealed_at: None,
        };
        self.admit(Admission { batch: Some(row), ..Admission::default() });
        self
    }

    fn requests(mut self, count: u32) -> Self {
        let requests = (0..count).map(|seq| RequestRow {
            seq,
            key: format!("request-{seq}"),
            group: Some(format!("group-{}", seq / 8)),
            body: vec![b'x'; BODY_BYTES].into(),
            expected_ms: None,
        });
        let mark = BatchMark { first_request_at: Some(AT), sealed_at: None };
        self.admit(Admission { batch: None, requests: requests.collect(), mark });
        self
    }

    fn admit(&mut self, admission: Admission) {
        self.admitted.push(Admitted { tenant: tenant(), batch: self.batch, at: AT, admission });
    }

    fn outcomes(mut self, count: u32) -> Self {
        for seq in 0..count {
            let result = result(self.batch, seq);
            self.record(Record::Outcome(OutcomeRow {
                seq,
                position: seq + 1,
                kind: "scored",
                reward: Some(1.0),
                verdict: "correct_exact".into(),
                earliest_end_at: AT,
                finished_at: AT,
                shared: false,
                result: result.into(),
            }));
        }
        self
    }

    fn end(mut self, size: u32) -> Self {
        let usage = UsageRow {
            pool: "cpu".into(),
            requests: size,
            worker_seconds: f64::from(size),
            cost: f64::from(size),
        };
        self.record(Record::End(EndRow {
            state: BatchState::Done,
            ended_at: AT,
            earliest_end_at: Some(AT),
            tolerance: Micros::ZERO,
            counts: Counts { submitted: size, scored: size, ..Counts::default() },
            reward_sum: f64::from(size),
            usage: vec![usage],
            history: Some(Box::new(history(self.batch, size))),
            summary: Some(Box::new(summary(size))),
        }));
        self
    }

    fn record(&mut self, record: Record) {
        self.recorded.push(Recorded { tenant: tenant(), batch: self.batch, record });
    }
}

/// About what a short plugin leaves; times and numbers differ, so that it compresses as results do.
fn result(batch: BatchId, seq: u32) -> String {
    let (cursor, group, answer) = (seq + 1, seq / 8, u64::from(seq) * 7_919 % 10_007);
    let (queued, ran) = ((answer * 31) % 9_973, (answer * 17) % 997);
    format!(
        r#"{{"cursor":{cursor},"id":"{batch}-{seq}","key":"request-{seq}","group":"group-{group}","outcome":{{"kind":"scored","reward":1.0,"verdict":"correct_exact","components":{{"exact":1.0}},"explanation":"the answer {answer} equals the label {answer}"}},"stages":[{{"stage":"score","queued_ms":{queued}.{ran},"ran_ms":0.0{ran},"attempts":1}}]}}"#
    )
}

fn history(batch: BatchId, size: u32) -> HistoryRow {
    let times: Vec<i64> = (0..size).map(|seq| i64::from(seq) * 1_003).collect();
    HistoryRow {
        tenant: tenant(),
        batch,
        run: RUN.into(),
        digest: vec![7; 32],
        stages: r#"[{"name":"score","pool":"cpu","timeout_ms":1000,"retries_max":2}]"#.into(),
        announced_at: AT,
        first_arrival_at: AT,
        earliest_end_at: AT,
        ended_at: AT,
        worker_seconds: r#"{"cpu":12.5}"#.into(),
        arrived_us: times.clone(),
        ran_us: times,
        endings: "s".repeat(size as usize),
    }
}

fn summary(size: u32) -> BatchSummaryRow {
    let histogram = Histogram { from: 0.0, to: 1.0, counts: vec![size / 20; 20] };
    let stage = StageStats {
        stage: "score".into(),
        pool: "cpu".into(),
        timeout_ms: 1_000,
        requests: size,
        retries: 0,
        queued: Quantiles::default(),
        ran: Quantiles::default(),
        ran_counts: vec![size / 24; 24],
    };
    let by_pool = [("cpu".to_owned(), f64::from(size))];
    let summary = Rollup {
        rewards: Some(Rewards { count: size, mean: 0.5, std: 0.25, min: 0.0, max: 1.0, histogram }),
        verdicts: [("correct_exact".to_owned(), size)].into(),
        errors: [].into(),
        groups: size / 8,
        complete_groups: size / 8,
        zero_variance_groups: 0,
        worker_seconds: by_pool.clone().into(),
        cost: by_pool.into(),
        critical_seq: Some(0),
        last_seq: Some(0),
        expected: None,
        stages: vec![stage],
    };
    BatchSummaryRow { run: RUN.into(), plugin: "math".into(), version: "1".into(), summary }
}
