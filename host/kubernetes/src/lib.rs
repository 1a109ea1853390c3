//! The launcher `kubernetes`: each worker is a Pod that joins the server by TLS, with the token that Kubernetes gives to it.
//!
//! Pods are made from the operator's own, bare, and never restarted: the scheduler asks for workers, so that no
//! controller of Kubernetes decides beside it. Their labels hold the ticket, so that a server finds those of the server
//! before it. A stop names the Pod.
//!
//! Without the feature `client`, as `make run` builds it, all of it is refused in words: Kubernetes' client and its types
//! take a minute to compile.

#[cfg(feature = "client")]
mod calls;
mod join;
#[cfg(feature = "client")]
mod launcher;
#[cfg(feature = "client")]
mod pods;
#[cfg(feature = "client")]
mod reading;
#[cfg(feature = "client")]
mod settings;
#[cfg(feature = "client")]
mod token;
#[cfg(not(feature = "client"))]
mod without;

#[cfg(feature = "client")]
pub use calls::{KubernetesConnection, connect};
pub use join::PodJoin;
#[cfg(feature = "client")]
pub use launcher::KubernetesLauncher;
#[cfg(feature = "client")]
pub use settings::{KubernetesFile, KubernetesPool, KubernetesSettings};
#[cfg(not(feature = "client"))]
pub use without::{
    AbsentConnection as KubernetesConnection, AbsentFile as KubernetesFile,
    AbsentLauncher as KubernetesLauncher, AbsentPool as KubernetesPool,
    AbsentSettings as KubernetesSettings, connect,
};
