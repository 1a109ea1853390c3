//! Numbers with their units, and what they should be.

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    RequestsPerSecond,
    /// Runs or problems, of which there are few.
    PerSecond,
    Milliseconds,
    Seconds,
    /// For one request.
    Microseconds,
    Bytes,
    Percent,
    Count,
    /// For one request.
    Share,
}

impl Unit {
    #[must_use]
    pub fn text(self, value: f64) -> String {
        match self {
            Self::RequestsPerSecond => format!("{value:.0}/s"),
            Self::PerSecond if value < 100.0 => format!("{value:.1}/s"),
            Self::PerSecond => format!("{value:.0}/s"),
            Self::Milliseconds => format!("{value:.2} ms"),
            Self::Seconds => format!("{value:.2} s"),
            Self::Microseconds => format!("{value:.1} µs"),
            Self::Bytes => format!("{value:.0} B"),
            Self::Percent => format!("{value:.2} %"),
            Self::Count => format!("{value:.0}"),
            Self::Share => format!("{value:.2}"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn met(self, value: f64) -> bool {
        match self {
            Self::AtLeast(goal) => value >= goal,
            Self::AtMost(goal) => value <= goal,
        }
    }

    /// The goal in words, and whether the value meets it where there is one.
    #[must_use]
    pub fn text(self, unit: Unit, value: Option<f64>) -> String {
        let words = match self {
            Self::AtLeast(goal) => format!("at least {}", unit.text(goal)),
            Self::AtMost(goal) => format!("at most {}", unit.text(goal)),
        };
        match value.map(|value| self.met(value)) {
            None => words,
            Some(true) => format!("{words}: met"),
            Some(false) => format!("{words}: missed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_says_whether_it_is_met() {
        let overhead = Goal::AtMost(1.2);
        let text = |value| overhead.text(Unit::Milliseconds, value);
        assert_eq!(text(None), "at most 1.20 ms");
        assert_eq!(text(Some(1.2)), "at most 1.20 ms: met");
        assert_eq!(text(Some(1.21)), "at most 1.20 ms: missed");
        let all = Goal::AtLeast(164.0);
        assert_eq!(all.text(Unit::Count, Some(163.0)), "at least 164: missed");
    }

    #[test]
    fn few_a_second_keep_a_decimal() {
        assert_eq!(Unit::PerSecond.text(41.26), "41.3/s");
        assert_eq!(Unit::PerSecond.text(1_041.26), "1041/s");
    }
}
