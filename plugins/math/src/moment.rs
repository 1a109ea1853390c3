//! Dates and times of day: `May 5, 2020`, `5th of May`, `2020-05-05`, `3:30 PM`, `15:30`.

/// A date, a time of day, or both. Fields that were not written are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Moment {
    pub(crate) year: Option<u32>,
    pub(crate) month: Option<u32>,
    pub(crate) day: Option<u32>,
    /// Minutes since midnight, or since noon where `half` is unknown.
    pub(crate) minutes: Option<u32>,
    pub(crate) half: Option<Half>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    Morning,
    Afternoon,
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl Moment {
    /// Whether both say the same; a half of the day and a year may be left out on one side.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let half = match (self.half, other.half) {
            (Some(here), Some(there)) => here == there,
            _ => true,
        };
        let year = match (self.year, other.year) {
            (Some(here), Some(there)) => here == there,
            _ => true,
        };
        let clock = |moment: &Self| match moment.half {
            Some(Half::Afternoon) => moment.minutes.map(|minutes| minutes % 720 + 720),
            Some(Half::Morning) => moment.minutes.map(|minutes| minutes % 720),
            None => moment.minutes,
        };
        let minutes = match (self.half, other.half) {
            // `15:30` is `3:30 PM`; `3:30` may be it.
            (Some(_), None) | (None, Some(_)) => {
                clock(self) == clock(other) || self.minutes == other.minutes
            }
            _ => clock(self) == clock(other),
        };
        half && year && minutes && self.month == other.month && self.day == other.day
    }

    /// Reads a text that is nothing but a date or a time.
    pub(crate) fn read(text: &str) -> Option<Self> {
        if text.len() > 40 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
            return None;
        }
        iso_date(text).or_else(|| named_date(text)).or_else(|| time_of_day(text))
    }

    pub(crate) fn plain(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(month), Some(day)) = (self.month, self.day) {
            let name = MONTHS.get(month as usize - 1).copied().unwrap_or_default();
            parts.push(format!("{day} {name}"));
        }
        parts.extend(self.year.map(|year| year.to_string()));
        if let Some(minutes) = self.minutes {
            parts.push(format!("{}:{:02}", minutes / 60, minutes % 60));
        }
        match self.half {
            Some(Half::Morning) => parts.push("AM".into()),
            Some(Half::Afternoon) => parts.push("PM".into()),
            None => {}
        }
        parts.join(" ")
    }
}

fn number(text: &str, digits_max: usize) -> Option<u32> {
    let whole = !text.is_empty() && text.len() <= digits_max;
    (whole && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn iso_date(text: &str) -> Option<Moment> {
    let parts: Vec<&str> = text.trim().split('-').collect();
    let [year, month, day] = parts.as_slice() else { return None };
    let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
    let shape = (1_000..=9_999).contains(&year) && parts[1].len() == 2 && parts[2].len() == 2;
    date(Some(year), month, day).filter(|_| shape)
}

fn date(year: Option<u32>, month: u32, day: u32) -> Option<Moment> {
    let sound = (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then_some(Moment { year, month: Some(month), day: Some(day), ..Moment::default() })
}

fn named_date(text: &str) -> Option<Moment> {
    let lower = text.to_ascii_lowercase();
    let mut month = None;
    let mut numbers = Vec::new();
    for word in lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let named = MONTHS.iter().position(|name| {
            *name == word || (word.len() >= 3 && word.len() <= 4 && name.starts_with(word))
        });
        if let Some(at) = named.filter(|_| month.is_none()) {
            month = u32::try_from(at + 1).ok();
        } else if !matches!(word, "of" | "the" | "text") {
            let digits = ["st", "nd", "rd", "th"]
                .into_iter()
                .find_map(|ending| word.strip_suffix(ending))
                .unwrap_or(word);
            numbers.push(number(digits, 4)?);
        }
    }
    match numbers.as_slice() {
        [day] => date(None, month?, *day),
        [day, year] if *year > 99 => date(Some(*year), month?, *day),
        _ => None,
    }
}

fn time_of_day(text: &str) -> Option<Moment> {
    // Most texts with digits are none.
    if !text.contains(':') && !text.trim_end_matches(['.', '}', ' ']).ends_with(['m', 'M']) {
        return None;
    }
    let lower = text.trim().to_ascii_lowercase().replace(['.', ' ', '{', '}', '~'], "");
    let lower = lower.replace("\\text", "").replace("\\mathrm", "").replace("\\,", "");
    let (clock, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock, Some(Half::Morning)),
        (_, Some(clock)) => (clock, Some(Half::Afternoon)),
        _ => (lower.as_str(), None),
    };
    let (hours, minutes) = match clock.split_once(':') {
        Some((hours, minutes)) => {
            (number(hours, 2)?, number(minutes, 2).filter(|_| minutes.len() == 2)?)
        }
        None => (half.and_then(|_| number(clock, 2))?, 0),
    };
    // Without a half of the day `11:21` is a ratio as well; the reader of ratios decides.
    let sound = minutes < 60 && if half.is_some() { (1..=12).contains(&hours) } else { hours < 24 };
    sound.then_some(Moment { minutes: Some(hours * 60 + minutes), half, ..Moment::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_dates_and_times() {
        let agree = |left: &str, right: &str, expected: bool| {
            let (left, right) =
                (Moment::read(left).expect(left), Moment::read(right).expect(right));
            assert_eq!(left.agrees(&right), expected, "{left:?} {right:?}");
            assert_eq!(right.agrees(&left), expected, "{right:?} {left:?}");
        };
        agree("May 5, 2020", "5 May 2020", true);
        agree("2020-05-05", "May 5th, 2020", true);
        agree("May 5", "the 5th of May", true);
        agree(r"\text{May }5", "5 May", true);
        agree(r"3:30\,\text{PM}", "3:30 PM", true);
        agree("May 5", "May 6", false);
        agree("Jan. 12", "January 12", true);
        agree("3:30 PM", "15:30", true);
        agree("3:30 p.m.", "3:30", true);
        agree("3:30 AM", "3:30 PM", false);
        agree("12:00", "1:00", false);
        agree("12:15 AM", "0:15", true);
        for text in ["5", "1/2", "12:5", "25:00 PM", "May", "3:75", "2020-5", "1-2-3"] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }
}
