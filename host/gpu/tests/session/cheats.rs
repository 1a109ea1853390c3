//! Cheats that need no more than a kernel.

use assay_gpu::device::BufferTolerance;
use assay_gpu::types::{KernelArg, PlanStep};

use super::bench::*;

#[test]
fn what_is_not_written_is_counted() {
    let mut task = Task::new(&gpu());
    let partial = &task.check_kernel("partial").outputs[0];
    assert_eq!((partial.ok, partial.mismatched, partial.never_written), (false, 501, 501));
    assert_eq!((partial.first_wrong, partial.got_nonfinite), (Some(500), 501));
    let nothing = &task.check_kernel("nothing").outputs[0];
    assert_eq!((nothing.ok, nothing.never_written), (false, COUNT));
    // A share of elements that may be wrong does not allow it either.
    let plan = task.step("partial");
    let half = BufferTolerance { matched_ratio: 0.25, ..EXACT };
    let report = task.session.check(&plan, &task.reference(), &[pair(half)], &[7]).unwrap();
    assert!(!report[0].outputs[0].ok);
}

#[test]
fn not_a_number_is_no_wildcard() {
    let mut task = Task::new(&gpu());
    let report = &task.check_kernel("not_a_number").outputs[0];
    assert_eq!((report.ok, report.mismatched, report.got_nonfinite), (false, COUNT, COUNT));
    assert_eq!(report.never_written, 0);
}

#[test]
fn nearly_right_is_wrong_by_so_much() {
    let mut task = Task::new(&gpu());
    let report = task.check_kernel("almost").outputs.remove(0);
    // Elements 3, 13, ... 993.
    assert_eq!((report.ok, report.mismatched, report.first_wrong), (false, 100, Some(3)));
    assert!((report.absolute_max - 1.0).abs() < 1e-6);
    assert!((report.got_there - report.want_there - 1.0).abs() < 1e-6);
    let plan = task.step("almost");
    for (matched_ratio, ok) in [(0.9, true), (0.91, false)] {
        let share = BufferTolerance { matched_ratio, ..EXACT };
        let report = task.session.check(&plan, &task.reference(), &[pair(share)], &[7]).unwrap();
        assert_eq!(report[0].outputs[0].ok, ok);
    }
}

#[test]
fn changed_inputs_are_seen() {
    let mut task = Task::new(&gpu());
    let report = task.check_kernel("changes_input");
    assert!(report.outputs[0].ok);
    assert_eq!((report.inputs_changed, report.overrun), (vec![0], vec![]));
}

#[test]
fn not_one_element_can_be_written_beside_a_buffer() {
    let mut task = Task::new(&gpu());
    for kernel in ["overruns_behind", "overruns_before"] {
        let report = task.check_kernel(kernel);
        assert!(report.outputs[0].ok, "{kernel}");
        assert_eq!((report.inputs_changed, report.overrun), (vec![], vec![1]), "{kernel}");
    }
    // And what one did is not held against the next.
    let report = task.check_kernel("twice");
    assert!(report.outputs[0].ok && report.overrun.is_empty());
}

#[test]
fn what_was_computed_once_does_not_pass_twice() {
    let mut task = Task::new(&gpu());
    let plan = task.step("cached");
    let reports = task.check(&plan, &[1, 2, 1]).unwrap();
    let ok: Vec<bool> = reports.iter().map(|report| report.outputs[0].ok).collect();
    assert_eq!(ok, [true, false, true]);
    // It does not live on in the next session either.
    drop(task);
    let mut task = Task::new(&gpu());
    assert!(task.check_kernel("cached").outputs[0].ok);
}

#[test]
fn honest_at_first_is_not_honest() {
    let mut task = Task::new(&gpu());
    let args = vec![at(0), at(1), KernelArg::I32(COUNT as i32), KernelArg::I32(2)];
    let plan = [PlanStep::Launch(launch(task.candidate, "lazy_after", args))];
    let reports = task.check(&plan, &[1, 2, 3]).unwrap();
    let ok: Vec<bool> = reports.iter().map(|report| report.outputs[0].ok).collect();
    assert_eq!(ok, [true, true, false]);
    assert_eq!(reports[2].outputs[0].never_written, COUNT);
}
