//! Traces and metrics for OpenTelemetry.

/// The calls of capabilities that a worker tells of one stage of a traced request.
pub const TRACED_CALLS_MAX: usize = 64;
/// The bytes of the name of a call of a capability.
pub const CALL_NAME_BYTES_MAX: usize = 64;
/// The attempts at stages that are kept of a traced request.
pub const TRACED_ATTEMPTS_MAX: usize = 32;
/// The ended requests that wait until their traces are sent; further ones are dropped, and counted.
pub const TRACES_WAITING_MAX: usize = 8_192;
/// The spans in one call to the receiver.
pub const SPANS_SENT_MAX: usize = 2_048;
