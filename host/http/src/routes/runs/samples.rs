//! `GET /v1/runs/{run}/samples`: the requests of a run as a file, read and sent piece by piece.

mod csv;
mod file;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use assay_api::result::ResultItem;
use assay_api::sample::{Sample, SampleFormat};
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::limits;
use assay_core::outcome::Outcome;
use assay_dispatch::fair_semaphore::FairPermit;
use assay_store::views::samples::{SampleRow, Texts};
use assay_wire::proto;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use prost::Message as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::app::{App, AppState};
use crate::downloads::{DownloadPiece, body_of_pieces};
use crate::extract::body::Binary;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::query::Query;
use crate::middleware::authenticate;
use crate::problem::ApiError;
use crate::routes::batches;
use file::ExportFile;

/// The time within which a reader must take the next piece.
const READ_MAX: Duration = Duration::from_secs(limits::SAMPLE_READ_SECONDS_MAX);

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExportQuery {
    /// Format of the file: `jsonl` when absent, `csv` or `parquet`.
    #[serde(default)]
    #[param(required = false)]
    format: SampleFormat,
    /// Id of a batch of the run whose samples alone are sent.
    #[param(value_type = Option<String>)]
    batch: Option<BatchId>,
    /// Whether prompts, responses, labels and metadata are sent too: true when absent.
    texts: Option<bool>,
}

/// The samples of a run: its requests with their texts and outcomes, batch by batch in the order of
/// announcement, as JSON Lines, CSV or Parquet. Batches whose requests were deleted at the end of their retention
/// are left out. An answer that is cut off ends with a broken connection, never like a whole one.
#[utoipa::path(
    get, path = "/v1/runs/{run}/samples", tag = "runs",
    params(("run" = String, Path), ExportQuery),
    responses(
        (status = 200, content(
            (Sample = "application/x-ndjson"),
            (String = "text/csv"),
            (inline(Binary) = "application/vnd.apache.parquet"),
        )),
    )
)]
pub(crate) async fn export(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    headers: HeaderMap,
    Path(run): Path<String>,
    Query(query): Query<ExportQuery>,
) -> Result<Response, ApiError> {
    let tenant = caller.tenant;
    app.store.run(tenant, &run).await?.ok_or_else(|| ApiError::not_found("run"))?;
    let batches = match query.batch {
        Some(id) => Batches::One(Some(one(&app, tenant, &run, id).await?)),
        None => Batches::All { run: run.clone(), after: None, read: VecDeque::new() },
    };
    let permit = app.sample_exports.try_acquire(tenant, 1).ok_or_else(too_many)?;
    let valid = authenticate::until_rights_change(Arc::clone(&app), headers, caller.into_caller());
    let stopped = app.stopped();
    // A task of its own, so that a reader who is slow holds none of the connections that it takes.
    let mut cut_off = JoinSet::new();
    cut_off.spawn(valid);
    cut_off.spawn(stopped);
    let texts = if query.texts.unwrap_or(true) { Texts::Read } else { Texts::LeftOut };
    let export = Export {
        app,
        tenant,
        batches,
        current: None,
        file: ExportFile::new(query.format),
        texts,
        cut_off,
        _permit: permit,
    };
    let (pieces, read) = mpsc::channel(1);
    tokio::spawn(export.send(pieces));
    let (kind, ending) = match query.format {
        SampleFormat::Jsonl => ("application/x-ndjson", "jsonl"),
        SampleFormat::Csv => ("text/csv; charset=utf-8", "csv"),
        SampleFormat::Parquet => ("application/vnd.apache.parquet", "parquet"),
    };
    let file = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_DISPOSITION, attachment(&run, ending)),
    ];
    Ok((file, body_of_pieces(read, "the export was cut off")).into_response())
}

/// A batch of the run with its iteration.
async fn one(
    app: &App,
    tenant: TenantId,
    run: &str,
    id: BatchId,
) -> Result<(BatchId, u64), ApiError> {
    batches::kept(app, tenant, id).await?;
    let batch = batches::find(app, tenant, id).await?;
    if batch.run != run {
        return Err(ApiError::not_found("batch").hint("name a batch of this run"));
    }
    Ok((id, batch.iteration))
}

fn too_many() -> ApiError {
    let detail = "as many exports run as there may be";
    let mut error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, "too_many_exports", detail);
    error.retry_after_s = Some(5);
    error.hint("send the same call again when one has ended")
}

/// The name of the file, in characters that every system takes.
fn attachment(run: &str, ending: &str) -> HeaderValue {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let name: String = run.chars().map(plain).take(80).collect();
    HeaderValue::try_from(format!("attachment; filename=\"{name}-samples.{ending}\""))
        .unwrap_or_else(|_| HeaderValue::from_static("attachment"))
}

