//! Kernels that do what they should.

use assay_gpu::session::{BufferInit, BufferRole, Origin};
use assay_gpu::types::{BufferAddress, ElementType, KernelArg, Patch, PlanStep};

use super::bench::*;

#[test]
fn the_device_says_what_it_is() {
    let gpu = gpu();
    let properties = gpu.describe(later()).unwrap();
    assert_eq!((properties.name.as_str(), properties.arch.as_str()), ("simulated", "compute_90"));
    assert!(properties.simulated);
    let _session = open(&gpu);
    // While a session has it as well.
    assert_eq!(gpu.describe(later()), Ok(properties));
}

#[test]
fn an_honest_kernel_passes_and_is_described() {
    let mut task = Task::new(&gpu());
    let kernels = task.session.kernels(task.candidate).unwrap();
    let twice = kernels.iter().find(|kernel| kernel.name == "twice").unwrap();
    let params: Vec<_> = twice.params.iter().map(|param| (param.offset, param.bytes)).collect();
    assert_eq!(params, [(0, 8), (8, 8), (16, 4)]);
    let small = kernels.iter().find(|kernel| kernel.name == "small_blocks").unwrap();
    assert_eq!(small.threads_max, 64);

    let plan = task.step("twice");
    let reports = task.check(&plan, &[1, 2, u64::MAX]).unwrap();
    assert_eq!(reports.iter().map(|report| report.seed).collect::<Vec<_>>(), [1, 2, u64::MAX]);
    for report in reports {
        assert!(report.outputs[0].ok && report.outputs[0].absolute_max == 0.0, "{report:?}");
        assert!(report.inputs_changed.is_empty() && report.overrun.is_empty(), "{report:?}");
        assert_eq!(report.elapsed_ns, 0);
    }
}

#[test]
fn the_same_seeds_give_the_same_reports() {
    let reports = || {
        let mut task = Task::new(&gpu());
        let plan = task.step("almost");
        task.check(&plan, &[3, 4]).unwrap()
    };
    let first = reports();
    assert_eq!(first, reports());
    assert_ne!(first[0].outputs[0].want_there, first[1].outputs[0].want_there);
}

#[test]
fn buffers_of_every_role() {
    let gpu = gpu();
    let mut session = open(&gpu);
    let candidate = session.load(KERNELS, Origin::Candidate).unwrap();
    let reference = session.load(KERNELS, Origin::Trusted).unwrap();
    let normal = BufferInit::Normal { mean: 0.0, deviation: 1.0 };
    let mut numbers = [
        buffer(BufferRole::Input, BufferInit::Permutation),
        buffer(BufferRole::Output, BufferInit::Zeros),
    ];
    numbers.iter_mut().for_each(|spec| spec.dtype = ElementType::I32);
    let specs = [
        buffer(BufferRole::Input, normal),
        buffer(BufferRole::Output, BufferInit::Zeros),
        buffer(BufferRole::Scratch, BufferInit::Zeros),
        buffer(BufferRole::Inout, normal),
        numbers[0],
        numbers[1],
    ];
    assert_eq!(session.alloc(&specs).unwrap(), [0, 1, 2, 3, 4, 5]);
    let n = || KernelArg::I32(COUNT as i32);
    let plan = |module| {
        vec![
            PlanStep::Launch(launch(module, "twice_by_scratch", vec![at(0), at(2), at(1), n()])),
            PlanStep::Launch(launch(module, "twice_in_place", vec![at(3), n()])),
            PlanStep::Launch(launch(module, "copy_numbers", vec![at(4), at(5), n()])),
        ]
    };
    let pairs = [1, 3, 5].map(|number| {
        let mut pair = pair(EXACT);
        (pair.got, pair.want) = (number, number);
        pair
    });
    let reports = session.check(&plan(candidate), &plan(reference), &pairs, &[5]).unwrap();
    assert!(reports[0].outputs.iter().all(|output| output.ok), "{reports:?}");
    assert!(reports[0].inputs_changed.is_empty() && reports[0].overrun.is_empty());
    // In place, but not done.
    let lazy = &plan(candidate)[..1];
    let reports = session.check(lazy, &plan(reference), &pairs, &[5]).unwrap();
    let [done, not_in_place, not_copied] = &reports[0].outputs[..] else { panic!() };
    assert!(done.ok);
    assert_eq!((not_in_place.ok, not_in_place.never_written), (false, not_in_place.mismatched));
    assert_eq!(not_copied.never_written, COUNT);
    let whole = session.download(BufferAddress { buffer: 4, offset: 0 }, 4 * COUNT).unwrap();
    let mut whole: Vec<u32> =
        whole.chunks_exact(4).map(|one| u32::from_le_bytes(one.try_into().unwrap())).collect();
    whole.sort_unstable();
    assert!(whole.into_iter().eq(0..COUNT as u32));
}

