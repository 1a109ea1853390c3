//! Every error of both interfaces at every place: the platform's never become a verdict, the label's are
//! bad requests, and what is left is the response's.

use assay_plugin::gpu::{compiler, device};
use assay_plugin::{Error, Scored};
use serde_json::json;

use crate::world::{HOST, KERNEL, Place, World, label};

const TIMED: &str = r#"{"policy": "speedup"}"#;

/// A verdict, or whose fault an error is.
fn named(result: Result<Scored, Error>) -> String {
    match result {
        Ok(scored) => scored.verdict,
        Err(Error::Unavailable(_)) => "the platform's".into(),
        Err(Error::BadRequest(problem)) => {
            assert!(problem.starts_with("label: "), "{problem}");
            "the label's".into()
        }
        Err(Error::Internal(_)) => "the plugin's".into(),
        Err(Error::BadSettings(_)) => "the settings'".into(),
    }
}

fn compiler_check(place: Place, response: &str, expected: [&str; 8]) {
    use compiler::Error as E;
    let errors = [
        E::Rejected("a.cu(1): error: no".into()),
        E::TimedOut,
        E::OutOfMemory,
        E::Crashed("signal 6".into()),
        E::TooLarge(1 << 30),
        E::BadRequest("malformed".into()),
        E::Cancelled,
        E::Unavailable("no box".into()),
    ];
    for (error, expected) in errors.into_iter().zip(expected) {
        let shown = format!("{place:?}: {error:?}");
        let world = World { compiler: Some((place, error)), ..World::default() };
        assert_eq!(named(world.judge(response, &label(), TIMED)), expected, "{shown}");
    }
}

#[test]
fn a_compiler_s_errors_end_where_they_belong() {
    let (platform, own, plugin) = ("the platform's", "the label's", "the plugin's");
    compiler_check(Place::Toolkit, KERNEL, [platform; 8]);
    let source = ["compile_failed"; 5];
    let with = |first: [&'static str; 5]| {
        let [a, b, c, d, e] = first;
        [a, b, c, d, e, plugin, platform, platform]
    };
    compiler_check(Place::CompileSolution, KERNEL, with(source));
    compiler_check(Place::CompileSolution, HOST, with(source));
    compiler_check(Place::CompileReference, KERNEL, with([own; 5]));
    let recorded =
        ["compile_failed", "execute_error", "execute_error", "execute_error", "execute_error"];
    compiler_check(Place::Record, HOST, with(recorded));
}

fn device_check(place: Place, response: &str, expected: [&str; 5]) {
    use device::Error as E;
    let [bad_request, kernel, unsupported, cancelled, unavailable] = expected;
    let errors = [
        (E::BadRequest("it reads nowhere".into()), bad_request),
        (E::ImageRejected("no".into()), kernel),
        (E::NoSuchKernel("no".into()), kernel),
        (E::BadArguments("no".into()), kernel),
        (E::InvalidLaunch("no".into()), kernel),
        (E::Limit("no".into()), kernel),
        (E::Unsupported("wgmma".into()), unsupported),
        (E::IllegalAddress("no".into()), kernel),
        (E::MisalignedAddress("no".into()), kernel),
        (E::IllegalInstruction("no".into()), kernel),
        (E::Trapped("no".into()), kernel),
        (E::LaunchFailed("no".into()), kernel),
        (E::TimedOut(5), kernel),
        (E::Cancelled, cancelled),
        (E::Unavailable("it is gone".into()), unavailable),
    ];
    for (error, expected) in errors {
        let shown = format!("{place:?}: {error:?}");
        let mut world = World { device: Some((place, error)), ..World::default() };
        world.trace.scratch_bytes = vec![16];
        assert_eq!(named(world.judge(response, &label(), TIMED)), expected, "{shown}");
    }
}

#[test]
fn a_device_s_errors_end_where_they_belong() {
    let (platform, own, plugin) = ("the platform's", "the label's", "the plugin's");
    let runs = [own, "execute_error", "unsupported", platform, platform];
    let nobody = [plugin, platform, platform, platform, platform];
    let trusted = [own, own, own, platform, platform];
    device_check(Place::Describe, KERNEL, nobody);
    device_check(Place::Open, KERNEL, nobody);
    device_check(Place::LoadSolution, KERNEL, runs);
    device_check(Place::LoadReference, KERNEL, trusted);
    device_check(Place::AllocTask, KERNEL, trusted);
    device_check(Place::AllocScratch, HOST, runs);
    device_check(Place::Check, KERNEL, runs);
    device_check(Place::Measure, KERNEL, runs);
}

#[test]
fn a_device_that_leaves_something_out_gives_no_verdict() {
    let world =
        World { found: Box::new(|_, _, report| report.outputs.clear()), ..World::default() };
    assert_eq!(named(world.judge(KERNEL, &label(), "{}")), "the platform's");
    for (candidate_ns, reference_ns) in [(0, 1), (1, 0)] {
        let world = World { candidate_ns, reference_ns, ..World::default() };
        assert_eq!(named(world.judge(KERNEL, &label(), TIMED)), "the platform's");
    }
}

#[test]
fn a_simulated_device_gives_no_time() {
    let world = World { simulated: true, ..World::default() };
    let thresholds = r#"{"policy": "thresholds", "thresholds": [{"speedup": 0, "reward": 1}]}"#;
    for settings in [TIMED, thresholds] {
        let Err(Error::BadSettings(problem)) = world.judge(KERNEL, &label(), settings) else {
            panic!("a reward of a time that there is not")
        };
        assert!(problem.contains("the device is simulated"), "{problem}");
    }
}

#[test]
fn a_toolkit_without_what_is_needed_is_the_platform_s() {
    let world = World { front_ends: vec![], ..World::default() };
    assert_eq!(named(world.judge(KERNEL, &label(), "{}")), "the platform's");
    assert_eq!(named(world.judge(HOST, &label(), "{}")), "the platform's");
}

#[test]
fn a_reference_that_does_not_fit_is_the_label_s() {
    let mut label = label();
    label["reference"]["entry"] = json!("another");
    assert_eq!(named(World::default().judge(KERNEL, &label, "{}")), "the label's");
}
