//! Outcomes as rows and as segments, on a real PostgreSQL: whatever is repeated and however it is cut, each is there once
//! and every reader sees it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use assay_api::batch::{BatchState, Consumes};
use assay_api::result::Counts;
use assay_api::tenant::TenantSettings;
use assay_core::id::{Digest, RequestId};
use assay_core::time::Micros;
use bytes::Bytes;
use sqlx::Connection as _;

use super::super::admissions::{self, Admission, Admitted, BatchMark, BatchRow, RequestRow};
use super::super::audit::Actor;
use super::super::restore::LiveRequestState;
use super::super::runs::RunRow;
use super::super::test_cluster::TestCluster;
use super::super::views::logs::LogFilter;
use super::super::views::requests::RequestFilter;
use super::super::views::samples::Texts;
use super::super::{CommitError, Store, StoreError};
use super::*;

const AT: Micros = Micros::from_secs(1_790_000_000);
const SIZE: u32 = 3_000;

/// A deterministic sequence of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = usize::try_from(self.below(last as u64 + 1)).expect("a place");
            items.swap(last, other);
        }
    }
}

struct Database {
    cluster: TestCluster,
    store: Store,
    writer: PgConnection,
    tenant: TenantId,
}

impl Database {
    async fn start() -> Self {
        let cluster = TestCluster::start().await;
        let store = cluster.connect().await;
        let writer = store.writer().await.expect("nobody holds the lock");
        let settings = TenantSettings::default();
        let made = store.create_tenant("one", &settings, &Actor::Platform, AT).await;
        let tenant = made.expect("a new tenant").id;
        let run = RunRow {
            plugin: "math".into(),
            version: "1".into(),
            digest: Digest([7; 32]),
            settings: "{}".into(),
        };
        store.pin_run(tenant, "run", run, AT).await.expect("the run is pinned");
        Self { cluster, store, writer, tenant }
    }

    async fn stop(self) {
        self.writer.close().await.expect("it closes");
        self.store.close().await;
        self.cluster.stop().await;
    }

    /// Announces a batch with its requests.
    async fn batch(&mut self) -> BatchId {
        let batch = BatchId::generate();
        let row = BatchRow {
            tenant: self.tenant,
            id: batch,
            run: "run".into(),
            iteration: 1,
            plugin: "math".into(),
            version: "1".into(),
            digest: Digest([7; 32]),
            settings: "{}".into(),
            expected_size: Some(SIZE),
            group_size: None,
            max_extra_delay_ms: None,
            consumes: Consumes::Batch,
            share_equal: true,
            idle_ms: None,
            idempotency: None,
            announced_at: AT,
            sealed_at: None,
        };
        let requests = (0..SIZE).map(|seq| RequestRow {
            seq,
            key: format!("request-{seq}"),
            group: Some(format!("group-{}", seq / 8)),
            body: vec![b'x'; 10].into(),
            expected_ms: None,
        });
        let admitted = [
            Admission { batch: Some(row), ..Admission::default() },
            Admission {
                batch: None,
                requests: requests.collect(),
                mark: BatchMark { first_request_at: Some(AT), sealed_at: None },
            },
        ]
        .map(|admission| Admitted { tenant: self.tenant, batch, at: AT, admission });
        let admitted: Vec<_> = admitted.iter().collect();
        admissions::write(&mut self.writer, &admitted).await.expect("they are written");
        batch
    }

    fn recorded(&self, batch: BatchId, seq: u32, position: u32) -> Recorded {
        let (kind, reward, verdict) = match seq % 7 {
            0 => ("error", None, "worker_lost"),
            1 => ("timed_out", Some(-1.0), "timed_out"),
            2 => ("scored", Some(f64::from(seq) / 3.0), "wrong \"quoted\" {word}"),
            _ => ("scored", Some(1.0), "right"),
        };
        let text = ["text", "null", "with \u{1f600} and \\n", "{a,b}"][seq as usize % 4];
        let result = serde_json::json!({ "cursor": position, "seq": seq, "text": text });
        let row = OutcomeRow {
            seq,
            position,
            kind,
            reward,
            verdict: verdict.into(),
            earliest_end_at: AT + Micros(u64::from(seq)),
            finished_at: AT + Micros(2 * u64::from(seq)),
            shared: false,
            result: result.to_string().into(),
        };
        Recorded { tenant: self.tenant, batch, record: Record::Outcome(row) }
    }

