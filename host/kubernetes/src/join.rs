//! The ways in which a Pod's worker proves who it is.

use serde::Deserialize;

/// The proof with which the worker of a Pod joins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PodJoin {
    /// The token that Kubernetes gives to the Pod alone. The server asks Kubernetes whose it is, for which it needs the
    /// right to create `tokenreviews` in the whole cluster.
    #[default]
    Token,
    /// The ticket, which stands in the Pod: who may read Pods can join in the place of one that has not joined yet.
    Ticket,
}
