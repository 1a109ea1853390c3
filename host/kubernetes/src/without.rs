//! The same interface in a program that was built without the client of Kubernetes. No connection can be made, so that
//! nothing beyond one is ever called.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;
use assay_core::id::TicketId;
use assay_fleet::{Events, Launcher, Reconciling, Start, Stop};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::join::PodJoin;

const WITHOUT: &str = "this program was built without Kubernetes, as `make run` does to be there sooner; `make release` \
                       builds one with it, and packages have it";

#[derive(Debug, Clone, Deserialize)]
pub struct AbsentFile {
    pub server: Option<String>,
    pub namespace: Option<String>,
    #[serde(default)]
    pub join: PodJoin,
    pub pools: BTreeMap<String, AbsentPool>,
}

impl AbsentFile {
    /// # Errors
    /// Always.
    pub fn check(&self) -> anyhow::Result<()> {
        bail!(WITHOUT)
    }
}

pub type AbsentPool = IgnoredAny;

pub struct AbsentSettings {
    pub server: String,
    pub ca_pin: String,
    pub cluster: String,
    pub join: PodJoin,
    pub pools: BTreeMap<Arc<str>, AbsentPool>,
}

/// There is none.
pub enum AbsentConnection {}

impl AbsentConnection {
    /// # Errors
    /// It is never called.
    pub async fn check(&self, _file: &AbsentFile) -> anyhow::Result<()> {
        match *self {}
    }

    #[must_use]
    pub fn namespace(&self) -> &str {
        match *self {}
    }
}

/// # Errors
/// Always.
pub async fn connect(_namespace: Option<&str>) -> anyhow::Result<AbsentConnection> {
    bail!(WITHOUT)
}

pub struct AbsentLauncher(AbsentConnection);

impl AbsentLauncher {
    #[must_use]
    pub fn new(_settings: AbsentSettings, connection: AbsentConnection, _events: Events) -> Self {
        Self(connection)
    }
}

impl Launcher for AbsentLauncher {
    fn name(&self) -> &'static str {
        match self.0 {}
    }

    fn start(&self, _starts: Vec<Start>) {
        match self.0 {}
    }

    fn stop(&self, _ticket: TicketId, _how: Stop) {
        match self.0 {}
    }

    fn reconcile(&self) -> Reconciling<'_> {
        match self.0 {}
    }
}
