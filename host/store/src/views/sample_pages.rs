//! Pages of samples in any order, with filters and a search.
//!
//! A page is read in one of two ways. A walk follows the index of an order and takes what matches, which finds a
//! page at once where many match. Where few match it is given up after a number of rows, and the newest samples of
//! the runs are filtered and sorted, up to a limit. A search that few match reads its matches from the index of words and sorts those.

mod places;

use std::fmt;

use assay_api::sample::{GroupRewards, SampleColumn, SampleSummary};
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::time::Micros;
use time::OffsetDateTime;
use uuid::Uuid;

use self::places::PageQuery;
use crate::{Store, StoreError};

/// The samples that are asked for.
#[derive(Debug, Clone)]
pub struct SampleFilter {
    /// Runs whose samples are listed; the run of `batch`, if that is named.
    pub runs: Vec<String>,
    pub batch: Option<BatchId>,
    /// A `tsquery` within the runs or the batch.
    pub search: Option<String>,
    pub kind: Option<String>,
    pub verdict: Option<String>,
    pub group: Option<String>,
    pub group_rewards: Option<GroupRewards>,
    /// The label's first characters, as they are listed.
    pub label: Option<String>,
    pub iteration: Between,
    pub reward: Between,
    pub advantage: Between,
    pub prompt_chars: Between,
    pub response_chars: Between,
    pub took_ms: Between,
    pub component: Option<String>,
    pub component_value: Between,
}

/// Inclusive bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Between {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Between {
    fn is_bound(self) -> bool {
        self.min.is_some() || self.max.is_some()
    }
}

/// A page of samples.
#[derive(Debug, Clone, Default)]
pub struct SamplePage {
    pub items: Vec<SampleSummary>,
    /// Where the next page begins.
    pub next: Option<SampleCursor>,
    /// The number of newest samples that were read, if older ones were left out.
    pub newest: Option<u32>,
}

impl SampleFilter {
    /// Whether some samples of the runs are left out.
    fn narrows(&self) -> bool {
        let bounds = [
            self.iteration,
            self.reward,
            self.advantage,
            self.prompt_chars,
            self.response_chars,
            self.took_ms,
        ];
        let by_word = self.kind.is_some() || self.verdict.is_some() || self.label.is_some();
        let by_group = self.group.is_some() || self.group_rewards.is_some();
        self.search.is_some()
            || by_word
            || by_group
            || bounds.into_iter().any(Between::is_bound)
            || (self.component.is_some() && self.component_value.is_bound())
    }
}

/// An order of samples; equal ones are in the order of their requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleOrder {
    pub column: SampleColumn,
    pub descending: bool,
}

impl SampleOrder {
    /// Reads `reward` or, in descending order, `-reward`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (name, descending) = match text.strip_prefix('-') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let column = SampleColumn::ALL.into_iter().find(|column| column.as_str() == name)?;
        Some(Self { column, descending })
    }

    fn is_text(self) -> bool {
        use SampleColumn::{Group, Key, Kind, Label, Prompt, Response, Verdict};
        matches!(self.column, Verdict | Kind | Group | Key | Prompt | Response | Label)
    }

    /// Whether an index has the samples of a run in this order.
    fn is_indexed(self) -> bool {
        use SampleColumn::{Group, Iteration, ResponseChars, Reward, TookMs, Verdict};
        matches!(self.column, Iteration | Reward | ResponseChars | TookMs | Verdict | Group)
    }
}

/// The value of a sample in an order.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Number(f64),
    Text(String),
}

/// The end of a page: the place of its last sample in the order.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleCursor {
    value: Value,
    batch: Uuid,
    seq: i32,
}

impl SampleCursor {
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (seq, rest) = text.split_once('.')?;
        let (batch, value) = rest.split_once('.')?;
        let value = match value.split_at_checked(1)? {
            ("n", number) => Value::Number(number.parse().ok().filter(|n: &f64| !n.is_nan())?),
            ("t", text) if !text.contains('\0') => Value::Text(text.to_owned()),
            _ => return None,
        };
        Some(Self { value, batch: batch.parse().ok()?, seq: seq.parse().ok()? })
    }
}

impl fmt::Display for SampleCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.", self.seq, self.batch.simple())?;
        match &self.value {
            Value::Number(number) => write!(f, "n{number}"),
            Value::Text(text) => write!(f, "t{text}"),
        }
    }
}

impl Store {
    /// A page of samples. Where older samples were left out, it has the number of newest ones that were read.
    pub async fn sample_page(
        &self,
        tenant: TenantId,
        filter: &SampleFilter,
        order: SampleOrder,
        after: Option<SampleCursor>,
        limit: u32,
    ) -> Result<SamplePage, StoreError> {
        if filter.runs.is_empty() {
            return Ok(SamplePage::default());
        }
        let after = after.filter(|after| after.is_of(order)).unwrap_or(SampleCursor::start(order));
        let asked = PageQuery { tenant: tenant.0, filter, order, after, limit: limit.into() };
        let (places, newest) = self.places(&asked).await?;
        let next = places.last().filter(|_| places.len() == limit as usize).cloned();
        Ok(SamplePage { items: self.sample_rows(tenant, &places).await?, next, newest })
    }

