//! Whether the tasks are worth anything: references that compute what is asked for, outputs that depend
//! on the data and cannot be guessed, candidates that are what they say. All without the service.

use std::path::Path;

use assay_ptx::{ParseProblem, PtxModule};
use assay_tests::{checkout, sampled};
use serde_json::Value;

use super::bench::{self, Device, Entry, Left};
use super::responses::{Response, Task, cheats, tasks};
use super::skipped;
use super::truth;
use super::values::{Size, Tolerance};

const SEEDS: [u64; 3] = [1, 20_260_101, u64::MAX];
/// The least share of an output's elements that must change with the seed, differ from the first element,
/// and differ from every input at the same place. Causal attention has the lowest share: almost half of its
/// weights are masked, and the first of each head is one.
const CHANGING_MIN: f64 = 0.35;
/// The steps of all sizes together, for one seed; the interpreter runs about fifty million in a second.
const STEPS_MAX: u64 = 5_000_000;

/// The sizes that a check runs.
fn sizes(task: &Task) -> impl Iterator<Item = Size<'_>> {
    let list = |name: &str| task.written[name].as_array().expect("a list of sizes");
    list("sizes").iter().chain(list("held_out")).map(Size)
}

/// A task's reference, ready to run.
struct Reference<'a> {
    task: &'a Task,
    ptx: String,
    device: Device<'a>,
}

impl<'a> Reference<'a> {
    fn new(task: &'a Task, toolkit: &Path) -> Self {
        let written = &task.written["reference"];
        let file = task.file(written["file"].as_str().expect("a file is named"));
        let ptx = bench::ptx(toolkit, &file).unwrap_or_else(|log| panic!("{log}"));
        let module =
            PtxModule::parse(&ptx).unwrap_or_else(|error| panic!("{}: {error}", task.name));
        let entry =
            Entry { module: module.into(), name: &written["entry"], launch: &written["launch"] };
        Self { task, ptx, device: Device::new(task, entry) }
    }

    fn run(&mut self, size: Size<'_>, inputs: &truth::Buffers) -> Left {
        let left = self.device.run(size, inputs);
        let left = left.unwrap_or_else(|error| panic!("{}: {error}", self.task.name));
        assert!(!left.overrun, "{}: the reference writes out of its buffers", self.task.name);
        left
    }
}

fn role(buffer: &Value) -> &str {
    buffer["role"].as_str().expect("a role")
}

/// The one buffer that is compared.
fn output(task: &Task) -> &str {
    let mut outputs =
        bench::buffers_of(task).iter().filter(|(_, b)| ["output", "inout"].contains(&role(b)));
    let (name, _) = outputs.next().expect("a task has an output");
    assert!(outputs.next().is_none(), "no task has had two outputs until now");
    name
}

fn tolerance(task: &Task) -> Tolerance {
    Tolerance::of(&task.written["tolerance"])
}

/// The first element that is not what it should be.
fn first_wrong(tolerance: Tolerance, got: &[f64], want: &[f64]) -> Option<String> {
    assert_eq!(got.len(), want.len());
    let at = (0..got.len()).find(|at| !tolerance.equal(got[*at], want[*at]))?;
    Some(format!("element {at} is {} and not {}", got[at], want[at]))
}

fn share(tolerance: Tolerance, count: usize, pair: impl Fn(usize) -> (f64, f64)) -> f64 {
    let differ = |at: &usize| {
        let (one, other) = pair(*at);
        !tolerance.equal(one, other)
    };
    (0..count).filter(differ).count() as f64 / count as f64
}

#[test]
fn references_compute_what_is_asked_for_from_inputs_that_matter() {
    let Some(toolkit) = bench::toolkit() else { return skipped("tasks are not vetted") };
    for task in &launched_tasks() {
        let (mut reference, tolerance, name) =
            (Reference::new(task, &toolkit), tolerance(task), output(task));
        let mut steps = [0; SEEDS.len()];
        for size in sizes(task) {
            let what = format!("{} of {}", task.name, size.0);
            let mut outputs = Vec::new();
            for (seed, steps) in SEEDS.into_iter().zip(&mut steps) {
                let inputs = bench::inputs(task, size, seed);
                let left = reference.run(size, &inputs);
                *steps += left.steps;
                let want = truth::of(&task.name, size, &inputs);
                let got = &left.buffers[name];
                let wrong = first_wrong(tolerance, got, &want);
                assert_eq!(wrong, None, "{what}: the reference is wrong");
                let changed = share(tolerance, got.len(), |at| (got[at], got[0]));
                assert!(got.len() == 1 || changed >= CHANGING_MIN, "{what}: constant ({changed})");
                for input in inputs.iter().filter(|(_, values)| values.len() == got.len()) {
                    let changed = share(tolerance, got.len(), |at| (got[at], input.1[at]));
                    let passed_on = changed < CHANGING_MIN && got.len() > 1;
                    assert!(!passed_on, "{what}: as its input {} ({changed})", input.0);
                }
                outputs.push(got.clone());
            }
            for (one, other) in [(0, 1), (1, 2), (2, 0)] {
                let (one, other) = (&outputs[one], &outputs[other]);
                let changed = share(tolerance, one.len(), |at| (one[at], other[at]));
                assert!(changed >= CHANGING_MIN, "{what}: the same for each seed ({changed})");
            }
        }
        println!("{}: {} steps", task.name, steps[0]);
        assert!(steps.iter().all(|steps| *steps <= STEPS_MAX), "{}: {steps:?}", task.name);
    }
}

