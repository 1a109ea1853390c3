//! How the outcomes of a commit are cut: many of one batch become segments, few stay rows.
//!
//! ```text
//!   outcomes of a commit ── by batch and block ──┬── few, or large ──> rows of `outcome_rows`
//!                                                └── many ───────────> `outcome_segments`, of even sizes
//! ```
//!
//! The same group is always cut in the same way: a commit that is repeated has the same keys.

use assay_core::id::{BatchId, TenantId};
use assay_core::time::Micros;
use bytes::Bytes;
use time::OffsetDateTime;
use uuid::Uuid;

/// The outcomes from which on a segment takes less time than rows.
const OUTCOMES_MIN: usize = 16;
/// A segment of so many fits into a page of the database, and each is read in a few microseconds.
const OUTCOMES_MAX: usize = 64;
/// The bytes of a segment's results. To read one of them, all are decompressed.
const RESULT_BYTES_MAX: usize = 64 << 10;
/// A segment's requests have their numbers in one block of 1,024: the SQL says `seq >> 10`.
const BLOCK_BITS: u32 = 10;

#[derive(Debug)]
pub struct OutcomeRow {
    pub seq: u32,
    /// Place in the order in which the batch's requests ended, from 1.
    pub position: u32,
    pub kind: &'static str,
    pub reward: Option<f64>,
    pub verdict: String,
    pub earliest_end_at: Micros,
    pub finished_at: Micros,
    /// Whether the computation was an equal request's; `result` names that request.
    pub shared: bool,
    /// The `ResultItem` for the trainer, as JSON.
    pub result: Bytes,
}

/// An outcome, and whose it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenOutcome<'a> {
    pub tenant: TenantId,
    pub batch: BatchId,
    pub row: &'a OutcomeRow,
}

impl WrittenOutcome<'_> {
    fn place(&self) -> (TenantId, BatchId, u32) {
        (self.tenant, self.batch, self.row.seq)
    }

    fn block(&self) -> (TenantId, BatchId, u32) {
        (self.tenant, self.batch, self.row.seq >> BLOCK_BITS)
    }
}

#[derive(Debug)]
pub(super) enum OutcomePiece<'a> {
    Rows(Vec<WrittenOutcome<'a>>),
    /// In ascending order of their numbers, each once.
    Segment(Vec<WrittenOutcome<'a>>),
}

/// Cuts the outcomes of one commit. A group that holds an outcome twice stays rows, whose key refuses it.
pub(super) fn cut(mut outcomes: Vec<WrittenOutcome<'_>>) -> Vec<OutcomePiece<'_>> {
    if outcomes.len() < OUTCOMES_MIN {
        return vec![OutcomePiece::Rows(outcomes)];
    }
    outcomes.sort_by_key(WrittenOutcome::place);
    if outcomes.windows(2).any(|pair| pair[0].place() == pair[1].place()) {
        return vec![OutcomePiece::Rows(outcomes)];
    }
    let blocks = outcomes.chunk_by(|one, next| one.block() == next.block());
    blocks.flat_map(pieces).collect()
}

/// The pieces of one block.
fn pieces<'a>(block: &[WrittenOutcome<'a>]) -> Vec<OutcomePiece<'a>> {
    let count = block.len().div_ceil(OUTCOMES_MAX);
    let even = block.chunks(block.len().div_ceil(count));
    even.flat_map(|piece| {
        let mut bytes = 0;
        // A piece ends before the outcome with which its results would be too large.
        piece.chunk_by(move |one, next| {
            bytes += one.row.result.len();
            let fits = bytes + next.row.result.len() <= RESULT_BYTES_MAX;
            if !fits {
                bytes = 0;
            }
            fits
        })
    })
    .map(|piece| match piece.len() {
        ..OUTCOMES_MIN => OutcomePiece::Rows(piece.to_vec()),
        _ => OutcomePiece::Segment(piece.to_vec()),
    })
    .collect()
}

/// The columns that an outcome has in a row and in a segment.
#[derive(Default)]
pub(super) struct FactColumns<'a> {
    pub seq: Vec<i32>,
    pub position: Vec<i32>,
    pub kind: Vec<&'static str>,
    pub reward: Vec<Option<f64>>,
    pub verdict: Vec<&'a str>,
    pub earliest_end_at: Vec<OffsetDateTime>,
    pub finished_at: Vec<OffsetDateTime>,
    pub result: Vec<&'a str>,
}

impl<'a> FactColumns<'a> {
    pub(super) fn push(&mut self, row: &'a OutcomeRow) {
        self.seq.push(row.seq.cast_signed());
        self.position.push(row.position.cast_signed());
        self.kind.push(row.kind);
        self.reward.push(row.reward);
        self.verdict.push(&row.verdict);
        self.earliest_end_at.push(row.earliest_end_at.to_datetime());
        self.finished_at.push(row.finished_at.to_datetime());
        self.result.push(std::str::from_utf8(&row.result).expect("JSON is UTF-8"));
    }
}

