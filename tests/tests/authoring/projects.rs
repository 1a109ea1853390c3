//! Projects: made from templates, built, tested, tested again as they change.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use assay_tests::Spawned;
use serde_json::Value;

use super::{AuthorFolder, explained, link, shared_target};

const SOON: Duration = Duration::from_secs(180);

/// A project made from a template builds alone and passes its own tests and its golden cases.
fn check(template: &str, cases: u64, stages: &[&str]) {
    let desk = AuthorFolder::new(None);
    let made = desk.json(&["plugin", "new", "a-judge", "--template", template], 0);
    assert_eq!(
        (made["name"].as_str(), made["folder"].as_str()),
        (Some("a-judge"), Some("a-judge"))
    );
    link(&desk.path("a-judge/target"), &shared_target());

    let built = desk.json(&["plugin", "build", "a-judge"], 0);
    assert_eq!((&built["name"], &built["version"]), (&"a-judge".into(), &"0.1.0".into()));
    let named: Vec<_> = built["stages"].as_array().expect("stages").iter().collect();
    let named: Vec<_> = named.iter().filter_map(|stage| stage["name"].as_str()).collect();
    assert_eq!(named, stages);
    let tested = desk.json(&["plugin", "test", "a-judge", "--repeat", "3"], 0);
    assert_eq!((&tested["passed"], &tested["failed"]), (&cases.into(), &0.into()), "{tested:#}");

    let mut native = std::process::Command::new("cargo");
    native.args(["test", "--target-dir", "target"]).current_dir(desk.path("a-judge"));
    let native = native.output().expect("cargo runs");
    let told = String::from_utf8_lossy(&native.stdout);
    assert!(native.status.success(), "{told}{}", String::from_utf8_lossy(&native.stderr));
    assert!(told.contains("2 passed"), "{told}");
}

#[test]
fn templates_in_rust_build_alone_and_pass() {
    // One after the other: they share what the SDK compiles to.
    check("rust", 3, &["score"]);
    check("rust-multistage", 4, &["extract", "score"]);
}

/// The tools that build plugins in JavaScript; the tests' set-up installs them if there is npm.
fn javascript_tools() -> Option<PathBuf> {
    let tools = shared_target().with_file_name("javascript-plugins/node_modules");
    if tools.is_dir() {
        return Some(tools);
    }
    // Past the capture of what passing tests print.
    let _ = writeln!(
        std::io::stderr(),
        "SKIPPED: plugins in JavaScript: no componentize-qjs (`scripts/setup.sh test`)"
    );
    None
}

#[test]
fn the_template_in_javascript_builds_and_passes() {
    let Some(tools) = javascript_tools() else { return };
    let desk = AuthorFolder::new(None);
    desk.json(&["plugin", "new", "a-judge", "--template", "javascript"], 0);
    link(&desk.path("a-judge/node_modules"), &tools);
    let built = desk.json(&["plugin", "build", "a-judge"], 0);
    assert_eq!((&built["name"], &built["version"]), (&"a-judge".into(), &"0.1.0".into()));
    let component = || std::fs::read(desk.path("a-judge/target/plugin.wasm")).expect("was built");
    let first = component();
    let tested = desk.json(&["plugin", "test", "a-judge", "--repeat", "3"], 0);
    assert_eq!((&tested["passed"], &tested["failed"]), (&3.into(), &0.into()), "{tested:#}");
    assert!(component() == first, "no file has changed: it is not built anew");

    let source = desk.read("a-judge/plugin.js");
    let throws =
        source.replace("const answer =", "if (label) throw new TypeError('boom'); const answer =");
    desk.write("a-judge/plugin.js", throws);
    let failed = desk.json(&["plugin", "test", "a-judge"], 1);
    let cases = failed["cases"].as_array().expect("cases");
    let ended = cases.iter().map(|case| &case["got"]["code"]).collect::<Vec<_>>();
    assert_eq!(ended, ["bad_request", "plugin_error", "plugin_error"], "{failed:#}");
    let explained = cases.iter().any(|case| {
        let explanation = case["explanation"].as_str().unwrap_or_default();
        explanation.contains("TypeError: boom") && explanation.contains("plugin.js")
    });
    assert!(explained, "{failed:#}");
}