    async fn write(&mut self, group: &[Recorded]) -> Result<(), CommitError> {
        let group: Vec<_> = group.iter().collect();
        Ok(write(&mut self.writer, &group).await?)
    }

    async fn number(&mut self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&mut self.writer).await.expect("it counts")
    }

    async fn stored(&mut self) -> (i64, i64) {
        let rows = self.number("select count(*) from outcome_rows").await;
        (rows, self.number("select count(*) from outcome_segments").await)
    }

    /// Every reader sees exactly the outcomes of `model`: numbers by position, from 1.
    async fn check(&self, batch: BatchId, model: &[u32]) {
        let (store, tenant) = (&self.store, self.tenant);
        let told: Vec<_> = model
            .iter()
            .zip(1..)
            .map(|(seq, position)| {
                let Record::Outcome(row) = self.recorded(batch, *seq, position).record else {
                    unreachable!("it is an outcome");
                };
                row
            })
            .collect();
        let mut after = 0;
        for page in told.chunks(333) {
            let read = store.results(tenant, batch, after, 333).await.expect("answers");
            let wanted: Vec<_> = page.iter().map(|it| (it.position, it.result.clone())).collect();
            assert_eq!(read, wanted);
            after += 333;
        }
        assert_eq!(store.results(tenant, batch, after, 333).await.expect("answers"), []);

        let by_seq: BTreeMap<u32, &OutcomeRow> = told.iter().map(|row| (row.seq, row)).collect();
        for seq in (0..SIZE).step_by(37) {
            let read = store.result(tenant, RequestId { batch, seq }).await.expect("answers");
            assert_eq!(read.map(Bytes::from), by_seq.get(&seq).map(|row| row.result.clone()));
        }
        self.check_restored(batch, &by_seq).await;
        self.check_samples(batch, &by_seq).await;
        self.check_listed(batch, &by_seq).await;
    }

    async fn check_restored(&self, batch: BatchId, by_seq: &BTreeMap<u32, &OutcomeRow>) {
        let live = self.store.live_requests(self.tenant, batch).await.expect("answers");
        assert_eq!(live.len(), SIZE as usize);
        for row in live {
            match (row.state, by_seq.get(&row.seq)) {
                (LiveRequestState::Waiting { body, .. }, None) => assert_eq!(body.len(), 10),
                (
                    LiveRequestState::Finished { position, earliest_end_at, reward, kind, result },
                    Some(row),
                ) => {
                    assert_eq!((position, earliest_end_at), (row.position, row.earliest_end_at));
                    assert_eq!((reward, &*kind), (row.reward, row.kind));
                    assert_eq!(result, row.result);
                }
                (_, wanted) => panic!("{} is told otherwise than {wanted:?}", row.seq),
            }
        }
    }

    async fn check_samples(&self, batch: BatchId, by_seq: &BTreeMap<u32, &OutcomeRow>) {
        let (mut after, mut read) = (None, 0);
        loop {
            let piece = self.store.samples(self.tenant, batch, after, Texts::LeftOut).await;
            let piece = piece.expect("answers");
            let Some(last) = piece.last() else { break };
            after = Some(last.seq);
            read += piece.len();
            for row in piece {
                let wanted = by_seq.get(&row.seq);
                assert_eq!(row.verdict.as_ref(), wanted.map(|it| &it.verdict));
                assert_eq!(row.finished_at, wanted.map(|it| it.finished_at));
                assert_eq!(row.result.map(Bytes::from), wanted.map(|it| it.result.clone()));
            }
        }
        assert_eq!(read, SIZE as usize);
    }

    async fn check_listed(&self, batch: BatchId, by_seq: &BTreeMap<u32, &OutcomeRow>) {
        for (verdict, after) in [("right", None), ("worker_lost", Some(1_500))] {
            let filter = RequestFilter {
                verdict: Some(verdict.into()),
                after,
                limit: 50,
                ..RequestFilter::default()
            };
            let listed = self.store.requests(self.tenant, batch, &filter).await.expect("answers");
            let wanted = by_seq
                .values()
                .filter(|row| row.verdict == verdict && after.is_none_or(|after| row.seq > after));
            let wanted: Vec<_> = wanted.map(|row| (row.seq, row.reward)).take(50).collect();
            assert_eq!(listed.iter().map(|it| (it.seq, it.reward)).collect::<Vec<_>>(), wanted);
        }
        let filter = RequestFilter { limit: 700, ..RequestFilter::default() };
        let listed = self.store.requests(self.tenant, batch, &filter).await.expect("answers");
        let wanted = (0..700).map(|seq| by_seq.get(&seq).map(|row| row.kind.to_owned()));
        assert_eq!(
            listed.into_iter().map(|it| it.kind).collect::<Vec<_>>(),
            wanted.collect::<Vec<_>>()
        );
        let filter = LogFilter::default();
        let logs = self.store.ended_logs(self.tenant, batch, &filter, (0, 0), 10).await;
        assert!(logs.expect("answers").is_empty());
    }
}