/// PTX without what names it.
fn body(ptx: &str) -> String {
    let lines = ptx.lines().map(str::trim).filter(|line| {
        let named = line.starts_with("//") || line.starts_with('.') || line.contains("_param_");
        !named && !line.starts_with("ld.param") && !line.is_empty()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The verdict on a bare kernel, as the service should give it.
fn verdict(reference: &mut Reference<'_>, candidate: &Response, toolkit: &Path) -> &'static str {
    let task = reference.task;
    let Ok(ptx) = bench::ptx(toolkit, &candidate.path) else { return "compile_failed" };
    assert!(body(&ptx) != body(&reference.ptx), "{} is the reference", candidate.name);
    let module = match PtxModule::parse(&ptx) {
        Ok(module) => module.into(),
        Err(error) if matches!(error.problem, ParseProblem::Unsupported(_)) => return "unsupported",
        Err(_) => return "execute_error",
    };
    let (name, launch) = (&task.written["entry"], &task.written["launch"]);
    let mut device = Device::new(task, Entry { module, name, launch });
    for (size, seed) in sizes(task).flat_map(|size| SEEDS.map(|seed| (size, seed))) {
        let inputs = bench::inputs(task, size, seed);
        let Ok(left) = device.run(size, &inputs) else { return "execute_error" };
        let want = reference.run(size, &inputs);
        let name = output(task);
        let wrong = first_wrong(tolerance(task), &left.buffers[name], &want.buffers[name]);
        let mut given =
            bench::buffers_of(task).iter().filter(|(_, buffer)| role(buffer) == "input");
        let inputs_changed = given.any(|(name, _)| left.buffers[name] != inputs[name]);
        if wrong.is_some() || left.overrun || inputs_changed {
            return "wrong_answer";
        }
    }
    "success"
}

/// Those whose reference is a kernel that the task launches; host functions need a compiler's box.
fn launched_tasks() -> Vec<Task> {
    let launched = |task: &Task| task.written["reference"].get("launch").is_some();
    tasks().into_iter().filter(launched).collect()
}

/// Defines the kernel that the task launches.
fn is_kernel(task: &Task, response: &Response) -> bool {
    let entry = task.written["entry"].as_str().expect("an entry");
    let defined = response.source.contains(&format!("__global__ void {entry}("));
    defined && response.path.extension().is_some_and(|extension| extension == "cu")
}

#[test]
fn kernels_get_the_verdicts_that_they_name() {
    let Some(toolkit) = bench::toolkit() else { return skipped("kernels are not vetted") };
    let cheats = cheats();
    let mut failures = Vec::new();
    let mut count = 0;
    for task in &launched_tasks() {
        let mut reference = Reference::new(task, &toolkit);
        let cheats = cheats.iter().filter(|cheat| cheat.task == task.name && cheat.needs != "gpu");
        let responses: Vec<_> = task.candidates().into_iter().chain(cheats.cloned()).collect();
        let kernels: Vec<_> = responses.iter().filter(|one| is_kernel(task, one)).collect();
        count += kernels.len();
        for response in sampled(4, kernels) {
            let verdict = verdict(&mut reference, response, &toolkit);
            if !response.expects(verdict) {
                failures.push(format!("{}: {verdict}, not {:?}", response.name, response.expect));
            }
        }
    }
    assert!(count > 80, "only {count} kernels");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn no_cheat_may_succeed() {
    let (cheats, tasks) = (cheats(), tasks());
    assert!(cheats.len() > 60, "only {} cheats", cheats.len());
    let readme = std::fs::read_to_string(checkout().join("plugins/cuda/cheats/README.md"));
    let readme = readme.expect("the cheats have a table");
    for cheat in &cheats {
        assert!(!cheat.expects("success"), "{} is no cheat", cheat.name);
        let stem = cheat.path.file_stem().and_then(|stem| stem.to_str()).expect("a plain name");
        assert!(readme.contains(&format!("`{stem}`")), "{stem} is not in the table of README.md");
        assert!(tasks.iter().any(|task| task.name == cheat.task), "{}: which task?", cheat.name);
    }
}

#[test]
fn every_task_has_its_candidates() {
    let tasks = tasks();
    assert!(tasks.len() >= 12, "only {} tasks", tasks.len());
    let mut good = std::collections::BTreeMap::<String, usize>::new();
    for task in &tasks {
        let candidates = task.candidates();
        let count = |verdict: &str| candidates.iter().filter(|one| one.expects(verdict)).count();
        assert!(count("success") >= 2, "{}: a good and a naive one", task.name);
        let wrong = candidates.len() - count("success");
        assert!(wrong >= 2, "{}: two wrong ones", task.name);
        for one in candidates.iter().filter(|one| one.expects("success")) {
            *good.entry(one.form.clone()).or_default() += 1;
        }
        assert!(task.prompt().contains(task.written["entry"].as_str().expect("an entry")));
    }
    assert!(good["host"] >= 3 && good["torch"] >= 3 && good["kernel"] >= 12, "{good:?}");
}
