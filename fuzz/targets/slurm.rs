//! The output of Slurm's commands: names and reasons in it are other users'.
//!
//! A listed job is one of this cluster, by the name that Assay itself gives its jobs. Texts for people are short and
//! without control characters, so that nobody writes over an operator's terminal.

#![no_main]

use libfuzzer_sys::fuzz_target;

// The module of the fleet itself, which is private to it.
#[rustfmt::skip]
#[path = "../../host/fleet/src/slurm/answers.rs"]
mod answers;

use answers::{
    COLUMNS, JobState, cut, ended, is_gone, job_name, listing, plain, prefix, submitted, waits,
};

const CLUSTER: &str = "c1";
const SENTENCE_BYTES_MAX: usize = 8 << 10;

fuzz_target!(|printed: &str| {
    assert_eq!(COLUMNS.split('|').count(), 5);
    let jobs = listing(CLUSTER, printed);
    assert!(jobs.len() <= printed.lines().count());
    for job in &jobs {
        let name = job_name(CLUSTER, &job.pool, job.ticket);
        assert!(job.id > 0 && name.starts_with(&prefix(CLUSTER)));
        let line =
            format!("{}|RUNNING|{}|{name}|{}", job.id, job.nodes.replace('|', ""), job.reason);
        let again = listing(CLUSTER, &line);
        assert!(again.len() == 1 && again[0].ticket == job.ticket && again[0].pool == job.pool);
        assert!(again[0].state == JobState::Running && again[0].reason == job.reason);
        is_sentence(&waits(job));
        if let JobState::Ended(state) = &job.state {
            is_sentence(&ended(job, state));
        }
    }
    match submitted(printed) {
        Ok(id) => assert!(id > 0 && printed.contains(&id.to_string())),
        Err(why) => is_sentence(&why),
    }
    let _ = is_gone(printed);
    is_sentence(&cut(&plain(printed)));
});

fn is_sentence(text: &str) {
    assert!(!text.chars().any(char::is_control), "{text:?}");
    assert!(text.len() <= SENTENCE_BYTES_MAX, "{} bytes", text.len());
}
