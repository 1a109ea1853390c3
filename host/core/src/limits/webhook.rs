//! Limits of webhooks and of the deliveries to them.

/// The webhooks of one tenant.
pub const WEBHOOKS_PER_TENANT_MAX: i64 = 20;
/// The bytes of a webhook's name.
pub const WEBHOOK_NAME_BYTES_MAX: usize = 64;
/// The bytes of a webhook's URL.
pub const WEBHOOK_URL_BYTES_MAX: usize = 2_048;
/// The minutes after which a webhook is told again of incidents that go on.
pub const WEBHOOK_REPEAT_MINUTES: u64 = 60;
/// The deliveries that one round makes.
pub const WEBHOOK_DELIVERIES_MADE_MAX: i64 = 500;
/// The deliveries that are tried at the same time.
pub const WEBHOOK_DELIVERIES_TRIED_MAX: i64 = 16;
/// The deliveries of one tenant that are tried at the same time.
pub const WEBHOOK_DELIVERIES_PER_TENANT_MAX: i64 = 4;
/// The time in seconds in which a receiver must answer.
pub const WEBHOOK_SECONDS_MAX: u64 = 10;
/// The seconds between the tries of a delivery, which is tried once more than these are.
pub const WEBHOOK_PAUSES_SECONDS: [u64; 5] = [10, 60, 600, 3_600, 4 * 3_600];
/// The latest deliveries of a webhook that are listed.
pub const WEBHOOK_DELIVERIES_LISTED_MAX: i64 = 50;
/// The days for which deliveries are kept that arrived or were given up.
pub const WEBHOOK_DELIVERY_DAYS_KEPT: u32 = 30;
/// The deliveries of one webhook that wait; beyond it none are made for it.
pub const WEBHOOK_DELIVERIES_WAITING_MAX: i64 = 100;
