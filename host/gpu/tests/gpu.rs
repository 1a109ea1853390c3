//! The tests that need a GPU. They use the interface that workers use, or the device itself.
//!
//! It needs `ASSAY_TEST_GPU=1` and a driver that works; without them each test says so and passes.
//! Numbers are written to `$ASSAY_GPU_REPORT`, a line of JSON each. `scripts/gpu-bundle.sh` takes the suite
//! to a machine without Rust; docs/gpu says what is verified where.

#![expect(clippy::unwrap_used, reason = "tests")]

mod bench;
mod cheats;
mod errors;
mod fake;
mod isolation;
mod same;
mod speed;
mod timing;
