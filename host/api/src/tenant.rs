//! Tenants: what bounds them, what is granted to them, what they used. The JSON shapes of
//! `/v1/tenants`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use assay_core::id::TenantId;
use assay_core::limits;
use assay_core::outbound::check_hosts;
use assay_core::plugin::check_name;
use assay_core::time::Micros;

use crate::problem::FieldError;

/// A tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Tenant {
    /// Id of the tenant.
    #[schema(value_type = String)]
    pub id: TenantId,
    /// Name of the tenant.
    pub name: String,
    /// Time of the creation.
    #[schema(value_type = String)]
    pub created_at: Micros,
    /// Time of its suspension; absent while it is not suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub suspended_at: Option<Micros>,
    /// Quotas, grants and retention.
    #[serde(default)]
    pub settings: TenantSettings,
    /// Storage roots that the operator grants to the tenant.
    #[serde(default)]
    pub storage_roots: Vec<String>,
}

/// Settings of a tenant, made by an administrator of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// Name that is shown to people.
    pub display_name: String,
    /// Weight of the tenant when a pool is contended, relative to other tenants.
    pub weight: u32,
    /// Whether the tenant's workers of a contended pool are shared between its runs: the run with the
    /// fewest workers is served next. If not, the batch that could end first is, of whatever run.
    pub share_runs: bool,
    /// Whether the tenant is suspended: new batches, single requests and plugins are refused,
    /// admitted requests still run to their end, and everything can be read.
    pub suspended: bool,
    /// Quotas.
    pub quotas: Quotas,
    /// Grants.
    pub grants: Grants,
    /// Times for which data is kept.
    pub retention: Retention,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            display_name: String::new(),
            weight: 1,
            share_runs: false,
            suspended: false,
            quotas: Quotas::default(),
            grants: Grants::default(),
            retention: Retention::default(),
        }
    }
}

/// Quotas. An absent one is limited only by the platform.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quotas {
    /// Maximum number of workers at the same time, by pool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workers_max: BTreeMap<String, u32>,
    /// Maximum number of batches that have not ended; a single request counts as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_batches_max: Option<u32>,
    /// Requests per minute, as a token bucket that holds one minute's worth. A batch is admitted
    /// while the bucket is not empty and takes its whole expected size, so that no batch is refused
    /// half-way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute_max: Option<u32>,
    /// Maximum stored bytes of requests, artifacts, results, logs and components of plugins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes_max: Option<u64>,
}

/// Capabilities that the tenant's plugins may use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// Whether plugins may use `assay:gpu`.
    pub gpu: bool,
    /// Names of the toolchains that plugins may use (`assay:exec`): all of them when absent, none
    /// when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolchains: Option<Vec<String>>,
    /// Hosts that its plugins may send requests to (`wasi:http`): `api.example.com`, `*.example.com`,
    /// `host:8443` for https; `http://host` for http; `private:` before one whose addresses are not
    /// public. None when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// Retention in days; the platform's own retention where one is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Days for which requests, artifacts, results and logs are kept after the end of their batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_days: Option<u32>,
    /// Days for which the profiles of completed batches are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_days: Option<u32>,
}

