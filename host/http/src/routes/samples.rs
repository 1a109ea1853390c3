//! `GET /v1/samples`: the requests of ended batches with the beginnings of their texts, in any order.

use assay_api::sample::{GroupRewards, SampleList, SamplesPrepared};
use assay_core::id::{BatchId, TenantId};
use assay_core::limits;
use assay_core::plugin::VersionName;
use assay_store::samples::SearchWithin;
use assay_store::views::sample_pages::{Between, SampleCursor, SampleFilter, SampleOrder};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use super::batches;
use crate::app::{App, AppState};
use crate::auth::Caller;
use crate::extract::body;
use crate::extract::guard::{BatchesRead, Scoped};
use crate::extract::page::{Cursor, Page};
use crate::extract::query::Query;
use crate::problem::ApiError;

/// The bytes of a filter's text, which no name and no label's beginning exceeds.
const FILTER_BYTES_MAX: usize = 1_024;

const ORDERS: &str = "iteration, reward, advantage, verdict, kind, group, key, prompt, response, label, \
                      prompt_chars, response_chars, took_ms and component, with - before it for descending order";

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SamplesQuery {
    /// Run whose samples are listed. Exactly one of `run`, `batch` and `plugin` is given.
    run: Option<String>,
    /// Id of the batch whose samples are listed.
    #[param(value_type = Option<String>)]
    batch: Option<BatchId>,
    /// Plugin version, `name@version`, whose samples are listed: those of its last 256 runs.
    plugin: Option<String>,
    /// Words that the prompt or the response has, in any case: all of them; `or` between two for either;
    /// `-` before one that it must not have; quotes around words that follow each other.
    q: Option<String>,
    /// Column, with `-` before it for descending order: `iteration`, `reward`, `advantage`, `verdict`,
    /// `kind`, `group`, `key`, `prompt`, `response`, `label`, `prompt_chars`, `response_chars`, `took_ms`,
    /// or `component`. When absent, the newest iteration comes first, and a batch is in the order of its
    /// requests. A sample without a value counts as below all others.
    sort: Option<String>,
    /// `scored`, `timed_out` or `error`.
    kind: Option<String>,
    /// The plugin's verdict, `timed_out`, or the error's code.
    verdict: Option<String>,
    /// Name of the group.
    group: Option<String>,
    /// How the rewards of the sample's group differ: `all_right`, `all_wrong` or `mixed`.
    #[param(value_type = Option<GroupRewards>)]
    group_rewards: Option<GroupRewards>,
    /// The label as JSON, up to its first 40 characters.
    label: Option<String>,
    iteration_min: Option<u64>,
    iteration_max: Option<u64>,
    reward_min: Option<f64>,
    reward_max: Option<f64>,
    advantage_min: Option<f64>,
    advantage_max: Option<f64>,
    prompt_chars_min: Option<u32>,
    prompt_chars_max: Option<u32>,
    response_chars_min: Option<u32>,
    response_chars_max: Option<u32>,
    /// Milliseconds from a request's arrival to its end.
    took_ms_min: Option<f64>,
    took_ms_max: Option<f64>,
    /// Name of the component of the reward that `component_min`, `component_max` and the order `component`
    /// are about.
    component: Option<String>,
    component_min: Option<f64>,
    component_max: Option<f64>,
}

/// The samples of a run, a batch or a plugin version: requests of ended batches with the beginnings of their
/// texts, sorted and filtered. Samples are prepared after the end of their batch; `preparing` says how many
/// batches are not in the list yet.
#[utoipa::path(
    get, path = "/v1/samples", tag = "runs", params(SamplesQuery, Page<SampleCursor>),
    responses((status = 200, body = SampleList))
)]
pub(crate) async fn list(
    State(app): AppState,
    caller: Scoped<BatchesRead>,
    Query(query): Query<SamplesQuery>,
    page: Page<SampleCursor>,
) -> Result<Json<SampleList>, ApiError> {
    app.somebody_looks();
    let tenant = caller.tenant;
    let order = order(&query)?;
    let of = Of::read(&app, &caller, &query).await?;
    let preparing = of.preparing(&app, tenant).await?;
    let search = match body::search(query.q.clone())? {
        None => None,
        Some(text) => Some(search(&app, tenant, &text, &of).await?),
    };
    let filter = filter(query, of, search)?;
    // A page may sort all samples of a run, which takes a connection for long.
    let _permit = app.sample_lists.acquire(tenant, 1).await;
    let page = app.store.sample_page(tenant, &filter, order, page.after, page.limit).await?;
    Ok(Json(SampleList {
        items: page.items,
        next: page.next.map(|next| next.to_string()),
        newest: page.newest,
        preparing,
        prepared: app.samples,
    }))
}

