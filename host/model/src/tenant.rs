//! Tenants: what bounds them, what is granted to them, what they used. The JSON shapes of
//! `/v1/tenants`, shared by the server and its clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::TenantId;
use crate::limits;
use crate::outbound::check_hosts;
use crate::plugin::check_name;
use crate::time::Micros;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tenant {
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub id: TenantId,
    pub name: String,
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub created_at: Micros,
    /// Since when it admits nothing; absent while it is not suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub suspended_at: Option<Micros>,
    #[serde(default)]
    pub settings: TenantSettings,
    /// Storage roots that the operator's file grants it.
    #[serde(default)]
    pub storage_roots: Vec<String>,
}

/// What an administrator of the platform chooses for a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// For people.
    pub display_name: String,
    /// Its share of a pool that is over-subscribed, beside the others'.
    pub weight: u32,
    /// Admits no new batch, no single reward and no plugin; what was admitted goes on to its end,
    /// and everything can be read.
    pub suspended: bool,
    pub quotas: Quotas,
    pub grants: Grants,
    pub retention: Retention,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            display_name: String::new(),
            weight: 1,
            suspended: false,
            quotas: Quotas::default(),
            grants: Grants::default(),
            retention: Retention::default(),
        }
    }
}

/// Bounds. What is absent has no bound but the platform's own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Quotas {
    /// The most workers at once, by pool.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub workers_max: BTreeMap<String, u32>,
    /// Batches that have not ended; a single reward is one, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_batches_max: Option<u32>,
    /// A bucket of so many requests that fills at this rate. A batch is admitted while it is not
    /// empty, and takes its whole expected size: no batch is refused half-way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute_max: Option<u32>,
    /// Of requests, artifacts, results and logs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_bytes_max: Option<u64>,
}

/// What a plugin that asks for it gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Grants {
    /// `assay:gpu`.
    pub gpu: bool,
    /// Toolchains of `assay:exec` by name; all of them when absent, none when empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toolchains: Option<Vec<String>>,
    /// Hosts that its plugins may send requests to (`wasi:http`): `api.example.com`, `*.example.com`,
    /// `host:8443` for https; `http://host` for http; `private:` before one whose addresses are not
    /// public. None when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

/// For how many days things are kept; what is absent, as long as the platform keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Requests, artifacts, results and logs, from the end of their batch on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_days: Option<u32>,
    /// The times of completed batches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_days: Option<u32>,
}

impl TenantSettings {
    /// Checks every limit; the error names the field.
    pub fn check(&self) -> Result<(), String> {
        let name = &self.display_name;
        let max = limits::DISPLAY_NAME_BYTES_MAX;
        if name.len() > max || name.chars().any(char::is_control) {
            return Err(format!("display_name must be at most {max} plain characters"));
        }
        in_range("weight", self.weight, limits::TENANT_WEIGHT_MAX)?;
        self.quotas.check()?;
        let toolchains = self.grants.toolchains.as_deref().unwrap_or_default();
        if toolchains.len() > limits::TENANT_TOOLCHAINS_MAX {
            return Err(format!("toolchains are at most {}", limits::TENANT_TOOLCHAINS_MAX));
        }
        for toolchain in toolchains {
            check_name("toolchain", toolchain, limits::PLUGIN_NAME_BYTES_MAX)?;
        }
        check_hosts(&self.grants.hosts)?;
        let Retention { results_days, history_days } = self.retention;
        for (what, days) in [("results_days", results_days), ("history_days", history_days)] {
            days.map_or(Ok(()), |days| in_range(what, days, limits::RETENTION_DAYS_MAX))?;
        }
        Ok(())
    }
}

impl Quotas {
    fn check(&self) -> Result<(), String> {
        if self.workers_max.len() > limits::POOLS_MAX {
            return Err(format!("workers_max names at most {} pools", limits::POOLS_MAX));
        }
        for (pool, &workers) in &self.workers_max {
            check_name("pool", pool, limits::PLUGIN_NAME_BYTES_MAX)?;
            if workers > limits::POOL_WORKERS_MAX {
                let max = limits::POOL_WORKERS_MAX;
                return Err(format!("workers_max of pool `{pool}` must be at most {max}"));
            }
        }
        for (what, max) in [
            ("open_batches_max", self.open_batches_max),
            ("requests_per_minute_max", self.requests_per_minute_max),
        ] {
            if max.is_some_and(|max| i32::try_from(max).is_err()) {
                return Err(format!("{what} is too large"));
            }
        }
        if self.stored_bytes_max.is_some_and(|max| i64::try_from(max).is_err()) {
            return Err("stored_bytes_max is too large".into());
        }
        Ok(())
    }
}

fn in_range(what: &str, value: u32, max: u32) -> Result<(), String> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    Err(format!("{what} must be 1 to {max}, not {value}"))
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantList {
    pub items: Vec<Tenant>,
}

/// `POST /v1/tenants`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateTenant {
    pub name: String,
    #[serde(default)]
    pub settings: TenantSettings,
}

/// `GET /v1/tenants/{name}/usage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TenantUsage {
    pub tenant: String,
    pub open_batches: Used,
    /// What the bucket lacks; more than the most while a batch's debt is not paid.
    pub requests_per_minute: Used,
    pub stored_bytes: Used,
    /// By pool: workers that have something of the tenant's in hand.
    pub workers: BTreeMap<String, Used>,
    /// Of batches that ended, the latest day first.
    pub days: Vec<DayUsage>,
}

/// What is used now, and the most that may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Used {
    pub used: u64,
    /// Absent where there is no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

/// What a tenant used of a pool in a day (UTC), by when its batches ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DayUsage {
    /// Such as `2026-09-21`.
    pub day: String,
    pub pool: String,
    /// That ran on the pool.
    pub requests: u64,
    pub worker_seconds: f64,
    /// Seconds times what a worker of the pool cost then.
    pub cost: f64,
}
