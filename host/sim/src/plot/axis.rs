//! Where a value lies along an axis, and the round numbers that mark it.

/// The value above which a value counts as missing.
const VALUE_MAX: f64 = 1e15;

/// About as many intervals between ticks as are read easily.
const INTERVALS: f64 = 6.0;

pub(super) struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// The ticks with their labels.
    pub(super) ticks: Vec<(f64, String)>,
    /// Whether a line is drawn across the chart at each tick.
    pub(super) has_grid: bool,
}

impl Axis {
    /// An axis from the least to the greatest value.
    pub(super) fn exact(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values, |_| true).unwrap_or((0.0, 1.0));
        let (low, high) = widened(low, high);
        let step = round_step(low, high);
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first) as usize;
        Self::linear(low, high, (0..=count).map(|tick| (first + tick as f64) * step))
    }

    /// An axis from zero, or the least negative value, to a round number.
    pub(super) fn from_zero(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = range(values, |_| true).unwrap_or((0.0, 1.0));
        let (low, high) = (low.min(0.0), high.max(0.0));
        let high = if low == high { 1.0 } else { high };
        let step = round_step(low, high);
        let (first, last) = ((low / step).floor(), (high / step).ceil());
        let ticks = (0..=(last - first) as usize).map(|tick| (first + tick as f64) * step);
        Self::linear(first * step, last * step, ticks)
    }

    /// A logarithmic axis between round values (1, 2 or 5 of a decade); values that are not positive are
    /// not shown.
    pub(super) fn log(values: impl Iterator<Item = f64>) -> Self {
        let (least, greatest) = range(values, |value| value > 1e-15).unwrap_or((1.0, 10.0));
        let decades = (least.log10().floor() as i32)..=(greatest.log10().ceil() as i32);
        let marks: Vec<f64> = decades
            .flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade)))
            .collect();
        // A rounding must not leave the outermost points outside.
        let below = marks.iter().rposition(|mark| *mark <= least).unwrap_or(0);
        let above = marks.iter().position(|mark| *mark >= greatest).unwrap_or(marks.len() - 1);
        let shown = &marks[below..=above.max(below + 1).min(marks.len() - 1)];
        let (low, high) = (shown[0].min(least), shown[shown.len() - 1].max(greatest));
        // Over more than three decades the powers of ten are enough, or some of them.
        let every = if shown.len() <= 10 { 1 } else { 3 * shown.len().div_ceil(24) };
        let tens = (3 - below % 3) % 3;
        let skipped = if every == 1 { 0 } else { tens };
        let ticks = shown.iter().skip(skipped).step_by(every);
        let ticks = ticks.map(|tick| (*tick, rounded(*tick))).collect();
        Self { low, high, log: true, ticks, has_grid: true }
    }

    /// A place of width one for each name.
    pub(super) fn categories(names: &[&str]) -> Self {
        let ticks = names.iter().enumerate();
        let ticks = ticks.map(|(place, name)| (place as f64 + 0.5, (*name).to_owned())).collect();
        Self { low: 0.0, high: names.len().max(1) as f64, log: false, ticks, has_grid: false }
    }

    fn linear(low: f64, high: f64, ticks: impl Iterator<Item = f64>) -> Self {
        let ticks = ticks.map(|tick| (tick, rounded(tick))).collect();
        Self { low, high, log: false, ticks, has_grid: true }
    }

    /// 0 at the axis' beginning, 1 at its end; `None` for what it cannot show.
    pub(super) fn place(&self, value: f64) -> Option<f64> {
        if !is_shown(value) || (self.log && value <= 0.0) {
            return None;
        }
        let scaled = |value: f64| if self.log { value.log10() } else { value };
        let (low, high) = (scaled(self.low), scaled(self.high));
        Some(((scaled(value) - low) / (high - low)).clamp(0.0, 1.0))
    }
}

fn is_shown(value: f64) -> bool {
    value.abs() <= VALUE_MAX
}

