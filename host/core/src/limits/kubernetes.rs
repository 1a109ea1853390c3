//! Limits of workers that are Pods of Kubernetes.

/// The pause before what Kubernetes refused for now is tried again, in seconds.
pub const KUBERNETES_AGAIN_SECONDS: u64 = 5;
/// The most creations and deletions under way at once; others wait.
pub const KUBERNETES_CALLS_MAX: usize = 8;
/// The time for an answer of Kubernetes, in seconds.
pub const KUBERNETES_ANSWER_SECONDS_MAX: u64 = 30;
/// The time after which a Pod that is to end at once is taken out of Kubernetes though its node does not confirm its end,
/// in seconds.
pub const KUBERNETES_STOP_SECONDS_MAX: u64 = 60;
