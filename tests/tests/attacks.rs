//! Programs that try to leave their box, take the machine down or learn a secret: each ends as it should,
//! through the whole service, and leaves no traces. A process that is killed around them leads to a retry
//! or an error, never to a number.

mod kills;
mod machine;
mod table;

use std::collections::BTreeMap;
use std::io::Write as _;

use assay_api::request::SubmitItem;
use assay_api::result::ResultItem;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{Answers, Host, HostOptions, Process, checkout, is_root, item};
use machine::{SECRET, Targets, Traces, Watch};
use serde_json::{Value, json};
use table::Attack;

/// The unprivileged user whom every machine has.
const NOBODY: u32 = 65_534;

/// The boxes of one host: with or without cgroups, which limit all processes of a box together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boxes {
    Whole,
    WithoutCgroups,
}

impl Boxes {
    /// The value of `weakened` in every outcome on this host.
    fn weakened(self) -> Value {
        match self {
            Self::Whole => json!([]),
            Self::WithoutCgroups => json!(["cgroups"]),
        }
    }

    /// The most processes that a program has at once, whose limit is 16. The box's own first one may count or not. Where
    /// the kernel counts all of a user, up to four of the helper's may have ended.
    fn processes_max(self) -> u32 {
        match self {
            Self::Whole => 17,
            Self::WithoutCgroups => 20,
        }
    }
}

