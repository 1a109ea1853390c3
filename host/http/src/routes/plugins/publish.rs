//! `POST /v1/plugins`: upload a component with its golden cases.

use assay_api::key::Scope;
use assay_api::plugin::Plugin;
use assay_core::golden::CaseSecret;
use assay_core::id::TenantId;
use assay_registry::{CaseGrants, CaseMode, Publisher};
use assay_store::plugins::Published;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;

use super::version;
use crate::app::{App, AppState};
use crate::extract::body::{self, Turn};
use crate::extract::guard::{PluginsPublish, Scoped};
use crate::extract::query::Query;
use crate::extract::upload::{PluginUpload, read_upload};
use crate::problem::ApiError;
use crate::quotas;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PublishQuery {
    /// Whether to keep the golden cases without running them; needs the scope `admin:*`.
    #[serde(default)]
    skip_cases: bool,
}

/// Publish a component under the name and version that its `describe` returns, after its golden cases were
/// run. A version whose cases fail is refused. Publishing the same bytes again changes nothing.
#[utoipa::path(
    post, path = "/v1/plugins", tag = "plugins", params(PublishQuery),
    request_body(content(
        (inline(body::Binary) = "application/wasm"),
        (inline(PluginUpload) = "multipart/form-data"),
    )),
    responses(
        (status = 201, body = Plugin),
        (status = 200, body = Plugin, description = "These bytes were published before"),
    )
)]
pub(crate) async fn publish(
    State(app): AppState,
    caller: Scoped<PluginsPublish>,
    Query(query): Query<PublishQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Plugin>), ApiError> {
    if query.skip_cases {
        caller.need(Scope::Admin)?;
    }
    quotas::publishes(&app, caller.tenant).await?;
    let settings = app.dispatch.tenants.get(caller.tenant);
    let publisher =
        Publisher { tenant: caller.tenant, actor: &caller.actor(), grants: &settings.grants };
    let mut turn = Turn::new(&app.uploads, caller.tenant);
    let upload = read_upload(&headers, body, &mut turn).await?;
    let accepted = app.registry.accept(&publisher, upload.component).await?;
    caller.may_use_plugin(accepted.name())?;
    // The component is no longer in memory, and golden cases may take minutes.
    drop(turn);
    let runs = match query.skip_cases {
        true => CaseMode::Skip,
        false => CaseMode::Run(grants(&app, caller.tenant)),
    };
    let (description, published) =
        app.registry.publish(publisher, accepted, upload.cases, runs).await?;
    let plugin = version(&app, &caller, &description.name, &description.version).await?;
    let status = match published {
        Published::New => StatusCode::CREATED,
        Published::Already => StatusCode::OK,
    };
    Ok((status, Json(plugin)))
}

/// The hosts and secrets that requests of the tenant have.
fn grants(app: &App, tenant: TenantId) -> CaseGrants {
    let outbound = app.dispatch.tenants.outbound(tenant);
    let secrets = outbound.secrets.into_iter().map(|secret| CaseSecret {
        name: secret.name,
        host: secret.host,
        header: secret.header,
        value: secret.value,
    });
    CaseGrants {
        tenant_name: app.dispatch.tenants.name(tenant).to_string(),
        hosts: outbound.hosts,
        secrets: secrets.collect(),
    }
}
