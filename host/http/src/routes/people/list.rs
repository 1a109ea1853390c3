//! `GET /v1/people`: everybody.

use assay_api::people::PersonList;
use axum::Json;
use axum::extract::State;

use crate::app::AppState;
use crate::extract::body;
use crate::extract::guard::{Platform, Scoped};
use crate::extract::page::AdminPage;
use crate::extract::query::{Query, SearchQuery};
use crate::problem::ApiError;

/// People by e-mail address.
#[utoipa::path(
    get, path = "/v1/people", tag = "people", params(SearchQuery, AdminPage<String>),
    responses((status = 200, body = PersonList))
)]
pub(crate) async fn list(
    State(app): AppState,
    _: Scoped<Platform>,
    Query(query): Query<SearchQuery>,
    page: AdminPage<String>,
) -> Result<Json<PersonList>, ApiError> {
    let items = app.store.people(&page.rows(body::search(query.q)?)).await?;
    let next = page.next(&items, |last| last.email.clone());
    Ok(Json(PersonList { items, next }))
}
