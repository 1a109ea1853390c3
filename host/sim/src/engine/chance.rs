//! The random draws of faults: the same seed gives the same draws.

use assay_core::time::Micros;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, StandardUniform};

use crate::faults::Faults;

const HOUR: f64 = 3.6e9;

#[derive(Debug)]
pub(super) struct Chance {
    losses: ChaCha8Rng,
    slowness: ChaCha8Rng,
    starts: ChaCha8Rng,
    faults: Faults,
}

impl Chance {
    pub(super) fn new(seed: u64, faults: &Faults) -> Self {
        let stream = |number| {
            let mut stream = ChaCha8Rng::seed_from_u64(seed);
            stream.set_stream(number);
            stream
        };
        Self { losses: stream(0), slowness: stream(1), starts: stream(2), faults: faults.clone() }
    }

    /// How long until a worker is lost.
    pub(super) fn next_loss(&mut self) -> Option<Micros> {
        let unit: f64 = Exp1.sample(&mut self.losses);
        (self.faults.lost_per_hour > 0.0)
            .then(|| Micros((unit * HOUR / self.faults.lost_per_hour) as u64))
    }

    /// One of `count` things, with equal chances; `count` is not zero.
    pub(super) fn one_of(&mut self, count: usize) -> usize {
        let share: f64 = StandardUniform.sample(&mut self.losses);
        (share * count as f64) as usize
    }

    /// How long a start takes that takes `usual` on average: off by up to `spread` of it, all as likely.
    pub(super) fn start(&mut self, usual: Micros, spread: f64) -> Micros {
        if spread == 0.0 {
            return usual;
        }
        let share: f64 = StandardUniform.sample(&mut self.starts);
        usual.scaled(1.0 + spread * (2.0 * share - 1.0))
    }

    /// The factor by which a new worker's times are multiplied.
    pub(super) fn factor(&mut self) -> f64 {
        let share: f64 = StandardUniform.sample(&mut self.slowness);
        match self.faults.slow {
            Some(slow) if share < slow.fraction => slow.factor,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Slow;

    #[test]
    fn draws_are_repeatable_and_as_often_as_asked_for() {
        let slow = Some(Slow { fraction: 0.25, factor: 3.0 });
        let faults = Faults { lost_per_hour: 2.0, slow, ..Faults::default() };
        let draws = |seed| {
            let mut chance = Chance::new(seed, &faults);
            (0..4_000)
                .map(|_| (chance.next_loss(), chance.factor(), chance.one_of(7)))
                .collect::<Vec<_>>()
        };
        let drawn = draws(1);
        assert_eq!(drawn, draws(1));
        assert_ne!(drawn, draws(2));
        let gaps: f64 = drawn.iter().filter_map(|(gap, ..)| Some((*gap)?.as_secs_f64())).sum();
        assert!((gaps / 4e3 - 1_800.0).abs() < 100.0, "{gaps}");
        let slow = drawn.iter().filter(|(_, factor, _)| *factor > 1.0).count();
        assert!((850..1_150).contains(&slow), "{slow}");
        assert!(drawn.iter().all(|(.., one)| *one < 7));
        assert_eq!(Chance::new(1, &Faults::default()).next_loss(), None);
    }

    #[test]
    fn starts_take_as_long_as_usual_on_average() {
        let usual = Micros::from_secs(60);
        let mut chance = Chance::new(1, &Faults::default());
        assert_eq!(chance.start(usual, 0.0), usual);
        let starts: Vec<Micros> = (0..4_000).map(|_| chance.start(usual, 0.5)).collect();
        assert!(starts.iter().all(|took| (30.0..=90.0).contains(&took.as_secs_f64())));
        let mean = starts.iter().map(|took| took.as_secs_f64()).sum::<f64>() / 4e3;
        assert!((mean - 60.0).abs() < 1.0, "{mean}");
    }
}
