//! The pin of an authority: the SHA-256 of its certificate, which people copy and workers compare.

use std::fmt;
use std::str::FromStr;

use assay_core::id::Digest;

const PREFIX: &str = "sha256:";

/// The SHA-256 of an authority's certificate (DER).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin(Digest);

/// A text that is no pin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a pin is `sha256:` and 64 hexadecimal digits; `assay worker token` prints it")]
pub struct BadPin;

impl Pin {
    pub(crate) fn of(certificate: &[u8]) -> Self {
        Self(Digest::of(certificate))
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

impl FromStr for Pin {
    type Err = BadPin;

    fn from_str(text: &str) -> Result<Self, BadPin> {
        let digest = text.strip_prefix(PREFIX).ok_or(BadPin)?;
        digest.parse().map(Self).map_err(|_| BadPin)
    }
}
