//! Limits of tenants and of their grants.

/// The tenants of a deployment.
pub const TENANTS_MAX: usize = 10_000;
/// The bytes of a tenant's display name.
pub const DISPLAY_NAME_BYTES_MAX: usize = 128;
/// The weight of a tenant.
pub const TENANT_WEIGHT_MAX: u32 = 1_000;
/// The toolchains that a tenant may be granted by name.
pub const TENANT_TOOLCHAINS_MAX: usize = 64;
/// The host patterns to which a tenant's plugins may send requests.
pub const TENANT_HOSTS_MAX: usize = 64;
/// The bytes of one host pattern.
pub const HOST_PATTERN_BYTES_MAX: usize = 300;
/// The bytes of a host's name.
pub const HOST_NAME_BYTES_MAX: usize = 253;
/// The days of a retention.
pub const RETENTION_DAYS_MAX: u32 = 36_500;
/// The rows that are deleted in one commit when they are too old.
pub const PURGED_ROWS_AT_ONCE: u32 = 5_000;
/// The days for which a single request whose result was deleted is still known as such.
pub const PURGED_SINGLE_DAYS_KEPT: u32 = 30;