    /// The samples at these places; those of batches that have expired are left out.
    async fn sample_rows(
        &self,
        tenant: TenantId,
        places: &[SampleCursor],
    ) -> Result<Vec<SampleSummary>, StoreError> {
        let batches: Vec<Uuid> = places.iter().map(|place| place.batch).collect();
        let seqs: Vec<i32> = places.iter().map(|place| place.seq).collect();
        let rows = sqlx::query_as!(
            PageRow,
            r#"
            select s.batch_id, s.seq, s.run, s.iteration, s.key, s.group_name, s.group_rewards, s.kind,
                s.verdict, s.reward, s.advantage, s.components::text as "components!",
                s.prompt_chars, s.response_chars, s.arrived_at, s.took_ms, t.prompt, t.response, t.label
            from unnest($2::uuid[], $3::integer[]) with ordinality as place (batch_id, seq, at)
            cross join lateral (
                select * from samples
                where tenant_id = $1 and batch_id = place.batch_id and seq = place.seq limit 1
            ) s
            cross join lateral (
                select prompt, response, label from sample_texts
                where tenant_id = $1 and batch_id = place.batch_id and seq = place.seq limit 1
            ) t
            cross join lateral (
                select from batches
                where tenant_id = $1 and id = place.batch_id and expired_at is null limit 1
            ) b
            order by place.at
            "#,
            tenant.0,
            &batches,
            &seqs,
        )
        .fetch_all(&self.pool)
        .await?;
        Ok(rows.into_iter().map(PageRow::summary).collect())
    }
}

impl SampleCursor {
    /// The place before all samples in an order.
    fn start(order: SampleOrder) -> Self {
        let (number, text, batch, seq) = match order.descending {
            false => (f64::NEG_INFINITY, "", Uuid::nil(), -1),
            true => (f64::INFINITY, "\u{10ffff}", Uuid::max(), i32::MAX),
        };
        let value = if order.is_text() { Value::Text(text.into()) } else { Value::Number(number) };
        Self { value, batch, seq }
    }

    fn is_of(&self, order: SampleOrder) -> bool {
        matches!(self.value, Value::Text(_)) == order.is_text()
    }
}

struct PageRow {
    batch_id: Uuid,
    seq: i32,
    run: String,
    iteration: i64,
    key: String,
    group_name: Option<String>,
    group_rewards: Option<String>,
    kind: String,
    verdict: String,
    reward: Option<f64>,
    advantage: Option<f64>,
    components: String,
    prompt_chars: i32,
    response_chars: i32,
    arrived_at: OffsetDateTime,
    took_ms: f64,
    prompt: String,
    response: String,
    label: String,
}

impl PageRow {
    fn summary(self) -> SampleSummary {
        let batch = BatchId(self.batch_id);
        let group_rewards = self.group_rewards.as_deref();
        SampleSummary {
            id: RequestId { batch, seq: self.seq.cast_unsigned() },
            batch,
            run: self.run,
            iteration: self.iteration.cast_unsigned(),
            key: self.key,
            group: self.group_name,
            group_rewards: GroupRewards::ALL
                .into_iter()
                .find(|one| group_rewards == Some(one.as_str())),
            kind: self.kind,
            verdict: self.verdict,
            reward: self.reward,
            advantage: self.advantage,
            components: serde_json::from_str(&self.components).unwrap_or_default(),
            prompt: self.prompt,
            response: self.response,
            label: Some(self.label).filter(|label| !label.is_empty()),
            prompt_chars: self.prompt_chars.cast_unsigned(),
            response_chars: self.response_chars.cast_unsigned(),
            arrived_at: Micros::from_datetime(self.arrived_at),
            took_ms: self.took_ms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_its_text() {
        for value in [
            Value::Number(0.1),
            Value::Number(f64::NEG_INFINITY),
            Value::Text(String::new()),
            Value::Text("a.b, \u{1f44d}".into()),
        ] {
            let cursor = SampleCursor { value, batch: Uuid::max(), seq: 7 };
            assert_eq!(SampleCursor::parse(&cursor.to_string()), Some(cursor));
        }
        for text in ["", "7", "7.x.n1", "7.0.", "-1.nil.n1"] {
            assert_eq!(SampleCursor::parse(text), None, "{text}");
        }
        let nil = Uuid::nil().simple();
        assert_eq!(SampleCursor::parse(&format!("7.{nil}.nNaN")), None);
    }

    #[test]
    fn an_order_is_a_column_and_a_direction() {
        let reward = |descending| SampleOrder { column: SampleColumn::Reward, descending };
        assert_eq!(SampleOrder::parse("reward"), Some(reward(false)));
        assert_eq!(SampleOrder::parse("-reward"), Some(reward(true)));
        assert_eq!(SampleOrder::parse("no_column"), None);
    }
}
