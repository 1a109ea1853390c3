//! Limits of HTTP requests to other hosts, for one call of a plugin (one stage of one request).

use super::KIB;

/// The HTTP requests of one call.
pub const HTTP_REQUESTS_MAX: u32 = 64;
/// The HTTP requests of one call that are open at the same time; each has a connection of its own.
pub const HTTP_AT_ONCE_MAX: usize = 8;
/// The bytes of all bodies that one call sends.
pub const HTTP_SENT_BYTES_MAX: u64 = 8 << 20;
/// The bytes of all bodies that one call receives.
pub const HTTP_RECEIVED_BYTES_MAX: u64 = 16 << 20;
/// The bytes of one request's headers, and of one response's status line and headers.
pub const HTTP_HEADER_BYTES_MAX: usize = 32 * KIB;
/// The headers of one request or response.
pub const HTTP_HEADERS_MAX: usize = 100;
/// The bytes of one request's path and query.
pub const HTTP_PATH_BYTES_MAX: usize = 8 * KIB;
/// The bytes of one request's method.
pub const HTTP_METHOD_BYTES_MAX: usize = 64;
/// The bytes of one request's host and port.
pub const HTTP_AUTHORITY_BYTES_MAX: usize = 512;
/// The bytes of one write to a request's body. The host stores two writes of a request that is not sent yet.
pub const HTTP_WRITE_BYTES_MAX: usize = 64 * KIB;
/// The time in milliseconds to look up a host's addresses, connect and set up encryption, together.
pub const HTTP_CONNECT_MS_MAX: u64 = 10_000;
/// The time in milliseconds between the end of the last HTTP request and the end of the call, or a tenth of
/// the call's time where that is less: the plugin can still report that it got no answer.
pub const HTTP_RESERVE_MS: u64 = 1_000;
/// The host names that all calls of a process look up at the same time. Each blocks a thread, after the end of its call
/// too, until the machine's resolver answers.
pub const LOOKUPS_MAX: usize = 64;
/// The host names that all calls of a tenant look up at the same time: twice as many as one call may.
pub const LOOKUPS_TENANT_MAX: usize = 2 * HTTP_AT_ONCE_MAX;
/// The addresses of one host name that are tried.
pub const HTTP_ADDRESSES_MAX: usize = 16;
/// The secrets in the operator's file.
pub const SECRETS_MAX: usize = 256;
/// The bytes of one secret.
pub const SECRET_BYTES_MAX: usize = 8 * KIB;
