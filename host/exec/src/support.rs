//! What the kernel and the operator give a box, and what is missing.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A part of the box that an operator may do without. Everything else is always needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Memory, processes and CPU time of all of a run's processes together. Without them each
    /// process has limits of its own only.
    Cgroups,
    /// A second lock on files, beside the box's own read-only world.
    Landlock,
}

impl Part {
    pub const ALL: [Self; 2] = [Self::Cgroups, Self::Landlock];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cgroups => "cgroups",
            Self::Landlock => "landlock",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.as_str() == text)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a run's processes are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cgroups {
    /// Version 2 alone.
    V2,
    /// Version 1 for memory and processes, version 2 for the rest.
    Hybrid,
    None,
}

/// What a helper found when it started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    pub cgroups: Cgroups,
    /// The version of Landlock's interface, 0 without it.
    pub landlock: u32,
    /// What is missing, with the reason in words.
    pub missing: Vec<(Part, String)>,
}

impl Support {
    /// Before anything was looked at.
    pub(crate) fn nothing() -> Self {
        Self { cgroups: Cgroups::None, landlock: 0, missing: Vec::new() }
    }

    /// What boxes here lack; shown on every outcome.
    #[must_use]
    pub fn weakened(&self) -> BTreeSet<Part> {
        self.missing.iter().map(|(part, _)| *part).collect()
    }
}
