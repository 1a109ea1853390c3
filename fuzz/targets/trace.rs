//! Reward traces that people upload to simulations.
//!
//! A trace that is read is the same after it was written and read again.

#![no_main]

use assay_sim::trace::{read, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(trace) = read(text) else { return };
    for iteration in trace.tasks.iter().flat_map(|task| &task.iterations) {
        let _ = iteration.earliest_end();
    }
    let mut written = Vec::new();
    write(&trace, &mut written).expect("memory takes bytes");
    let again = read(&written[..]).expect("what was written can be read");
    assert_eq!(again, trace);
});