#[test]
fn nothing_is_overwritten_and_mistakes_are_explained() {
    let desk = AuthorFolder::new(None);
    desk.write("there/precious", "mine");
    explained(&desk.assay(&["plugin", "new", "there"]), "is not overwritten");
    assert_eq!(desk.read("there/precious"), "mine");
    explained(&desk.assay(&["plugin", "new", "No Name"]), "`No Name`");
    let odd = desk.assay(&["plugin", "new", "x", "--template", "cobol"]);
    assert!(odd.code == Some(2) && odd.stderr.contains("rust-multistage"), "{odd:#?}");
    for verb in ["build", "test"] {
        explained(&desk.assay(&["plugin", verb, "there"]), "assay plugin new");
    }

    desk.write("p/plugin.toml", "build = [\"no-such-program\"]\ncomponent = \"a.wasm\"\n");
    explained(&desk.assay(&["plugin", "build", "p"]), "assay doctor");
    desk.write("p/plugin.toml", "build = [\"true\"]\ncomponent = \"a.wasm\"\n");
    explained(&desk.assay(&["plugin", "build", "p"]), "a.wasm");
    desk.write("p/a.wasm", "no component");
    explained(&desk.assay(&["plugin", "build", "p"]), "refused");
    desk.write(
        "p/plugin.toml",
        "build = [\"sh\", \"-c\", \"echo a mistake >&2; exit 3\"]\ncomponent = \"a\"\n",
    );
    let failed = desk.assay(&["plugin", "build", "p"]);
    explained(&failed, "exit status: 3");
    assert!(failed.stderr.contains("a mistake"), "the build's own words: {failed:#?}");
    desk.write("p/plugin.toml", "builds = []\n");
    explained(&desk.assay(&["plugin", "build", "p"]), "plugin.toml");
}

const CASE: &str = "# An even length.
name: even
request:
  response: ab  # two
expect:
  # It was lenient once.
  outcome: scored
  reward: 0.5
  verdict: success
";

#[test]
fn cases_tell_what_differs_and_can_be_updated() {
    let desk = AuthorFolder::new(None);
    desk.project("p", "trivial");
    explained(&desk.assay(&["plugin", "test", "p"]), "no golden cases");
    desk.write("p/cases/even.yaml", CASE);
    desk.write("p/cases/deep/odd.yaml", "name: odd\nrequest: {response: abc}\n");

    let failed = desk.assay(&["plugin", "test", "p"]);
    assert_eq!(failed.code, Some(1), "{failed:#?}");
    for line in ["FAILED  even", "- reward: 0.5", "+ reward: 1", "FAILED  odd", "+ outcome: scored"]
    {
        assert!(failed.stdout.contains(line), "{line}: {failed:#?}");
    }
    assert!(failed.stdout.contains("trivial@1.0.0: 0 passed, 2 failed"), "{failed:#?}");
    assert_eq!(desk.read("p/cases/even.yaml"), CASE, "nothing is written unasked");

    let updated = desk.json(&["plugin", "test", "p", "--update"], 0);
    let states: Vec<_> = updated["cases"].as_array().expect("cases").iter().collect();
    assert!(states.iter().all(|case| case["state"] == "updated"), "{updated:#}");
    let case = desk.read("p/cases/even.yaml");
    for kept in
        ["# An even length.", "response: ab  # two", "  # It was lenient once.", "reward: 1\n"]
    {
        assert!(case.contains(kept), "{kept}:\n{case}");
    }
    let tested = desk.json(&["plugin", "test", "p"], 0);
    assert_eq!(tested["passed"], 2, "{tested:#}");
    // The same cases find a version that rewards otherwise.
    desk.set_component("p", "trivial_next");
    let failed: Value = desk.json(&["plugin", "test", "p"], 1);
    assert_eq!((&failed["passed"], &failed["failed"]), (&0.into(), &2.into()), "{failed:#}");
}

#[test]
fn a_case_that_is_not_the_same_each_time_is_found() {
    let desk = AuthorFolder::new(None);
    desk.project("p", "execute");
    // A plugin has no randomness but its request's; the programs that it runs have.
    let program = "import os; raise SystemExit(os.urandom(1)[0])";
    let case = format!(
        "name: fickle\nrequest: {{response: '{program}', label: {{toolchain: cpython-3}}}}\n\
         expect: {{outcome: scored}}\n"
    );
    desk.write("p/cases/fickle.yaml", case);
    assert_eq!(desk.json(&["plugin", "test", "p"], 0)["passed"], 1);
    let unstable = desk.assay(&["plugin", "test", "p", "--repeat", "5"]);
    assert_eq!(unstable.code, Some(1), "{unstable:#?}");
    assert!(unstable.stdout.contains("its outcomes differ"), "{unstable:#?}");
}

#[test]
fn a_project_is_tested_again_as_it_changes() {
    let desk = AuthorFolder::new(None);
    desk.project("p", "trivial");
    desk.write("p/cases/even.yaml", CASE);
    let mut watch = Spawned::start(&mut desk.command(&["plugin", "test", "p", "--watch"]));
    watch.wait_for("0 passed, 1 failed", SOON);
    watch.wait_for("waiting for changes", SOON);
    desk.write("p/cases/even.yaml", CASE.replace("0.5", "1"));
    watch.wait_for("1 passed, 0 failed", SOON);
    // A project that does not build is told of, and looked at further.
    desk.write("p/plugin.wasm", "no component");
    watch.wait_for("refused", SOON);
    desk.set_component("p", "trivial_next");
    watch.wait_for("trivial@1.1.0", SOON);
    watch.signal("INT");
    assert_eq!(watch.wait(SOON).code(), Some(0));
}
