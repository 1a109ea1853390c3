//! Tool calls: how many turns a rollout with tools has, and how long a call takes.
//!
//! PolyTrace publishes that about 80 % of dialogues have 3 to 6 turns, that one has 10 at most, and that
//! most have 2 to 6. It publishes no latencies of tool calls, only that local calls are stable, that remote
//! ones vary much, and that a search takes longer for a difficult query. The model assumes log-normals:
//! local 0.15 s (sigma 0.3), remote 1.5 s (sigma 1.0), and a factor for each prompt (sigma 0.5); a call is
//! given up after 60 s.

use super::random::Random;

/// The time after which a call is given up.
pub(super) const CALL_S_MAX: f64 = 60.0;
const DIFFICULTY_SIGMA: f64 = 0.5;

pub(super) struct Tools {
    /// Shares of dialogues with 1, 2, ... turns.
    turns: &'static [f64],
    /// The share of calls that run beside the engine.
    local: f64,
}

impl Tools {
    pub(super) const MIXED: Self =
        Self { turns: &[0.05, 0.08, 0.22, 0.26, 0.2, 0.12, 0.035, 0.018, 0.01, 0.007], local: 0.5 };

    pub(super) const SEARCH: Self = Self { turns: &[0.1, 0.4, 0.35, 0.15], local: 0.0 };

    /// The turns of one dialogue; every turn but the last calls a tool.
    pub(super) fn turns(&self, random: &mut Random) -> u32 {
        let place = random.pick(self.turns.iter().copied());
        u32::try_from(place + 1).expect("a table of turns is short")
    }

    /// Seconds of one call for a prompt of this difficulty.
    pub(super) fn call_s(&self, difficulty: f64, random: &mut Random) -> f64 {
        call_s(self.local, difficulty, random)
    }
}

/// Seconds of one call for a prompt of this difficulty, where this share of calls is local.
pub(super) fn call_s(local: f64, difficulty: f64, random: &mut Random) -> f64 {
    let call_s = if random.chance(local) {
        random.log_normal(0.15, 0.3)
    } else {
        random.log_normal(1.5, 1.0) * difficulty
    };
    call_s.min(CALL_S_MAX)
}

/// A prompt's factor on its remote calls.
pub(super) fn difficulty(random: &mut Random) -> f64 {
    random.log_normal(1.0, DIFFICULTY_SIGMA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_as_published() {
        assert!((Tools::MIXED.turns.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((Tools::SEARCH.turns.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let mut random = Random::new(1, 0, 0);
        let drawn: Vec<u32> = (0..20_000).map(|_| Tools::MIXED.turns(&mut random)).collect();
        let middle = drawn.iter().filter(|turns| (3..=6).contains(*turns)).count() as f64;
        assert!((middle / 20_000.0 - 0.8).abs() < 0.02, "{middle}");
        assert_eq!(drawn.iter().max(), Some(&10));
        assert_eq!(drawn.iter().min(), Some(&1));
    }

    #[test]
    fn remote_calls_vary_more_than_local_ones_and_end() {
        let mut random = Random::new(2, 0, 0);
        let mut quantiles = |tools: &Tools| {
            let mut calls: Vec<f64> = (0..20_000).map(|_| tools.call_s(1.0, &mut random)).collect();
            calls.sort_by(f64::total_cmp);
            (calls[10_000], calls[18_000], calls[19_999])
        };
        let (median, high, longest) = quantiles(&Tools::SEARCH);
        assert!((median - 1.5).abs() < 0.1, "{median}");
        assert!(high / median > 3.2 && high / median < 4.0, "{}", high / median);
        assert!(longest <= CALL_S_MAX);
        let (median, high, _) = quantiles(&Tools { turns: &[1.0], local: 1.0 });
        assert!((median - 0.15).abs() < 0.01 && high / median < 1.6);
    }
}