/// The program's text with what it shares with the others.
pub(crate) fn source(file: &str) -> String {
    let read = |name: &str| {
        let path = checkout().join("tests/attacks").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    read(file).replace("#include \"attack.h\"", &read("attack.h"))
}

fn submitted(
    key: String,
    attack: &Attack,
    targets: &Targets,
    (host, boxes): (&Host, Boxes),
) -> SubmitItem {
    let argument = |written: &&str| match *written {
        "{processes}" => boxes.processes_max().to_string(),
        written => targets.argument(written, host),
    };
    let arguments: Vec<_> = attack.arguments.iter().map(argument).collect();
    let limits: Value = serde_json::from_str(attack.limits).expect("limits are JSON");
    let label = json!({
        "toolchain": attack.toolchain(),
        "compile_limits": attack.compile_cpu_ms.map(|cpu_ms| json!({ "cpu_ms": cpu_ms })),
        "args": arguments,
        "options": attack.options,
        "collect": attack.collect,
        "cases": attack.runs,
        "limits": limits,
    });
    item(key, &source(attack.file), &label.to_string())
}

fn harmless(key: String, number: usize) -> SubmitItem {
    let label = json!({ "toolchain": "c11-gcc", "stdin": format!("{number} 1") });
    item(key, &source("harmless.c"), &label.to_string())
}

/// All attacks, a harmless program before each.
fn mixed(
    targets: &Targets,
    host: &Host,
    boxes: Boxes,
) -> (Vec<SubmitItem>, BTreeMap<String, &'static Attack>) {
    let (mut items, mut attacks) = (Vec::new(), BTreeMap::new());
    for (at, attack) in table::all().enumerate() {
        items.push(harmless(format!("harmless-{at}"), at));
        let key = format!("{} ({at})", attack.file);
        items.push(submitted(key.clone(), attack, targets, (host, boxes)));
        attacks.insert(key, attack);
    }
    (items, attacks)
}

/// The result of a run as the guest reports it.
fn told(result: &ResultItem) -> Value {
    match &result.outcome {
        Outcome::Scored(scored) => {
            serde_json::from_str(&scored.explanation).unwrap_or_else(|_| panic!("{result:?}"))
        }
        _ => Value::Null,
    }
}

fn check_harmless(result: &ResultItem, number: usize, boxes: Boxes) {
    assert_eq!(result.outcome.verdict(), "exited_0", "{result:?}");
    assert_eq!(result.outcome.reward(), Some(1.0));
    let told = told(result);
    assert_eq!(told["stdout"], format!("{}\n", number + 1), "{result:?}");
    assert_eq!(told["weakened"], boxes.weakened());
}

/// The mistake in how an attack ended, if there is one.
fn failure(attack: &Attack, result: &ResultItem, boxes: Boxes) -> Option<String> {
    let verdict = result.outcome.verdict();
    let weaker = boxes == Boxes::WithoutCgroups && attack.without_cgroups.contains(&verdict);
    if !attack.ends.contains(&verdict) && !weaker {
        return Some(format!("{verdict} instead of {:?}", attack.ends));
    }
    let whole = format!("{:?}", result.outcome);
    let leaks = ["CARGO", "root:x:", "root:*:", "root:$", "root:!", "bashrc", SECRET];
    if let Some(leak) = leaks.iter().find(|leak| whole.contains(**leak)) {
        return Some(format!("told `{leak}`"));
    }
    let said = whole.contains("ESCAPED") || whole.contains("BROKEN");
    if said && !(weaker && verdict == "exited_1") {
        return Some("says that it got out, or could not try".into());
    }
    let told = told(result);
    if told.is_null() {
        return result.outcome.reward().map(|reward| format!("an error with reward {reward}"));
    }
    let own = !attack.file.starts_with("harmless") && !attack.file.starts_with("compile_");
    let contained = told["stdout"].as_str().is_some_and(|text| text.contains("contained"));
    if verdict == "exited_0" && own && !contained {
        return Some("does not say that it was contained".into());
    }
    if result.outcome.reward() != Some(if verdict == "exited_0" { 1.0 } else { 0.0 }) {
        return Some("has another reward".into());
    }
    if told["weakened"] != boxes.weakened() {
        return Some("does not say how weak its box was".into());
    }
    over_limits(attack, verdict, &told).or_else(|| collected(attack, &told))
}

/// Processor time is watched, not foreseen, and on a busy machine the watcher may come late; the
/// kernel's own limit, five seconds beyond, comes without him.
const PROCESSOR_SLACK_US: u64 = 6_000_000;

fn over_limits(attack: &Attack, verdict: &str, told: &Value) -> Option<String> {
    let limits: Value = serde_json::from_str(attack.limits).expect("limits are JSON");
    let cpu_us = told["cpu_us"].as_u64().expect("a number");
    if verdict == "limited_cpu" {
        let given_us = limits["cpu_ms"].as_u64().unwrap_or(2_000) * 1_000;
        if cpu_us + 50_000 < given_us || cpu_us > given_us + PROCESSOR_SLACK_US {
            return Some(format!("was ended after {cpu_us} us of {given_us}"));
        }
    }
    let memory = told["memory_peak_bytes"].as_u64().expect("a number");
    // Compilers have 1 GiB, the programs here 256 MiB.
    let given = if verdict == "rejected" { 1 << 30 } else { 256 << 20 };
    (memory > given + (16 << 20)).then(|| format!("held {memory} bytes"))
}

fn collected(attack: &Attack, told: &Value) -> Option<String> {
    let files = told["files"].as_object().expect("files by name");
    let replaced = ["collected_root.c", "collected_init.c"];
    if replaced.contains(&attack.file) {
        let own = files.iter().all(|(name, text)| name == "attack-plain" && text == "plain\n");
        return (!own).then(|| format!("returned {files:?}"));
    }
    if attack.file != "collected.c" {
        return None;
    }
    // A file that its owner may not read is a file all the same; one that is swapped may be met.
    let allowed = |(name, text): (&String, &Value)| match name.as_str() {
        "attack-plain" => text == "plain\n",
        "attack-locked" => text == "unreadable\n" || text == "",
        "attack-swapped" => text == "",
        _ => false,
    };
    if !files.contains_key("attack-plain") {
        return Some("the plain file is not returned".into());
    }
    (!files.iter().all(allowed)).then(|| format!("returned {files:?}"))
}

fn failures(
    attacks: &BTreeMap<String, &'static Attack>,
    by_key: &BTreeMap<String, ResultItem>,
    boxes: Boxes,
) -> Vec<String> {
    let failed = |(key, attack): (&String, &&Attack)| {
        let failed = failure(attack, &by_key[key], boxes)?;
        Some(format!("{key}: {failed}\n  {:?}", by_key[key].outcome))
    };
    attacks.iter().filter_map(failed).collect()
}

/// The workers, and what each of them started to make boxes.
fn pool(host: &Host) -> Vec<Process> {
    let workers = Process::children(host.pid(), "assay-worker");
    let helpers = workers.iter().flat_map(|worker| Process::children(worker.pid, "assay-exec"));
    workers.iter().cloned().chain(helpers).collect()
}

/// Runs harmless programs until every worker has made a box.
async fn warm(host: &Host, plugin: &str, boxes: Boxes) {
    let items: Vec<_> = (0..12).map(|at| harmless(at.to_string(), at)).collect();
    for _ in 0..10 {
        let client = host.client();
        let by_key = Answers::submit(&client, plugin, &items).await.finish(&client, &items).await;
        for (at, item) in items.iter().enumerate() {
            check_harmless(&by_key[&item.key], at, boxes);
        }
        if pool(host).len() == 4 {
            return;
        }
    }
    panic!("the workers have not all made a box: {:?}", pool(host));
}

/// Where the time of these tests goes.
fn tell_the_slowest(by_key: &BTreeMap<String, ResultItem>) {
    let ran = |(key, result): (&String, &ResultItem)| {
        let ran_ms: f64 = result.stages.iter().map(|stage| stage.ran_ms).sum();
        (key.clone(), ran_ms)
    };
    let mut slowest: Vec<_> = by_key.iter().map(ran).collect();
    slowest.sort_by(|one, other| other.1.total_cmp(&one.1));
    let all: f64 = slowest.iter().map(|(_, ran_ms)| ran_ms).sum();
    // Past the capture of what passing tests print, for the report.
    let mut told = format!("{all:.0} ms in {} programs\n", slowest.len());
    slowest[..20].iter().for_each(|(key, ran_ms)| told += &format!("{ran_ms:>7.0} ms {key}\n"));
    let _ = std::io::stderr().write_all(told.as_bytes());
}

async fn all_attacks(options: HostOptions, boxes: Boxes) {
    let before = Traces::of_machine();
    let targets = Targets::new();
    let mut host = Host::start(options);
    let watch = Watch::start(&host);
    let plugin = host.publish("execute").await;
    warm(&host, &plugin, boxes).await;
    let pool_before = pool(&host);

    let (mut items, attacks) = mixed(&targets, &host, boxes);
    let client = host.client();
    let mut by_key = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
    // A machine that is too busy to judge says so; then the same is asked again.
    for _ in 0..5 {
        items.retain(|item| {
            matches!(by_key[&item.key].outcome, Outcome::Error { code: ErrorCode::Unavailable, .. })
        });
        if items.is_empty() {
            break;
        }
        let again = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
        by_key.extend(again);
    }
    tell_the_slowest(&by_key);
    let mut failures = failures(&attacks, &by_key, boxes);
    for at in 0..attacks.len() {
        check_harmless(&by_key[&format!("harmless-{at}")], at, boxes);
    }
    let pool_after = pool(&host);
    if pool_after != pool_before {
        failures.push(format!(
            "lost of {pool_before:?}, left {pool_after:?}; the server says:\n{}",
            host.log()
        ));
    }
    targets.check_untouched();
    watch.check_saw(boxes == Boxes::Whole);

    let data = host.data();
    assert!(host.stop(), "the server did not end well:\n{}", host.log());
    watch.check_gone();
    assert_eq!(Traces::of_machine(), before);
    assert_eq!(machine::files_of_attacks(&data), [""; 0].map(std::path::PathBuf::from));
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn attacks_fail_and_leave_nothing() {
    let boxes = if is_root() { Boxes::Whole } else { Boxes::WithoutCgroups };
    all_attacks(HostOptions::with_boxes("cpu=2"), boxes).await;
}

/// Root can be somebody else; anybody else is an ordinary user already.
fn ordinary_user() -> Option<u32> {
    is_root().then_some(NOBODY)
}

#[tokio::test]
async fn an_ordinary_user_is_told_what_is_missing() {
    let options = HostOptions { user: ordinary_user(), ..HostOptions::default() };
    let host = Host::start(options);
    let plugin = host.publish("execute").await;
    let items = [harmless("one".into(), 1)];
    let client = host.client();
    let by_key = Answers::submit(&client, &plugin, &items).await.finish(&client, &items).await;
    let Outcome::Error { code, message, .. } = &by_key["one"].outcome else {
        panic!("{by_key:?}");
    };
    assert_eq!(code.as_str(), "unavailable");
    assert!(message.contains("cgroup"), "{message}");
    assert_eq!(by_key["one"].outcome.reward(), None);
}

#[tokio::test]
async fn attacks_of_an_ordinary_user_fail_too() {
    let options = HostOptions {
        user: ordinary_user(),
        arguments: vec!["--weaker-sandbox".into(), "cgroups".into()],
        ..HostOptions::default()
    };
    all_attacks(options, Boxes::WithoutCgroups).await;
}