/// Commits as a dispatcher makes them, and repeats of them in every cut: whole, halved, one by one, mixed with new ones.
#[tokio::test]
async fn however_a_commit_is_repeated_each_outcome_is_there_once() {
    let mut database = Database::start().await;
    for seed in 0..4 {
        let mut random = Random(seed);
        let batches = [database.batch().await, database.batch().await];
        // Nearly in order, as workers end them, or in no order.
        let mut orders = batches.map(|_| (0..SIZE).collect::<Vec<u32>>());
        for order in &mut orders {
            let disorder = [1, 40, 500, SIZE as usize][usize::try_from(seed).expect("small")];
            order.chunks_mut(disorder).for_each(|part| random.shuffle(part));
        }
        let mut done = [0_usize; 2];
        while done.iter().any(|done| *done < SIZE as usize) {
            let mut group = Vec::new();
            for (at, batch) in batches.into_iter().enumerate() {
                let most = [3, 20, 70, 400][usize::try_from(random.below(4)).expect("small")];
                let left = SIZE as usize - done[at];
                let count = usize::try_from(random.below(most)).expect("small").min(left);
                let ended = orders[at][done[at]..done[at] + count].iter().zip(done[at] + 1..);
                group.extend(ended.map(|(seq, position)| {
                    database.recorded(batch, *seq, u32::try_from(position).expect("small"))
                }));
                done[at] += count;
            }
            // Sometimes half of it is there from a try that nobody heard of.
            let split = usize::try_from(random.below(3 * group.len() as u64 + 1)).expect("small");
            if split < group.len() {
                database.write(&group[..split]).await.expect("they are new");
                if split > 0 {
                    let before = database.stored().await;
                    repeated(database.write(&group).await);
                    assert_eq!(database.stored().await, before, "a refused commit left something");
                }
                database.write(&group[split..]).await.expect("they are new");
            } else {
                database.write(&group).await.expect("they are new");
            }
            repeat_somehow(&mut database, &mut random, &group).await;
        }
        for (batch, order) in batches.into_iter().zip(&orders) {
            database.check(batch, order).await;
        }
        let (rows, segments) = database.stored().await;
        assert!(rows > 0 && segments > 0, "{rows} rows, {segments} segments");
    }
    database.stop().await;
}

