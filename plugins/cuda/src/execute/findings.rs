//! The findings about a response, in words, from a device's reports.
//!
//! A finding at a held-out size must not show its shape: it has no counts, no positions and no values, which a response could
//! make of the shape.

use assay_plugin::gpu::device::{CheckReport, Comparison, Pair};

use crate::verdict::{Failure, Verdict};

pub(crate) fn wrong(reason: impl Into<String>) -> Failure {
    Failure::new(Verdict::WrongAnswer, reason)
}

/// The first thing that is wrong in any of a size's reports; the last repeats the first one's seed.
pub(crate) fn first_wrong(
    reports: &[CheckReport],
    name: &dyn Fn(u32) -> String,
    pairs: &[Pair],
    shown: bool,
) -> Option<String> {
    let (repeated, first) = reports.split_last()?;
    if let Some(found) = first.iter().find_map(|report| in_report(report, name, pairs, shown)) {
        return Some(found);
    }
    let found = in_report(repeated, name, pairs, shown)?;
    Some(format!("right at first, and not when the same inputs came again: {found}"))
}

pub(crate) fn in_report(
    report: &CheckReport,
    name: &dyn Fn(u32) -> String,
    pairs: &[Pair],
    shown: bool,
) -> Option<String> {
    if let Some(buffer) = report.overrun.first() {
        return Some(format!("it writes beyond {}", name(*buffer)));
    }
    if let Some(buffer) = report.inputs_changed.first() {
        return Some(format!("it changes the input {}", name(*buffer)));
    }
    let mut outputs = report.outputs.iter().zip(pairs);
    let (output, pair) = outputs.find(|(output, _)| !output.ok)?;
    let parts = in_output(output, shown);
    let told = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    Some(format!("{} is wrong{told}", name(pair.got)))
}

fn in_output(output: &Comparison, shown: bool) -> Vec<String> {
    let mut parts = Vec::new();
    if shown {
        parts.push(format!("{} elements", output.mismatched));
    }
    if output.never_written > 0 {
        parts.push(match shown {
            true => format!("{} were never written", output.never_written),
            false => "some were never written".to_owned(),
        });
    }
    if output.got_nonfinite > 0 {
        parts.push("some are not finite".to_owned());
    }
    if !shown {
        return parts;
    }
    if let Some(first) = output.first_wrong {
        let (got, want) = (output.got_there, output.want_there);
        parts.push(format!("the first at {first} is {got:e}, not {want:e}"));
    }
    parts.push(format!("the largest error is {:e}", output.absolute_max));
    parts
}
