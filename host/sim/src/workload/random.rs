//! Seeded draws; the one source of chance in a generated trace.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, StandardUniform};

/// A number that no task has.
const NO_TASK: u32 = u32::MAX;

pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// The stream of one iteration of one task, independent of every other.
    pub(super) fn new(seed: u64, task: u32, iteration: u32) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream((u64::from(task) << 32) | u64::from(iteration));
        Self(generator)
    }

    /// The stream of one problem of the data set, the same whichever task and iteration asks.
    pub(super) fn of_problem(seed: u64, problem: u32) -> Self {
        Self::new(seed, NO_TASK, problem)
    }

    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    /// Uniform in [0, 1).
    pub(super) fn share(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    pub(super) fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.share()
    }

    /// Normal about one, for jitter; never negative.
    pub(super) fn jitter(&mut self, sigma: f64) -> f64 {
        (1.0 + sigma * self.normal()).max(0.0)
    }

    pub(super) fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// A log-normal factor whose mean is one.
    pub(super) fn factor(&mut self, sigma: f64) -> f64 {
        self.log_normal((-sigma * sigma / 2.0).exp(), sigma)
    }

    /// The place of one of several weights, drawn in proportion to them.
    pub(super) fn pick(&mut self, weights: impl Iterator<Item = f64> + Clone) -> usize {
        let mut left = self.share() * weights.clone().sum::<f64>();
        let mut last = 0;
        for (place, weight) in weights.enumerate() {
            last = place;
            left -= weight;
            if left < 0.0 {
                break;
            }
        }
        last
    }
}