async fn repeat_somehow(database: &mut Database, random: &mut Random, group: &[Recorded]) {
    if group.is_empty() {
        return;
    }
    let before = database.stored().await;
    let place =
        |random: &mut Random| usize::try_from(random.below(group.len() as u64)).expect("a place");
    let (from, to) = (place(random), place(random));
    let (from, to) = (from.min(to), from.max(to) + 1);
    repeated(database.write(&group[from..to]).await);
    repeated(database.write(&group[from..=from]).await);
    assert_eq!(database.stored().await, before);
}

fn repeated(written: Result<(), CommitError>) {
    assert!(matches!(written, Err(CommitError::Repeat(_))), "{written:?}");
}

/// The connection is lost while the database still writes, and the repeat comes before it is done.
#[tokio::test]
async fn a_repeat_waits_for_the_try_that_was_lost() {
    let mut database = Database::start().await;
    let batch = database.batch().await;
    let group: Vec<_> = (0..100).map(|seq| database.recorded(batch, seq, seq + 1)).collect();
    for stored_in in ["outcome_segments", "outcome_rows"] {
        let group = if stored_in == "outcome_rows" { &group[95..] } else { &group[..95] };
        let mut blocker = database.store.writer().await.expect("it connects");
        let mut block = blocker.begin().await.expect("begins");
        let lock = format!("lock table {stored_in} in share mode");
        sqlx::query(sqlx::AssertSqlSafe(lock)).execute(&mut *block).await.expect("locks");

        let mut lost = database.store.writer().await.expect("it connects");
        let writes: Vec<_> = group.iter().collect();
        let first = tokio::time::timeout(Duration::from_millis(300), write(&mut lost, &writes));
        assert!(first.await.is_err(), "it waits for the lock");
        drop(lost);
        let again = database.write(group);
        let unlock = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            block.rollback().await.expect("unlocks");
        };
        let (again, ()) = tokio::join!(again, unlock);
        // The database notices that its client is gone only when it answers, if at all.
        assert!(matches!(again, Ok(()) | Err(CommitError::Repeat(_))), "{again:?}");
        blocker.close().await.expect("it closes");
    }
    // Both tries are over, whoever came first.
    let order: Vec<u32> = (0..100).collect();
    database.check(batch, &order).await;
    database.stop().await;
}

#[tokio::test]
async fn old_batches_leave_neither_rows_nor_segments_nor_bytes() {
    let mut database = Database::start().await;
    let (old, kept) = (database.batch().await, database.batch().await);
    let mut random = Random(9);
    let mut order: Vec<u32> = (0..SIZE).collect();
    order.chunks_mut(60).for_each(|part| random.shuffle(part));
    for batch in [old, kept] {
        let numbered: Vec<_> = order.iter().copied().zip(1..).collect();
        for part in numbered.chunks(210) {
            let group: Vec<_> =
                part.iter().map(|(seq, place)| database.recorded(batch, *seq, *place)).collect();
            database.write(&group).await.expect("they are new");
        }
        let bytes: i64 = database.number("select sum(bytes)::bigint from stored_bytes").await;
        let counted = database
            .number(
                "select (select sum(octet_length(body)) from requests)
                    + (select sum(octet_length(result)) from all_results)",
            )
            .await;
        assert_eq!(bytes, counted);
    }
    let all = database.stored().await;
    assert!(all.0 > 0 && all.1 > 0, "{all:?}");
    let end = Recorded { tenant: database.tenant, batch: old, record: Record::End(end()) };
    database.write(&[end]).await.expect("it ends");
    let mut told = BTreeSet::new();
    let (store, tenant) = (&database.store, database.tenant);
    let purged = store
        .purge_batches(tenant, AT + Micros::from_secs(9), AT, |batch| {
            told.insert(batch);
        })
        .await;
    assert_eq!((purged.expect("answers"), told), (1, BTreeSet::from([old])));
    let read = store.results(tenant, old, 0, 10).await.expect_err("they are deleted");
    assert!(matches!(read, StoreError::Expired(AT)), "{read}");
    database.check(kept, &order).await;
    assert_eq!(database.stored().await, (all.0 / 2, all.1 / 2));
    let bytes = database.number("select sum(bytes)::bigint from stored_bytes").await;
    let counted = database
        .number(
            "select (select sum(octet_length(body)) from requests)
                + (select sum(octet_length(result)) from all_results)",
        )
        .await;
    assert_eq!(bytes, counted);
    database.stop().await;
}

