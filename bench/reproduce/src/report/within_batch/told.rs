//! The times that a trainer tells of its requests when it sends them.

use std::f64::consts::TAU;

/// The times that are told of the requests of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// All as they will be.
    Exact,
    /// All, each off by a random factor.
    Rough,
    /// The mean of the longest fifth for those that a ranking takes for it, of which it finds this percentage; zero for
    /// the others.
    LongFifth {
        found: u32,
    },
    /// That of every second request, as it will be; for the others this.
    Half(Untold),
}

/// The time that counts for a request of which none is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Untold {
    Zero,
    /// The mean of all.
    Mean,
    Longest,
}

/// The part of the longest fifth that StreamRL's ranking of output lengths finds (its table 4), in per cent.
pub(super) const RANKED: u32 = 87;

/// The standard deviation of the log of the factor by which a rough time is off.
pub(super) const ROUGH_SIGMA: f64 = 0.5;

/// Spreads what is drawn for each request evenly.
const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;

/// Spreads pairs evenly (the powers of the plastic number).
const PLASTIC: [f64; 2] = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3];

impl Told {
    /// The time that counts for each request, from the time that each will take.
    pub(super) fn times(self, times: &[u64]) -> Vec<u64> {
        let numbered = times.iter().copied().enumerate();
        match self {
            Self::Nothing => vec![0; times.len()],
            Self::Exact => times.to_vec(),
            Self::Rough => {
                let rough = |(request, time): (usize, u64)| (time as f64 * factor(request)) as u64;
                numbered.map(rough).collect()
            }
            Self::LongFifth { found } => {
                let fifth = LongFifth::new(times);
                let told = |(request, time): (usize, u64)| {
                    if fifth.is_found(request, time, found) { fifth.mean } else { 0 }
                };
                numbered.map(told).collect()
            }
            Self::Half(untold) => {
                let untold = match untold {
                    Untold::Zero => 0,
                    Untold::Mean => mean(times),
                    Untold::Longest => times.iter().copied().max().unwrap_or_default(),
                };
                let told =
                    |(request, time): (usize, u64)| if is_told(request) { time } else { untold };
                numbered.map(told).collect()
            }
        }
    }
}

fn mean(times: &[u64]) -> u64 {
    times.iter().sum::<u64>() / times.len().max(1) as u64
}

/// Whether a request is of the half of which a time is told.
fn is_told(request: usize) -> bool {
    (request as f64 * PLASTIC[1]).fract() < 0.5
}

/// Box and Muller's transform of two evenly spread numbers.
fn factor(request: usize) -> f64 {
    let [first, second] = PLASTIC.map(|step| ((request + 1) as f64 * step).fract());
    let normal = (-2.0 * (1.0 - first).ln()).sqrt() * (TAU * second).cos();
    (ROUGH_SIGMA * normal).exp()
}

/// The fifth of a batch that takes longest.
#[derive(Debug, Clone, Copy)]
struct LongFifth {
    from: u64,
    mean: u64,
}

impl LongFifth {
    fn new(times: &[u64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let fifth = &sorted[sorted.len() * 4 / 5..];
        Self { from: fifth.first().copied().unwrap_or_default(), mean: mean(fifth) }
    }

    /// Whether a ranking takes a request for one of them: as many of the others as it misses.
    fn is_found(&self, request: usize, time: u64, found: u32) -> bool {
        let drawn = (request as f64 * GOLDEN_RATIO).fract() * 100.0;
        let found = f64::from(found);
        drawn < if time >= self.from { found } else { (100.0 - found) / 4.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to 2,000, mixed.
    fn times() -> Vec<u64> {
        (0..2_000).map(|number| number * 7 % 2_000 + 1).collect()
    }

    #[test]
    fn a_ranking_finds_its_part_and_takes_as_many_others() {
        let times = times();
        for (found, wanted) in [(100, 400), (RANKED, 348), (0, 0)] {
            let told = Told::LongFifth { found }.times(&times);
            let taken = told.iter().filter(|time| **time > 0).count() as f64;
            let rightly =
                times.iter().zip(&told).filter(|(time, told)| **time > 1_600 && **told > 0);
            let rightly = rightly.count() as f64;
            assert!((taken - 400.0).abs() < 15.0, "{found}: {taken}");
            assert!((rightly - f64::from(wanted)).abs() < 10.0, "{found}: {rightly}");
        }
        let told = Told::LongFifth { found: 100 }.times(&times);
        assert_eq!(told.iter().max(), Some(&1_800), "the mean of 1,601 to 2,000");
    }

    #[test]
    fn a_rough_time_is_off_by_a_factor_of_the_given_spread() {
        let told = Told::Rough.times(&vec![1_000_000; 2_000]);
        let logs: Vec<f64> = told.iter().map(|time| (*time as f64 / 1e6).ln()).collect();
        let mean = logs.iter().sum::<f64>() / 2_000.0;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2_000.0;
        assert!(
            mean.abs() < 0.02 && (variance.sqrt() - ROUGH_SIGMA).abs() < 0.02,
            "{mean} {variance}"
        );
    }

    #[test]
    fn what_is_not_told_counts_as_it_should() {
        let times = times();
        for (untold, wanted) in [(Untold::Zero, 0), (Untold::Mean, 1_000), (Untold::Longest, 2_000)]
        {
            let given = Told::Half(untold).times(&times);
            let told =
                times.iter().zip(&given).filter(|(time, given)| time == given).count() as f64;
            assert!((told - 1_000.0).abs() < 10.0, "{untold:?}: {told}");
            assert!(
                times.iter().zip(&given).all(|(time, given)| given == time || *given == wanted)
            );
        }
        assert_eq!(Told::Exact.times(&times), times);
        assert_eq!(Told::Half(Untold::Mean).times(&[]), Vec::<u64>::new());
        assert_eq!(Told::Nothing.times(&[3]), [0]);
    }
}
