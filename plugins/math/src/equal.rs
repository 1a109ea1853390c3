//! The rules by which two values may be equal.

/// The rule by which two values turned out equal, the weaker the later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Equal {
    Written,
    Exactly,
    Proportional,
    Converted,
    Hundredfold,
    Unnamed,
    DecimalComma,
    Separated,
    Rounded,
    Computed,
    Numerically,
    AsText,
    AsChoice,
}

impl Equal {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Written => "both are written alike",
            Self::Exactly => "their exact values are equal",
            Self::Proportional => "one is the other up to a factor",
            Self::Converted => "they are equal after conversion of units",
            Self::Hundredfold => "they are equal where the percent sign is given on one side only",
            Self::Unnamed => "they are equal without the name of the value",
            Self::DecimalComma => "they are equal where the comma is a decimal mark",
            Self::Separated => "they are equal where every comma separates members",
            Self::Rounded => "the rounded side of the answer is equal",
            Self::Computed => "their computed values are equal",
            Self::Numerically => "their values are equal within the tolerance",
            Self::AsText => "they are the same text",
            Self::AsChoice => "they are the same choice",
        }
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::AsText | Self::AsChoice)
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Self::Rounded | Self::Computed | Self::Numerically)
    }
}