fn range(values: impl Iterator<Item = f64>, is_meant: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
    let shown = values.filter(|value| is_shown(*value) && is_meant(*value));
    shown.fold(None, |range, value| {
        let (low, high) = range.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

/// A range that has room for ticks, even if all values are one.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let least = low.abs().max(high.abs()).max(1.0) * 1e-6;
    if high - low > least { (low, high) } else { (low - 0.5 - least, high + 0.5 + least) }
}

/// 1, 2, 2.5 or 5 times a power of ten.
fn round_step(low: f64, high: f64) -> f64 {
    let rough = (high - low) / INTERVALS;
    let decade = 10_f64.powf(rough.log10().floor());
    let digits = [1.0, 2.0, 2.5, 5.0, 10.0];
    let digit = digits.into_iter().find(|digit| digit * decade >= rough * 0.999);
    digit.unwrap_or(10.0) * decade
}

/// Four digits, thousands and millions short.
pub(super) fn rounded(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e9 => (value / 1e9, "G"),
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    if scaled != 0.0 && scaled.abs() < 1e-4 {
        return format!("{scaled:.0e}");
    }
    let whole = scaled.abs().log10().floor().max(0.0);
    let decimals = if scaled.abs() < 1.0 { 4 } else { 3 - (whole as usize).min(3) };
    let text = format!("{scaled:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    // A sum of steps may end a rounding below zero.
    format!("{}{unit}", if text == "-0" { "0" } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        let from_zero = |values: &[f64]| Axis::from_zero(values.iter().copied());
        assert_eq!(labels(&from_zero(&[97.0])), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(labels(&from_zero(&[1.4])), ["0", "0.25", "0.5", "0.75", "1", "1.25", "1.5"]);
        assert_eq!(labels(&from_zero(&[-3.0, 4.0])), ["-4", "-2", "0", "2", "4"]);
        assert_eq!(labels(&from_zero(&[])), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&from_zero(&[0.0])), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(&from_zero(&[31_000.0])), ["0", "10k", "20k", "30k", "40k"],);
        let exact = |values: &[f64]| Axis::exact(values.iter().copied());
        assert_eq!(labels(&exact(&[3.0, 47.0])), ["10", "20", "30", "40"]);
        assert_eq!(labels(&exact(&[5.0])), ["4.6", "4.8", "5", "5.2", "5.4"]);
        let log = |values: &[f64]| Axis::log(values.iter().copied());
        assert_eq!(labels(&log(&[10.0, 130.0])), ["10", "20", "50", "100", "200"]);
        assert_eq!(
            labels(&log(&[0.003, 9_000.0])),
            ["0.01", "0.1", "1", "10", "100", "1000", "10k"]
        );
        assert_eq!(labels(&log(&[7.0])), ["5", "10"]);
        assert_eq!(labels(&log(&[1.0])), ["1", "2"]);
        assert!(labels(&log(&[1e-14, 1e14])).len() <= 12);
    }

    #[test]
    fn values_lie_where_they_should() {
        let axis = Axis::from_zero([100.0].into_iter());
        assert_eq!(
            (axis.place(0.0), axis.place(50.0), axis.place(100.0)),
            (Some(0.0), Some(0.5), Some(1.0))
        );
        assert_eq!((axis.place(f64::NAN), axis.place(f64::INFINITY)), (None, None));
        let axis = Axis::log([1.0, 100.0].into_iter());
        assert_eq!(
            (axis.place(1.0), axis.place(10.0), axis.place(100.0)),
            (Some(0.0), Some(0.5), Some(1.0))
        );
        assert_eq!((axis.place(0.0), axis.place(-1.0)), (None, None));
    }

    #[test]
    fn labels_are_short() {
        for (value, label) in [
            (0.0, "0"),
            (-0.0, "0"),
            (0.30000000000000004, "0.3"),
            (0.00002, "2e-5"),
            (1.298, "1.298"),
            (80.7, "80.7"),
            (9_999.0, "9999"),
            (12_500.0, "12.5k"),
            (2e6, "2M"),
            (-1_500_000_000.0, "-1.5G"),
        ] {
            assert_eq!(rounded(value), label);
        }
    }
}