/// The batches whose samples are listed.
struct Of {
    runs: Vec<String>,
    batch: Option<BatchId>,
    /// Whether the batch has not ended.
    live: bool,
}

impl Of {
    async fn read(app: &App, caller: &Caller, query: &SamplesQuery) -> Result<Self, ApiError> {
        let tenant = caller.tenant;
        match (&query.run, query.batch, &query.plugin) {
            (Some(run), None, None) => {
                app.store.run(tenant, run).await?.ok_or_else(|| ApiError::not_found("run"))?;
                Ok(Self { runs: vec![run.clone()], batch: None, live: false })
            }
            (None, Some(id), None) => {
                batches::kept(app, tenant, id).await?;
                let batch = batches::find(app, tenant, id).await?;
                let live = batch.done_at.is_none();
                Ok(Self { runs: vec![batch.run], batch: Some(id), live })
            }
            (None, None, Some(plugin)) => {
                let wrong = || ApiError::bad_request("plugin must be a version: name@version");
                let VersionName { name, version } = VersionName::parse(plugin).ok_or_else(wrong)?;
                let runs = app.store.runs_of_version(tenant, name, version).await?;
                Ok(Self { runs, batch: None, live: false })
            }
            _ => Err(ApiError::bad_request("exactly one of run, batch and plugin must be given")),
        }
    }

    async fn preparing(&self, app: &App, tenant: TenantId) -> Result<u32, ApiError> {
        Ok(match self.batch {
            Some(id) => (self.live || !app.store.is_sampled(tenant, id).await?).into(),
            None => app.store.unsampled_of(tenant, &self.runs).await?,
        })
    }
}

/// The search as a query of the database.
async fn search(app: &App, tenant: TenantId, text: &str, of: &Of) -> Result<String, ApiError> {
    if app.samples != SamplesPrepared::Words {
        let detail = "this server does not index the words of samples";
        let error = ApiError::new(StatusCode::CONFLICT, "search_is_off", detail);
        return Err(error.hint("an operator turns it on by --samples words"));
    }
    let within = match of.batch {
        Some(batch) => SearchWithin::Batch(batch),
        None => SearchWithin::Runs(tenant, &of.runs),
    };
    let search = app.store.sample_search(text, &within).await?;
    search.ok_or_else(|| ApiError::bad_request("q has no word that can be searched"))
}

fn order(query: &SamplesQuery) -> Result<SampleOrder, ApiError> {
    let newest = if query.batch.is_some() { "iteration" } else { "-iteration" };
    let text = query.sort.as_deref().unwrap_or(newest);
    let order = SampleOrder::parse(text);
    order.ok_or_else(|| ApiError::bad_request(format!("sort must be one of {ORDERS}")))
}

fn filter(query: SamplesQuery, of: Of, search: Option<String>) -> Result<SampleFilter, ApiError> {
    for (name, text) in [
        ("kind", &query.kind),
        ("verdict", &query.verdict),
        ("group", &query.group),
        ("label", &query.label),
        ("component", &query.component),
    ] {
        // Names of groups and labels may have any character but the one that the database cannot hold.
        if text.as_ref().is_some_and(|text| text.len() > FILTER_BYTES_MAX || text.contains('\0')) {
            return Err(ApiError::bad_request(format!(
                "{name} has a NUL, or more than {FILTER_BYTES_MAX} bytes"
            )));
        }
    }
    let between = |min, max| Between { min, max };
    // Exact: JSON has no larger whole numbers either.
    let whole = |value: Option<u64>| value.map(|value| value as f64);
    let chars =
        |min: Option<u32>, max: Option<u32>| between(min.map(f64::from), max.map(f64::from));
    let sorted = limits::SAMPLE_SORTED_CHARS_MAX;
    Ok(SampleFilter {
        runs: of.runs,
        batch: of.batch,
        search,
        kind: query.kind,
        verdict: query.verdict,
        group: query.group,
        group_rewards: query.group_rewards,
        label: query.label.map(|label| label.chars().take(sorted).collect()),
        iteration: between(whole(query.iteration_min), whole(query.iteration_max)),
        reward: between(query.reward_min, query.reward_max),
        advantage: between(query.advantage_min, query.advantage_max),
        prompt_chars: chars(query.prompt_chars_min, query.prompt_chars_max),
        response_chars: chars(query.response_chars_min, query.response_chars_max),
        took_ms: between(query.took_ms_min, query.took_ms_max),
        component: query.component,
        component_value: between(query.component_min, query.component_max),
    })
}

impl Cursor for SampleCursor {
    fn parse(text: &str) -> Option<Self> {
        Self::parse(text)
    }
}
