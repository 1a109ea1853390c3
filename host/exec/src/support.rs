//! The parts of the sandbox that this machine has, and those that are missing.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of the sandbox that an operator may allow to be missing. All other parts are always required.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxPart {
    /// Limits on memory, processes and CPU time of all processes of a run together. Without them the limits
    /// apply to each process alone.
    Cgroups,
    /// A second restriction of file access, in addition to the read-only file tree.
    Landlock,
}

impl SandboxPart {
    /// All parts.
    pub const ALL: [Self; 2] = [Self::Cgroups, Self::Landlock];

    /// The name in options and outcomes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cgroups => "cgroups",
            Self::Landlock => "landlock",
        }
    }

    /// The part with this name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.as_str() == text)
    }
}

impl fmt::Display for SandboxPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a helper makes no boxes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Refusal {
    /// The machine lacks what boxes need, which another start does not change. The text says what is missing and
    /// what to do.
    #[error("{0}")]
    Lacking(String),
    /// Something failed; another start may succeed.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for Refusal {
    fn from(problem: String) -> Self {
        Self::Failed(problem)
    }
}

/// The version of cgroups that limits the processes of a run together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroups {
    /// Version 2 alone.
    V2,
    /// Version 1 for memory and processes, version 2 for the rest.
    Hybrid,
    /// No cgroups.
    None,
}

/// The parts of the sandbox that a helper found at its start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoxSupport {
    /// The cgroups of its boxes.
    pub cgroups: Cgroups,
    /// The version of Landlock's interface; 0 without Landlock.
    pub landlock: u32,
    /// The missing parts, each with the reason.
    pub missing: Vec<(SandboxPart, String)>,
}

impl BoxSupport {
    /// No part at all: the value before the helper has reported.
    pub(crate) fn nothing() -> Self {
        Self { cgroups: Cgroups::None, landlock: 0, missing: Vec::new() }
    }

    /// The parts that boxes here lack; every outcome lists them.
    #[must_use]
    pub fn weakened(&self) -> BTreeSet<SandboxPart> {
        self.missing.iter().map(|(part, _)| *part).collect()
    }
}
