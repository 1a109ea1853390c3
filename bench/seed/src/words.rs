//! The names and texts of the seeded plugins, and the numbers from which their data is drawn.

use assay_core::outcome::ErrorCode;
use assay_core::plugin::{Description, Stage};

/// A stage with how long it runs in the middle.
pub(super) struct SeededStage {
    pub name: &'static str,
    pub pool: &'static str,
    pub timeout_ms: u32,
    pub median_ms: f64,
}

/// The words from which texts are drawn.
const VOCABULARY: f64 = 50_000.0;

pub(super) struct SeededPlugin {
    pub name: &'static str,
    pub version: &'static str,
    pub summary: &'static str,
    pub stages: &'static [SeededStage],
    /// The verdict of a good answer.
    pub good: &'static str,
    /// The verdicts of other answers with their rewards, the most likely first.
    pub bad: &'static [(&'static str, f64)],
}

pub(super) const PLUGINS: [SeededPlugin; 3] = [
    SeededPlugin {
        name: "cuda-kernels",
        version: "2.1.0",
        summary: "Compiles a CUDA kernel, checks it and times it",
        stages: &[
            SeededStage { name: "compile", pool: "cpu", timeout_ms: 30_000, median_ms: 900.0 },
            SeededStage { name: "execute", pool: "gpu", timeout_ms: 10_000, median_ms: 350.0 },
        ],
        good: "faster",
        bad: &[("compile_failed", 0.0), ("wrong_result", 0.1), ("slower", 0.4), ("crashed", 0.0)],
    },
    SeededPlugin {
        name: "code-judge",
        version: "1.4.2",
        summary: "Runs a program against the cases of its problem",
        stages: &[
            SeededStage { name: "build", pool: "cpu", timeout_ms: 20_000, median_ms: 600.0 },
            SeededStage { name: "judge", pool: "cpu", timeout_ms: 15_000, median_ms: 450.0 },
        ],
        good: "accepted",
        bad: &[("wrong_answer", 0.0), ("time_limit", 0.0), ("partial", 0.5), ("no_build", 0.0)],
    },
    SeededPlugin {
        name: "math-verify",
        version: "0.9.1",
        summary: "Compares an answer with the label, symbolically",
        stages: &[SeededStage { name: "verify", pool: "cpu", timeout_ms: 5_000, median_ms: 12.0 }],
        good: "equal",
        bad: &[("different", 0.0), ("no_answer", 0.0), ("unreadable", 0.0)],
    },
];

pub(super) const ERRORS: [(ErrorCode, &str); 3] = [
    (ErrorCode::PluginTrap, "the plugin trapped: unreachable executed in `parse_response`"),
    (ErrorCode::OutOfMemory, "the stage exceeded its memory limit of 512 MiB"),
    (ErrorCode::WorkerLost, "its worker died 4 times while running it"),
];

impl SeededPlugin {
    pub(super) fn description(&self) -> Description {
        let stages = self.stages.iter().map(|stage| Stage {
            name: stage.name.into(),
            pool: stage.pool.into(),
            timeout_ms: stage.timeout_ms,
            memory_bytes_max: 512 << 20,
            retries_max: 1,
        });
        Description {
            name: self.name.into(),
            version: self.version.into(),
            summary: self.summary.into(),
            stages: stages.collect(),
            settings_schema: String::new(),
            label_schema: String::new(),
            timeout_reward: 0.0,
            deterministic: true,
        }
    }
}

/// SplitMix64: small, and the same everywhere.
pub(super) struct Random(pub u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1.
    pub(super) fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.share() < probability
    }

    /// A text of words that are as seldom as those of a language: the n-th with a probability like 1/n.
    pub(super) fn text(&mut self, words: u32) -> String {
        let mut text = String::new();
        for _ in 0..words {
            let rank = (VOCABULARY.powf(self.share())) as u64;
            let mut letters = Random(rank);
            let length = 2 + letters.next() % 3 + u64::from(rank.ilog2() / 3);
            for _ in 0..length {
                text.push(char::from(b'a' + (letters.next() % 26) as u8));
            }
            text.push(' ');
        }
        text
    }

    /// Exponentially distributed around a mean.
    pub(super) fn waiting(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// Log-normally distributed: seldom much longer than the median.
    pub(super) fn running(&mut self, median: f64, spread: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.share()).ln()).sqrt();
        let normal = radius * (self.share() * std::f64::consts::TAU).cos();
        median * (spread * normal).exp()
    }
}