impl TenantSettings {
    /// Checks every limit; the error names the field.
    pub fn check(&self) -> Result<(), FieldError> {
        let name = &self.display_name;
        let max = limits::DISPLAY_NAME_BYTES_MAX;
        if name.len() > max || name.chars().any(char::is_control) {
            let detail = format!("display_name must be at most {max} plain characters");
            return Err(FieldError::new("display_name", detail));
        }
        in_range("", "weight", self.weight, limits::TENANT_WEIGHT_MAX)?;
        self.quotas.check()?;
        let toolchains = self.grants.toolchains.as_deref().unwrap_or_default();
        if toolchains.len() > limits::TENANT_TOOLCHAINS_MAX {
            let detail = format!("toolchains are at most {}", limits::TENANT_TOOLCHAINS_MAX);
            return Err(FieldError::new("grants.toolchains", detail));
        }
        for toolchain in toolchains {
            check_name("toolchain", toolchain, limits::PLUGIN_NAME_BYTES_MAX)
                .map_err(|detail| FieldError::new("grants.toolchains", detail))?;
        }
        check_hosts(&self.grants.hosts)
            .map_err(|detail| FieldError::new("grants.hosts", detail))?;
        let Retention { results_days, history_days } = self.retention;
        for (what, days) in [("results_days", results_days), ("history_days", history_days)] {
            days.map_or(Ok(()), |days| {
                in_range("retention.", what, days, limits::RETENTION_DAYS_MAX)
            })?;
        }
        Ok(())
    }
}

impl Quotas {
    fn check(&self) -> Result<(), FieldError> {
        let refused =
            |field: &str, detail: String| Err(FieldError::new(format!("quotas.{field}"), detail));
        if self.workers_max.len() > limits::POOLS_MAX {
            let detail = format!("workers_max names at most {} pools", limits::POOLS_MAX);
            return refused("workers_max", detail);
        }
        for (pool, &workers) in &self.workers_max {
            check_name("pool", pool, limits::PLUGIN_NAME_BYTES_MAX)
                .or_else(|detail| refused("workers_max", detail))?;
            if workers > limits::POOL_WORKERS_MAX {
                let max = limits::POOL_WORKERS_MAX;
                let detail = format!("workers_max of pool `{pool}` must be at most {max}");
                return refused(&format!("workers_max.{pool}"), detail);
            }
        }
        for (what, max) in [
            ("open_batches_max", self.open_batches_max),
            ("requests_per_minute_max", self.requests_per_minute_max),
        ] {
            if max.is_some_and(|max| i32::try_from(max).is_err()) {
                return refused(what, format!("{what} is too large"));
            }
        }
        if self.stored_bytes_max.is_some_and(|max| i64::try_from(max).is_err()) {
            return refused("stored_bytes_max", "stored_bytes_max is too large".into());
        }
        Ok(())
    }
}

fn in_range(parent: &str, what: &str, value: u32, max: u32) -> Result<(), FieldError> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    let detail = format!("{what} must be 1 to {max}, not {value}");
    Err(FieldError::new(format!("{parent}{what}"), detail))
}

/// A page of tenants.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TenantList {
    /// The tenants of this page.
    pub items: Vec<Tenant>,
    /// Cursor of the next page, to be sent as `after`; absent on the last page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// `POST /v1/tenants`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTenant {
    /// Name of the tenant.
    pub name: String,
    /// Quotas, grants and retention.
    #[serde(default)]
    pub settings: TenantSettings,
}

/// `GET /v1/tenants/{name}/usage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TenantUsage {
    /// Name of the tenant.
    pub tenant: String,
    /// Number of live batches.
    pub open_batches: Used,
    /// Tokens that are missing from the bucket; more than the maximum while a large batch is not
    /// paid off.
    pub requests_per_minute: Used,
    /// Bytes that the tenant's data takes in the database.
    pub stored_bytes: Used,
    /// Workers with leases of the tenant, by pool.
    pub workers: BTreeMap<String, Used>,
    /// Usage of ended batches by day, the latest day first.
    pub days: Vec<DayUsage>,
}

/// Current use of a quota and its maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Used {
    /// Amount in use.
    pub used: u64,
    /// Maximum; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// Use of a pool by a tenant on one day (UTC); a batch counts on the day on which it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct DayUsage {
    /// Day, such as `2026-09-21`.
    pub day: String,
    /// Name of the pool.
    pub pool: String,
    /// Number of requests that ran on the pool.
    pub requests: u64,
    /// Seconds for which workers were busy.
    pub worker_seconds: f64,
    /// Worker seconds times the cost of a worker per second at that time.
    pub cost: f64,
}
