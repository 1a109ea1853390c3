//! Limits of workers that are Pods of Kubernetes.

/// The mean pause before what Kubernetes refused for now is tried again, in seconds.
pub const KUBERNETES_AGAIN_SECONDS: u64 = 5;
/// The most creations and deletions under way at once; others wait.
pub const KUBERNETES_CALLS_MAX: usize = 8;
/// The time for an answer of Kubernetes, in seconds.
pub const KUBERNETES_ANSWER_SECONDS_MAX: u64 = 30;
/// The most tokens of Pods that Kubernetes is asked about at once; others wait.
pub const KUBERNETES_REVIEWS_MAX: usize = 4;
/// The time in which Kubernetes must say whose token one is, in seconds: the worker waits for it.
pub const KUBERNETES_REVIEW_SECONDS_MAX: u64 = 5;
/// The life of a Pod's token, in seconds; Kubernetes allows no shorter one.
pub const KUBERNETES_TOKEN_SECONDS: i64 = 600;
/// The time from a Pod's node to its worker's start, in seconds, after which its start counts as failed; large images are
/// pulled in it.
pub const KUBERNETES_PREPARE_SECONDS_MAX: u64 = 1_800;
/// The time without a byte from Kubernetes after which a call is given up, in seconds; longer than a watch may be silent.
pub const KUBERNETES_SILENCE_SECONDS_MAX: u64 = 300;
/// The time after which a Pod that is to end at once is taken out of Kubernetes though its node does not confirm its end,
/// in seconds.
pub const KUBERNETES_STOP_SECONDS_MAX: u64 = 60;