/// The batches that are still to be read.
enum Batches {
    One(Option<(BatchId, u64)>),
    All { run: String, after: Option<BatchId>, read: VecDeque<(BatchId, u64)> },
}

/// The batch whose requests are being read.
struct Current {
    batch: BatchId,
    iteration: u64,
    /// The last request that was read.
    after: Option<u32>,
}

struct Export {
    app: Arc<App>,
    tenant: TenantId,
    batches: Batches,
    current: Option<Current>,
    file: ExportFile,
    texts: Texts,
    /// Tasks that end when the caller may read no longer, and when the server stops.
    cut_off: JoinSet<()>,
    _permit: FairPermit,
}

impl Export {
    /// Sends the file in a task of its own, so that a reader who stops reading gives its place back.
    async fn send(mut self, pieces: mpsc::Sender<DownloadPiece>) {
        loop {
            let piece = self.next().await;
            let last = !matches!(piece, Ok(Some(_)));
            let taken = timeout(READ_MAX, pieces.send(piece));
            tokio::select! {
                taken = taken => if last || !matches!(taken, Ok(Ok(()))) { return },
                _ = self.cut_off.join_next() => return,
            }
        }
    }

    /// The next piece of the file.
    async fn next(&mut self) -> DownloadPiece {
        loop {
            if self.cut_off.try_join_next().is_some() {
                anyhow::bail!("the export was cut off");
            }
            let Some(current) = &mut self.current else {
                let Some((batch, iteration)) = self.next_batch().await? else {
                    return self.file.end().map(|rest| rest.map(Bytes::from));
                };
                self.current = Some(Current { batch, iteration, after: None });
                continue;
            };
            let store = &self.app.store;
            let rows = store.samples(self.tenant, current.batch, current.after, self.texts).await?;
            let Some(last) = rows.last() else {
                // A batch of which something was sent, or which was asked for, is whole or an error.
                let promised = current.after.is_some() || matches!(self.batches, Batches::One(_));
                if promised && store.expired_at(self.tenant, current.batch).await?.is_some() {
                    anyhow::bail!("the batch was deleted during its export");
                }
                self.current = None;
                continue;
            };
            current.after = Some(last.seq);
            let samples = rows.into_iter().map(|row| sample(current, row, self.texts));
            let piece = self.file.add(samples)?;
            if !piece.is_empty() {
                return Ok(Some(piece.into()));
            }
        }
    }

    async fn next_batch(&mut self) -> anyhow::Result<Option<(BatchId, u64)>> {
        match &mut self.batches {
            Batches::One(batch) => Ok(batch.take()),
            Batches::All { run, after, read } => {
                if read.is_empty() {
                    read.extend(self.app.store.sampled_batches(self.tenant, run, *after).await?);
                }
                let next = read.pop_front();
                *after = next.map(|(batch, _)| batch).or(*after);
                Ok(next)
            }
        }
    }
}

fn sample(current: &Current, row: SampleRow, texts: Texts) -> Sample {
    let body = proto::Body::decode(&row.body[..]).unwrap_or_default();
    let text = |text: String| (texts == Texts::Read).then_some(text);
    // As it was submitted, on one line: outside its texts a line break is only space.
    let json = |text: String| RawValue::from_string(text.replace(['\n', '\r'], " ")).ok();
    let result: Option<ResultItem> =
        row.result.as_deref().and_then(|json| serde_json::from_str(json).ok());
    let outcome = result.map(|result| result.outcome);
    let kind = outcome.as_ref().map(|outcome| outcome.kind().to_owned());
    let reward = outcome.as_ref().and_then(Outcome::reward);
    let (components, message) = match outcome {
        Some(Outcome::Scored(scored)) => (scored.components, scored.explanation),
        Some(Outcome::Error { message, .. }) => (BTreeMap::new(), message),
        Some(Outcome::TimedOut { stage, .. }) => {
            (BTreeMap::new(), format!("the stage {stage} ran into its timeout"))
        }
        None => (BTreeMap::new(), String::new()),
    };
    Sample {
        id: RequestId { batch: current.batch, seq: row.seq },
        batch: current.batch,
        iteration: current.iteration,
        key: row.key,
        group: row.group,
        kind,
        verdict: row.verdict,
        reward,
        components,
        message: Some(message).filter(|message| !message.is_empty()),
        arrived_at: row.arrived_at,
        finished_at: row.finished_at,
        prompt: text(body.prompt),
        response: text(body.response),
        label: json(body.label),
        metadata: json(body.metadata),
    }
}
