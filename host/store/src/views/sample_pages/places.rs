//! The queries by which the places of a page are found: a walk, or a sort of everything that matches.

use assay_api::sample::{GroupRewards, SampleColumn};
use assay_core::limits;
use uuid::Uuid;

use super::{SampleCursor, SampleFilter, SampleOrder, Value};
use crate::{Store, StoreError};

/// Samples that a first walk reads where there are filters.
const FIRST_WALK: i64 = 1_000;

/// Samples of runs that are sorted at most.
const SORTED: i64 = limits::SAMPLES_SORTED_MAX as i64;

/// A place in an order of numbers.
struct NumberRow {
    batch_id: Uuid,
    seq: i32,
    value: f64,
}

/// A place in an order of texts.
struct TextRow {
    batch_id: Uuid,
    seq: i32,
    value: String,
}

impl From<NumberRow> for SampleCursor {
    fn from(row: NumberRow) -> Self {
        Self { value: Value::Number(row.value), batch: row.batch_id, seq: row.seq }
    }
}

impl From<TextRow> for SampleCursor {
    fn from(row: TextRow) -> Self {
        Self { value: Value::Text(row.value), batch: row.batch_id, seq: row.seq }
    }
}

/// The rows that a query reads before the filter.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// This many samples of each run, in the order of an index.
    Walk(i64),
    /// All samples of the batch.
    Batch,
    /// The newest samples of the runs, up to a limit.
    Runs,
    /// This many matches of the search.
    Matches(i64),
}

impl Source {
    /// The samples that are read at most.
    const fn read(self) -> i64 {
        match self {
            Self::Walk(read) | Self::Matches(read) => read,
            Self::Runs => SORTED,
            Self::Batch => i64::MAX,
        }
    }
}

/// The parameters of a page's query.
pub(super) struct PageQuery<'a> {
    pub tenant: Uuid,
    pub filter: &'a SampleFilter,
    pub order: SampleOrder,
    /// The place after which the page begins.
    pub after: SampleCursor,
    pub limit: i64,
}

impl PageQuery<'_> {
    fn number(&self) -> f64 {
        match self.after.value {
            Value::Number(number) => number,
            Value::Text(_) => f64::NEG_INFINITY,
        }
    }

    fn text(&self) -> &str {
        match &self.after.value {
            Value::Number(_) => "",
            Value::Text(text) => text,
        }
    }
}

/// Makes a checked query for a page: of the samples `$from`, those that match the filter, in an order.
macro_rules! page {
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $search:tt, $key:tt, $way:tt, [$($from:tt)*]) => {{
        let PageQuery { tenant, filter, order, after, limit } = $asked;
        let rows = sqlx::query_as!(
            $row,
            "select s.batch_id, s.seq, " + $key + r#" as "value!" from ("# + $($from)* + ") s
            where ($8::uuid is null or s.batch_id = $8)
                and " + $search + "
                and ($10::text is null or s.kind = $10)
                and ($11::text is null or s.verdict = $11)
                and ($12::text is null or s.group_name = $12)
                and ($13::text is null or s.group_rewards = $13)
                and ($14::text is null or s.label = $14)
                and ($15::double precision is null or s.iteration >= $15)
                and ($16::double precision is null or s.iteration <= $16)
                and ($17::double precision is null or s.reward >= $17)
                and ($18::double precision is null or s.reward <= $18)
                and ($19::double precision is null or s.advantage >= $19)
                and ($20::double precision is null or s.advantage <= $20)
                and ($21::double precision is null or s.prompt_chars >= $21)
                and ($22::double precision is null or s.prompt_chars <= $22)
                and ($23::double precision is null or s.response_chars >= $23)
                and ($24::double precision is null or s.response_chars <= $24)
                and ($25::double precision is null or s.took_ms >= $25)
                and ($26::double precision is null or s.took_ms <= $26)
                and ($28::double precision is null
                    or (s.components ->> $27::text)::double precision >= $28)
                and ($29::double precision is null
                    or (s.components ->> $27::text)::double precision <= $29)
                and $3::text <> '' and $7::bigint > 0
            order by " + $key + " " + $way + ", s.batch_id " + $way + ", s.seq " + $way + " limit $30",
            tenant,
            &filter.runs,
            order.column.as_str(),
            $after,
            after.batch,
            after.seq,
            $source.read(),
            filter.batch.map(|batch| batch.0),
            filter.search.as_deref(),
            filter.kind.as_deref(),
            filter.verdict.as_deref(),
            filter.group.as_deref(),
            filter.group_rewards.map(GroupRewards::as_str),
            filter.label.as_deref(),
            filter.iteration.min,
            filter.iteration.max,
            filter.reward.min,
            filter.reward.max,
            filter.advantage.min,
            filter.advantage.max,
            filter.prompt_chars.min,
            filter.prompt_chars.max,
            filter.response_chars.min,
            filter.response_chars.max,
            filter.took_ms.min,
            filter.took_ms.max,
            filter.component.as_deref(),
            filter.component_value.min,
            filter.component_value.max,
            limit,
        )
        .fetch_all($pool)
        .await?;
        Ok(rows.into_iter().map(SampleCursor::from).collect())
    }};
}

