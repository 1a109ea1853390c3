//! The expected excess of a request's remaining time over the time that it has: the price of queueing.

use assay_core::time::Micros;

/// Points of a table; between two of them it is linear.
const POINTS: usize = 256;

/// Phi(x) = E[(S - x)+] over the service times S that are left to a request: how late it is
/// expected to be when it has x left.
#[derive(Debug, Clone, PartialEq)]
pub struct Tail {
    /// Seconds between two points.
    step: f64,
    /// The values at x = 0, step, 2 step, ..., in seconds; zero after the last.
    expected: Vec<f64>,
    mean: f64,
}

impl Tail {
    /// Builds the table from observed times, in any order. Without any, the excess is zero.
    #[must_use]
    pub fn of(times: &[Micros]) -> Self {
        let longest = times.iter().max().map_or(0.0, |longest| longest.as_secs_f64());
        let count = times.len().max(1) as f64;
        let step = (longest / (POINTS - 1) as f64).max(1e-6);
        // How many times fall between two points, and how far beyond the first.
        let mut counts = vec![0.0; POINTS];
        let mut beyond = vec![0.0; POINTS];
        for time in times {
            let seconds = time.as_secs_f64();
            let point = ((seconds / step) as usize).min(POINTS - 1);
            counts[point] += 1.0;
            beyond[point] += seconds - point as f64 * step;
        }
        let mut expected = vec![0.0; POINTS];
        let (mut longer, mut excess) = (0.0, 0.0);
        for point in (0..POINTS).rev() {
            // Those longer than the next point are longer than this one by a step more.
            excess += longer * step + beyond[point];
            longer += counts[point];
            expected[point] = excess / count;
        }
        Self { step, mean: expected[0], expected }
    }

    /// Seconds; `left` seconds until there is no room, negative if there is none.
    #[must_use]
    pub fn expected_late(&self, left: f64) -> f64 {
        if left <= 0.0 {
            return self.mean - left;
        }
        let at = left / self.step;
        let point = at as usize;
        let Some(next) = self.expected.get(point + 1) else { return 0.0 };
        let here = self.expected[point];
        here + (next - here) * (at - point as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: &[u64]) -> Vec<Micros> {
        seconds.iter().map(|seconds| Micros::from_secs(*seconds)).collect()
    }

    #[test]
    fn it_is_the_expected_excess() {
        let times = secs(&[2, 2, 2, 10]);
        let tail = Tail::of(&times);
        for left in [-3.0, 0.0, 1.0, 2.0, 5.0, 9.9, 10.0, 50.0] {
            let excess = |time: &Micros| (time.as_secs_f64() - left).max(0.0);
            let exact = times.iter().map(excess).sum::<f64>() / 4.0;
            let told = tail.expected_late(left);
            assert!((told - exact).abs() < 0.05, "at {left}: {told} instead of {exact}");
        }
    }

    #[test]
    fn nothing_seen_is_nothing_expected() {
        let tail = Tail::of(&[]);
        assert_eq!(tail.expected_late(0.0), 0.0);
        assert_eq!(tail.expected_late(-4.0), 4.0);
    }
}