/// Segments one after the other: where each begins and ends among the facts of all, counted from 1.
#[derive(Default)]
pub(super) struct SegmentColumns<'a> {
    pub tenant: Vec<Uuid>,
    pub batch: Vec<Uuid>,
    pub head: Vec<i32>,
    pub tail: Vec<i32>,
    pub first_position: Vec<i32>,
    pub last_position: Vec<i32>,
    pub result_bytes: Vec<i64>,
    pub facts: FactColumns<'a>,
}

impl<'a> SegmentColumns<'a> {
    pub(super) fn push(&mut self, outcomes: &[WrittenOutcome<'a>]) {
        let Some(first) = outcomes.first() else { return };
        let number = |count: usize| i32::try_from(count).expect("a commit is within its limit");
        let head = self.facts.seq.len();
        outcomes.iter().for_each(|outcome| self.facts.push(outcome.row));
        let positions = &self.facts.position[head..];
        self.first_position.extend(positions.iter().min());
        self.last_position.extend(positions.iter().max());
        self.tenant.push(first.tenant.0);
        self.batch.push(first.batch.0);
        self.head.push(number(head + 1));
        self.tail.push(number(head + outcomes.len()));
        let bytes: usize = outcomes.iter().map(|outcome| outcome.row.result.len()).sum();
        self.result_bytes.push(i64::from(number(bytes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(seq: u32, bytes: usize) -> OutcomeRow {
        OutcomeRow {
            seq,
            position: seq + 1,
            kind: "scored",
            reward: Some(1.0),
            verdict: "right".into(),
            earliest_end_at: Micros::ZERO,
            finished_at: Micros::ZERO,
            shared: false,
            result: vec![b'1'; bytes].into(),
        }
    }

    /// The first number and the length of each piece; rows are negative.
    fn check(rows: &[OutcomeRow], expected: &[(u32, i64)]) {
        let (tenant, batch) = (TenantId(Uuid::nil()), BatchId(Uuid::nil()));
        let outcomes = rows.iter().map(|row| WrittenOutcome { tenant, batch, row }).collect();
        let pieces: Vec<(u32, i64)> = cut(outcomes)
            .iter()
            .map(|piece| match piece {
                OutcomePiece::Rows(rows) => {
                    (rows[0].row.seq, -i64::try_from(rows.len()).expect("few"))
                }
                OutcomePiece::Segment(rows) => {
                    (rows[0].row.seq, i64::try_from(rows.len()).expect("few"))
                }
            })
            .collect();
        assert_eq!(pieces, expected);
    }

    fn rows(seqs: impl IntoIterator<Item = u32>) -> Vec<OutcomeRow> {
        seqs.into_iter().map(|seq| row(seq, 100)).collect()
    }

    #[test]
    fn many_are_segments_of_even_sizes_and_few_are_rows() {
        check(&rows(0..15), &[(0, -15)]);
        check(&rows((0..16).rev()), &[(0, 16)]);
        check(&rows(0..64), &[(0, 64)]);
        check(&rows(0..65), &[(0, 33), (33, 32)]);
        check(&rows(0..200), &[(0, 50), (50, 50), (100, 50), (150, 50)]);
    }

    #[test]
    fn a_segment_has_one_block() {
        check(&rows(1_000..1_040), &[(1_000, 24), (1_024, 16)]);
        check(&rows(1_010..1_041), &[(1_010, -14), (1_024, 17)]);
        check(&rows((0..64).map(|at| at * 64)), &[(0, 16), (1_024, 16), (2_048, 16), (3_072, 16)]);
    }

    #[test]
    fn an_outcome_that_is_there_twice_is_for_the_key_of_rows() {
        check(&rows((0..40).chain([7])), &[(0, -41)]);
    }

    #[test]
    fn large_results_are_rows() {
        let large: Vec<_> = (0..64).map(|seq| row(seq, 4_000)).collect();
        check(&large, &[(0, 16), (16, 16), (32, 16), (48, 16)]);
        let larger: Vec<_> = (0..16).map(|seq| row(seq, 8_000)).collect();
        check(&larger, &[(0, -8), (8, -8)]);
    }

    #[test]
    fn segments_know_their_places_and_positions() {
        let (tenant, batch) = (TenantId(Uuid::nil()), BatchId(Uuid::nil()));
        let mut all = rows(0..40);
        all[3].position = 90;
        let outcomes: Vec<_> =
            all.iter().map(|row| WrittenOutcome { tenant, batch, row }).collect();
        let mut columns = SegmentColumns::default();
        columns.push(&outcomes[..20]);
        columns.push(&outcomes[20..]);
        assert_eq!((&columns.head[..], &columns.tail[..]), (&[1, 21][..], &[20, 40][..]));
        assert_eq!(columns.first_position, [1, 21]);
        assert_eq!(columns.last_position, [90, 40]);
        assert_eq!(columns.result_bytes, [2_000, 2_000]);
    }
}