/// The condition of a search on each sample.
macro_rules! searched {
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $key:tt, $way:tt, [$($from:tt)*]) => {
        page!(
            $pool, $asked, $source, $row, $after,
            "($9::text is null or exists (
                select from sample_texts t
                where t.tenant_id = $1 and t.batch_id = s.batch_id and t.seq = s.seq
                    and t.words @@ $9::text::tsquery
            ))",
            $key, $way, [$($from)*]
        )
    };
}

/// Walks along the index of a key.
macro_rules! walk {
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $type:tt, $key:tt) => {
        match $asked.order.descending {
            false => walk!($pool, $asked, $source, $row, $after, $type, $key, ">", "asc"),
            true => walk!($pool, $asked, $source, $row, $after, $type, $key, "<", "desc"),
        }
    };
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $type:tt, $key:tt, $compare:tt, $way:tt) => {
        searched!(
            $pool,
            $asked,
            $source,
            $row,
            $after,
            $key,
            $way,
            ["select s.* from unnest($2::text[]) as scope (run) cross join lateral (
                select s.* from samples s
                where s.tenant_id = $1 and s.run = scope.run and ("
                + $key
                + ", s.batch_id, s.seq) "
                + $compare
                + " ($4::"
                + $type
                + ", $5::uuid, $6::integer)
                order by "
                + $key
                + " "
                + $way
                + ", s.batch_id "
                + $way
                + ", s.seq "
                + $way
                + "
                limit $7
            ) s
            order by "
                + $key
                + " "
                + $way
                + ", s.batch_id "
                + $way
                + ", s.seq "
                + $way
                + " limit $7"]
        )
    };
}

/// Sorts everything that matches by a key.
macro_rules! sort {
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $type:tt, $key:tt) => {
        match $asked.order.descending {
            false => sort!($pool, $asked, $source, $row, $after, $type, $key, ">", "asc"),
            true => sort!($pool, $asked, $source, $row, $after, $type, $key, "<", "desc"),
        }
    };
    ($pool:expr, $asked:expr, $source:expr, $row:ty, $after:expr, $type:tt, $key:tt, $compare:tt, $way:tt) => {
        match $source {
            Source::Batch => searched!($pool, $asked, $source, $row, $after, $key, $way, [
                "select s.* from samples s
                where s.tenant_id = $1 and s.batch_id = $8 and s.run = any ($2)
                    and (" + $key + ", s.batch_id, s.seq) " + $compare
                + " ($4::" + $type + ", $5::uuid, $6::integer)"
            ]),
            Source::Runs | Source::Walk(_) => {
                searched!($pool, $asked, $source, $row, $after, $key, $way, [
                    "select s.* from (
                        select s.* from unnest($2::text[]) as scope (run) cross join lateral (
                            select s.* from samples s
                            where s.tenant_id = $1 and s.run = scope.run
                                and s.iteration::double precision
                                    >= coalesce($15::double precision, '-infinity')
                                and s.iteration::double precision
                                    <= coalesce($16::double precision, 'infinity')
                            order by s.iteration::double precision desc, s.batch_id desc, s.seq desc
                            limit $7
                        ) s
                        limit $7
                    ) s
                    where (" + $key + ", s.batch_id, s.seq) " + $compare
                    + " ($4::" + $type + ", $5::uuid, $6::integer)"
                ])
            }
            // The marks of runs and batches among the words keep other tenants' samples out of the matches.
            Source::Matches(_) => page!(
                $pool, $asked, $source, $row, $after, "$9::text is not null", $key, $way, [
                    "with matches as materialized (
                        select tenant_id, batch_id, seq from sample_texts
                        where words @@ $9::text::tsquery limit $7
                    )
                    select s.* from matches m join samples s
                        on s.tenant_id = $1 and s.batch_id = m.batch_id and s.seq = m.seq
                    where m.tenant_id = $1 and s.run = any ($2)
                        and (" + $key + ", s.batch_id, s.seq) " + $compare
                    + " ($4::" + $type + ", $5::uuid, $6::integer)"
                ]
            ),
        }
    };
}

