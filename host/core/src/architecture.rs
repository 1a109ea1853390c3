//! Architectures of CPUs, for which plugins are compiled.

use std::fmt;
use std::str::FromStr;

/// The architecture of a worker's CPU. Text and options have its name as `uname -m` prints it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Architecture {
    /// `x86_64`: CPUs of Intel and AMD.
    X86_64,
    /// `aarch64`: 64-bit Arm, such as Graviton and Grace.
    Aarch64,
}

/// The name is that of no architecture for which plugins are compiled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no architecture of workers; x86_64 and aarch64 are")]
pub struct UnknownArchitecture(String);

impl Architecture {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// The one for which this program was built.
    #[must_use]
    pub const fn own() -> Self {
        if cfg!(target_arch = "aarch64") { Self::Aarch64 } else { Self::X86_64 }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Architecture {
    type Err = UnknownArchitecture;

    fn from_str(text: &str) -> Result<Self, UnknownArchitecture> {
        let found = Self::ALL.into_iter().find(|architecture| architecture.name() == text);
        found.ok_or_else(|| UnknownArchitecture(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_uname() {
        for architecture in Architecture::ALL {
            assert_eq!(architecture.to_string().parse(), Ok(architecture));
        }
        assert_eq!(Architecture::own().name(), std::env::consts::ARCH);
        assert_eq!(
            "arm64".parse::<Architecture>().expect_err("another name").to_string(),
            "`arm64` is no architecture of workers; x86_64 and aarch64 are"
        );
    }
}