/// Requests that came while their batch was cancelled are committed after its end, which does not count them.
#[tokio::test]
async fn what_came_while_a_batch_was_cancelled_is_deleted_with_it() {
    let mut database = Database::start().await;
    let batch = database.batch().await;
    let end = EndRow { counts: Counts::default(), ..end() };
    let end = Recorded { tenant: database.tenant, batch, record: Record::End(end) };
    database.write(&[end]).await.expect("it ends");
    let before = AT + Micros::from_secs(9);
    let purged = database.store.purge_batches(database.tenant, before, AT, |_| {}).await;
    assert_eq!(purged.expect("answers"), 1);
    assert_eq!(database.number("select count(*) from requests").await, 0);
    assert_eq!(database.number("select sum(bytes)::bigint from stored_bytes").await, 0);
    database.stop().await;
}

fn end() -> EndRow {
    EndRow {
        state: BatchState::Cancelled,
        ended_at: AT,
        earliest_end_at: Some(AT),
        tolerance: Micros::ZERO,
        counts: Counts { submitted: SIZE, ..Counts::default() },
        reward_sum: 0.0,
        usage: Vec::new(),
        history: None,
        summary: None,
    }
}

/// A server of the release before knows one table of outcomes.
#[tokio::test]
async fn the_release_before_reads_writes_and_deletes_both() {
    let mut database = Database::start().await;
    let batch = database.batch().await;
    let group: Vec<_> = (0..100).map(|seq| database.recorded(batch, seq, seq + 1)).collect();
    database.write(&group[..90]).await.expect("they are new");
    assert_eq!(database.stored().await, (0, 2));

    for (recorded, is_new) in group.iter().zip(0..).map(|(it, at)| (it, at >= 90)) {
        let Record::Outcome(row) = &recorded.record else { unreachable!("it is an outcome") };
        let written = sqlx::query(
            "with new_outcomes as (
                insert into outcomes (
                    tenant_id, batch_id, seq, position, kind, reward, verdict, earliest_end_at,
                    finished_at, result
                )
                select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10::json
            )
            select 1",
        )
        .bind(recorded.tenant.0)
        .bind(batch.0)
        .bind(row.seq.cast_signed())
        .bind(row.position.cast_signed())
        .bind(row.kind)
        .bind(row.reward)
        .bind(&row.verdict)
        .bind(row.earliest_end_at.to_datetime())
        .bind(row.finished_at.to_datetime())
        .bind(std::str::from_utf8(&row.result).expect("JSON is UTF-8"))
        .execute(&mut database.writer)
        .await;
        match written {
            Ok(_) => assert!(is_new, "{} is there twice", row.seq),
            Err(error) => {
                assert!(!is_new, "{error}");
                repeated(Err(error.into()));
            }
        }
    }
    assert_eq!(database.stored().await, (10, 2));
    let order: Vec<u32> = (0..100).collect();
    database.check(batch, &order).await;
    let bytes = database.number("select sum(octet_length(result::text)) from outcomes").await;
    let deleted = database
        .number(
            "with old as (
                delete from outcomes where seq >= 0 and seq < 5000
                returning octet_length(result::text)::bigint as bytes
            )
            select sum(bytes)::bigint from old",
        )
        .await;
    assert_eq!(deleted, bytes);
    assert_eq!(database.stored().await, (0, 0));
    database.stop().await;
}