impl Store {
    /// The places of a page, and the number of newest samples among which they are if older ones were left out.
    pub(super) async fn places(
        &self,
        asked: &PageQuery<'_>,
    ) -> Result<(Vec<SampleCursor>, Option<u32>), StoreError> {
        let filter = asked.filter;
        if let Some(search) = &filter.search {
            let sorted = i64::from(limits::SAMPLE_MATCHES_SORTED_MAX);
            if self.matches(search, sorted + 1).await? <= sorted {
                return Ok((self.sorted(asked, Source::Matches(sorted)).await?, None));
            }
        }
        let walked = i64::from(limits::SAMPLES_WALKED_MAX);
        if filter.batch.is_none() && asked.order.is_indexed() {
            let runs = i64::try_from(filter.runs.len()).unwrap_or(walked);
            let walks: &[i64] = if filter.narrows() { &[FIRST_WALK, walked] } else { &[0] };
            for walk in walks {
                let places = self.walked(asked, (walk / runs).max(asked.limit)).await?;
                // A walk without a filter has found all that there is.
                if places.len() as i64 == asked.limit || !filter.narrows() {
                    return Ok((places, None));
                }
            }
        }
        let source = match (&filter.search, filter.batch) {
            (Some(_), _) => Source::Matches(i64::MAX),
            (None, Some(_)) => Source::Batch,
            (None, None) => Source::Runs,
        };
        let places = self.sorted(asked, source).await?;
        let newest = match source {
            Source::Runs if self.sampled_requests(asked).await? > SORTED => {
                Some(limits::SAMPLES_SORTED_MAX)
            }
            _ => None,
        };
        Ok((places, newest))
    }

    /// The requests of the runs' batches whose samples are written, within the iterations of the filter.
    async fn sampled_requests(&self, asked: &PageQuery<'_>) -> Result<i64, StoreError> {
        let iteration = asked.filter.iteration;
        let requests = sqlx::query_scalar!(
            r#"
            select coalesce(sum(scored + timed_out + error), 0)::bigint as "requests!"
            from batches
            where tenant_id = $1 and run = any ($2) and sealed_at is distinct from announced_at
                and sampled_at is not null and expired_at is null
                and ($3::double precision is null or iteration >= $3)
                and ($4::double precision is null or iteration <= $4)
            "#,
            asked.tenant,
            &asked.filter.runs,
            iteration.min,
            iteration.max,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(requests)
    }

    /// The number of matches of a search, up to a limit.
    async fn matches(&self, search: &str, limit: i64) -> Result<i64, StoreError> {
        // A platform query: the marks of the runs or the batch are a part of the search.
        let matches = sqlx::query_scalar!(
            r#"
            select count(*) as "matches!" from (
                select from sample_texts where words @@ $1::text::tsquery limit $2
            ) as matches
            "#,
            search,
            limit,
        )
        .fetch_one(&self.pool)
        .await?;
        Ok(matches)
    }

    async fn walked(
        &self,
        asked: &PageQuery<'_>,
        read: i64,
    ) -> Result<Vec<SampleCursor>, StoreError> {
        let (pool, source) = (&self.pool, Source::Walk(read));
        let (number, text) = (asked.number(), asked.text());
        match asked.order.column {
            SampleColumn::Reward => walk!(
                pool,
                asked,
                source,
                NumberRow,
                number,
                "double precision",
                "coalesce(s.reward, '-infinity'::double precision)"
            ),
            SampleColumn::ResponseChars => walk!(
                pool,
                asked,
                source,
                NumberRow,
                number,
                "double precision",
                "s.response_chars::double precision"
            ),
            SampleColumn::TookMs => {
                walk!(pool, asked, source, NumberRow, number, "double precision", "s.took_ms")
            }
            SampleColumn::Verdict => {
                walk!(pool, asked, source, TextRow, text, "text", "s.verdict")
            }
            SampleColumn::Group => walk!(
                pool,
                asked,
                source,
                TextRow,
                text,
                "text",
                r#"coalesce(s.group_name, '' collate "C")"#
            ),
            _ => walk!(
                pool,
                asked,
                source,
                NumberRow,
                number,
                "double precision",
                "s.iteration::double precision"
            ),
        }
    }

    async fn sorted(
        &self,
        asked: &PageQuery<'_>,
        source: Source,
    ) -> Result<Vec<SampleCursor>, StoreError> {
        let pool = &self.pool;
        if asked.order.is_text() {
            let text = asked.text();
            return sort!(
                pool,
                asked,
                source,
                TextRow,
                text,
                "text",
                r#"(case $3 when 'verdict' then s.verdict when 'kind' then s.kind
                    when 'group' then coalesce(s.group_name, '') when 'prompt' then s.prompt
                    when 'response' then s.response when 'label' then s.label
                    else s.key end collate "C")"#
            );
        }
        let number = asked.number();
        sort!(
            pool,
            asked,
            source,
            NumberRow,
            number,
            "double precision",
            "(case $3 when 'iteration' then s.iteration::double precision
                when 'reward' then coalesce(s.reward, '-infinity')
                when 'advantage' then coalesce(s.advantage, '-infinity')
                when 'prompt_chars' then s.prompt_chars::double precision
                when 'response_chars' then s.response_chars::double precision
                when 'took_ms' then s.took_ms
                else coalesce((s.components ->> $27::text)::double precision, '-infinity') end)"
        )
    }
}