#[test]
fn uploaded_inputs_come_again_before_every_run() {
    let gpu = gpu();
    let mut session = open(&gpu);
    let candidate = session.load(KERNELS, Origin::Candidate).unwrap();
    let reference = session.load(KERNELS, Origin::Trusted).unwrap();
    session
        .alloc(&[
            buffer(BufferRole::Inout, BufferInit::Uploaded),
            buffer(BufferRole::Output, BufferInit::Zeros),
        ])
        .unwrap();
    let start = BufferAddress { buffer: 0, offset: 4 };
    session.upload(start, &2.5f32.to_le_bytes()).unwrap();
    let plan = |module| {
        vec![PlanStep::Launch(launch(module, "twice_in_place", vec![at(0), KernelArg::I32(2)]))]
    };
    let mut pair = pair(EXACT);
    (pair.got, pair.want) = (0, 0);
    let reports = session.check(&plan(candidate), &plan(reference), &[pair], &[1, 2]).unwrap();
    assert!(reports.iter().all(|report| report.outputs[0].ok), "{reports:?}");
    let read = session.download(BufferAddress { buffer: 0, offset: 0 }, 12).unwrap();
    assert_eq!(floats(&read), [0.0, 5.0, 0.0]);
    // Without a seed buffers are left as they are.
    assert_eq!(session.run(&plan(candidate), None), Ok(0));
    assert_eq!(floats(&session.download(start, 4).unwrap()), [10.0]);
    assert_eq!(session.run(&plan(candidate), Some(1)), Ok(0));
    assert_eq!(floats(&session.download(start, 4).unwrap()), [5.0]);
}

#[test]
fn structs_sets_and_copies() {
    let mut task = Task::new(&gpu());
    let mut bytes = vec![0; 16];
    bytes.extend((COUNT as i32).to_le_bytes());
    bytes.extend([0; 4]);
    let patch = |at, buffer| Patch { at, address: BufferAddress { buffer, offset: 0 } };
    let both = KernelArg::ByValue { bytes, patches: vec![patch(0, 0), patch(8, 1)] };
    let by_struct = PlanStep::Launch(launch(task.candidate, "twice_by_struct", vec![both]));
    assert!(task.check(&[by_struct], &[1]).unwrap()[0].outputs[0].ok);

    let address = |buffer, offset| BufferAddress { buffer, offset };
    let steps = [
        PlanStep::Set { at: address(1, 0), bytes: 4 * COUNT, value: 0 },
        PlanStep::Copy { to: address(1, 4), from: address(0, 8), bytes: 4 },
    ];
    task.session.run(&steps, Some(9)).unwrap();
    let input = floats(&task.session.download(address(0, 0), 12).unwrap());
    let output = floats(&task.session.download(address(1, 0), 12).unwrap());
    assert_eq!(output, [0.0, input[2], 0.0]);
    assert_ne!(input[2], 0.0);
    assert_eq!(task.session.printed(), Ok(String::new()));
}

#[test]
fn the_beginning_of_what_kernels_print_is_kept() {
    let gpu = gpu();
    let mut session = open(&gpu);
    let image = include_bytes!("../../../ptx/fixtures/prints.ptx");
    let module = session.load(image, Origin::Candidate).unwrap();
    session.alloc(&[buffer(BufferRole::Input, BufferInit::Zeros)]).unwrap();
    let args = vec![at(0), KernelArg::I32(77)];
    session.run(&[PlanStep::Launch(launch(module, "prints", args))], Some(1)).unwrap();
    let printed = session.printed().unwrap();
    assert!(printed.starts_with("row 3 of 77:  0.00|text    |"), "{printed}");
    assert_eq!(printed.len(), LIMITS.printed_bytes as usize);
}
