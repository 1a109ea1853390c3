//! Plugins from upload to yank, and the runs that keep what they began with.

use std::time::{Duration, Instant};

use assay_api::batch::Batch;
use assay_api::operations::WorkerList;
use assay_api::plugin::{Plugin, PluginList};
use assay_api::request::{Reward, SubmitReply};
use assay_tests::{
    Answer, Host, HostOptions, Http, Process, component, plugins_of_workers, poll, until,
};
use bytes::Bytes;
use reqwest::Method;
use serde_json::{Value, json};

const SOON: Duration = Duration::from_secs(240);
const WASM: &str = "application/wasm";

async fn upload(http: &Http, bytes: impl Into<Bytes>) -> Answer {
    http.post_bytes("/v1/plugins", WASM, bytes).await
}

async fn promote(http: &Http, path: &str, version: &str) -> Answer {
    let path = format!("/v1/plugins/{path}");
    http.send(http.request(Method::PUT, &path).json(&json!({ "version": version }))).await
}

async fn announce(http: &Http, run: &str, plugin: &str, settings: Option<Value>) -> Answer {
    let call = json!({ "plugin": plugin, "run": run, "expected_size": 1, "settings": settings });
    http.post("/v1/batches", &call).await
}

/// The reward of the batch's one request, a response of two bytes.
async fn score(http: &Http, batch: &Batch) -> f64 {
    let path = format!("/v1/batches/{}", batch.id);
    let item = json!([{ "key": "a", "response": "xx" }]);
    let _: SubmitReply = http.post(&format!("{path}/requests"), &item).await.json(200);
    let done: Batch = http.get_when_ended(&path).await.json(200);
    done.mean_reward.expect("it was scored")
}

#[tokio::test]
async fn what_is_no_plugin_is_refused_with_the_reason() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let mut broken = component("trivial");
    broken.truncate(broken.len() / 2);
    let core_module = b"\0asm\x01\0\0\0".to_vec();
    for (what, bytes, reason) in [
        ("nothing", Vec::new(), "component"),
        ("text", b"print('hello')".to_vec(), "component"),
        ("half a component", broken, ""),
        ("a core module", core_module, "component"),
        ("a forbidden import", component("forbidden_import"), "assay:forbidden/vault"),
        ("a nonsensical description", component("describe_nonsense"), "Not A Name!"),
    ] {
        let problem = upload(&http, bytes).await.problem(422, "plugin_refused");
        assert!(problem.detail.contains(reason), "{what}: {problem:?}");
        assert!(problem.detail.len() < 1_000, "{what}: {problem:?}");
    }
    let started = Instant::now();
    let problem = upload(&http, component("describe_spins")).await.problem(422, "plugin_refused");
    assert!(problem.detail.contains("describe"), "{problem:?}");
    assert!(started.elapsed() < Duration::from_secs(100), "{:?}", started.elapsed());
    let list: PluginList = http.get("/v1/plugins").await.json(200);
    assert!(list.items.is_empty(), "{list:?}");
}

#[tokio::test]
async fn versions_are_published_promoted_and_yanked() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let bytes = component("trivial");
    let first: Plugin = upload(&http, bytes.clone()).await.json(201);
    assert_eq!((first.name.as_str(), first.version.as_str()), ("trivial", "1.0.0"));
    assert_eq!(first.stages.len(), 1);
    assert!(first.channels.is_empty() && first.yanked.is_none());
    let again: Plugin = upload(&http, bytes.clone()).await.json(200);
    assert_eq!((again.digest, again.published_at), (first.digest, first.published_at));
    // The same version with other bytes: a custom section more.
    let mut other = bytes;
    other.extend_from_slice(b"\0\x05\x04note");
    let problem = upload(&http, other).await.problem(409, "conflict");
    assert!(problem.detail.contains("1.0.0"), "{problem:?}");

    let next: Plugin = upload(&http, component("trivial_next")).await.json(201);
    assert_eq!(next.version, "1.1.0");
    let all: PluginList = http.get("/v1/plugins/trivial").await.json(200);
    assert_eq!(
        all.items.iter().map(|it| it.version.as_str()).collect::<Vec<_>>(),
        ["1.1.0", "1.0.0"]
    );
    let _ = http.get("/v1/plugins/nobody").await.problem(404, "not_found");

    let _ = promote(&http, "trivial/channels/prod", "9.9.9").await.problem(404, "not_found");
    let _ = promote(&http, "nobody/channels/prod", "1.0.0").await.problem(404, "not_found");
    let _ = promote(&http, "trivial/channels/1st", "1.0.0").await.problem(400, "bad_request");
    for (plugin, detail) in [
        ("trivial@prod", "there is no channel `prod` of a plugin `trivial`"),
        ("nobody@1.0.0", "there is no version 1.0.0 of a plugin `nobody`"),
    ] {
        let problem = announce(&http, "early", plugin, None).await.problem(404, "not_found");
        assert_eq!(problem.detail, detail);
        assert!(problem.hint.is_some_and(|hint| hint.contains("assay plugin versions")));
    }
    let promoted: Plugin = promote(&http, "trivial/channels/prod", "1.0.0").await.json(200);
    assert_eq!(promoted.channels, ["prod"]);
    a_run_keeps_its_version(&http, &first, &next).await;
    pins_are_kept(&http).await;
}

#[tokio::test]
async fn an_announced_plugin_is_fetched_before_its_first_request() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let _: Plugin = upload(&http, component("trivial")).await.json(201);
    let there = || plugins_of_workers(&host.data()).len();
    assert_eq!(there(), 0);
    let batch: Batch = announce(&http, "soon", "trivial@1.0.0", None).await.json(201);
    poll(SOON, "the plugin at the worker", || (there() == 1).then_some(()));

    // A worker that comes later finds it in the cache of its machine, or fetches it again.
    std::fs::remove_dir_all(host.data().join("cache/plugins")).expect("it is ours");
    Process::children(host.pid(), "assay-worker").into_iter().for_each(|worker| worker.kill());
    poll(SOON, "the plugin at the next worker", || (there() == 1).then_some(()));
    assert_eq!(score(&http, &batch).await, 1.0);
}

/// Trainers' calls and single requests announce nothing.
#[tokio::test]
async fn a_promoted_plugin_is_fetched_before_its_first_request() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let _: Plugin = upload(&http, component("trivial")).await.json(201);
    until("the worker joins", async || {
        let workers: WorkerList = http.get("/v1/workers").await.json(200);
        (!workers.items.is_empty()).then_some(())
    })
    .await;
    assert_eq!(plugins_of_workers(&host.data()).len(), 0);
    let _: Plugin = promote(&http, "trivial/channels/prod", "1.0.0").await.json(200);
    let there = || plugins_of_workers(&host.data()).len();
    poll(SOON, "the plugin at the worker", || (there() == 1).then_some(()));
}

#[tokio::test]
async fn the_same_bytes_are_compiled_once() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let recalled = || host.log().matches("is compiled already; its code is used again").count();
    let first: Plugin = upload(&http, component("trivial")).await.json(201);
    assert_eq!(recalled(), 0, "{}", host.log());
    let again: Plugin = upload(&http, component("trivial")).await.json(200);
    assert_eq!((again.digest, recalled()), (first.digest, 1), "{}", host.log());
    // Code that was damaged is not loaded: the component is compiled again, and its code is stored again.
    let damage = |file: &std::path::Path| {
        let mut bytes = std::fs::read(file).expect("an object");
        if let Some(byte) = bytes.last_mut() {
            *byte ^= 1;
        }
        std::fs::write(file, bytes).expect("writes");
    };
    objects(&host.data().join("objects")).iter().for_each(|file| damage(file));
    let mended: Plugin = upload(&http, component("trivial")).await.json(200);
    assert_eq!((mended.digest, recalled()), (first.digest, 1), "{}", host.log());
    let _: Plugin = upload(&http, component("trivial")).await.json(200);
    assert_eq!(recalled(), 2, "{}", host.log());
}

/// The files in a folder and the folders in it.
fn objects(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").flatten();
    let paths = entries.map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { objects(&path) } else { vec![path] }).collect()
}

async fn a_run_keeps_its_version(http: &Http, first: &Plugin, next: &Plugin) {
    let before: Batch = announce(http, "long", "trivial@prod", None).await.json(201);
    assert_eq!(before.plugin_digest, first.digest);
    let promoted: Plugin = promote(http, "trivial/channels/prod", "1.1.0").await.json(200);
    assert_eq!(promoted.channels, ["prod"]);
    assert_eq!(score(http, &before).await, 1.0);
    let yank = json!({ "reason": "it rewards the wrong half" });
    let yanked: Plugin =
        http.post("/v1/plugins/trivial/versions/1.0.0/yank", &yank).await.json(200);
    assert_eq!(yanked.yanked.as_deref(), Some("it rewards the wrong half"));

    // The run goes on as it began; others are sent to the new version, or away.
    let same: Batch = announce(http, "long", "trivial@prod", None).await.json(201);
    assert_eq!((same.plugin_digest, score(http, &same).await), (first.digest, 1.0));
    let new: Batch = announce(http, "new", "trivial@prod", None).await.json(201);
    assert_eq!((new.plugin_digest, score(http, &new).await), (next.digest, 0.0));
    let refused = announce(http, "other", "trivial@1.0.0", None).await;
    assert!(refused.problem(422, "plugin_refused").detail.contains("yanked"));
    let lone = json!({ "plugin": "trivial@1.0.0", "response": "xx" });
    let _ = http.post("/v1/rewards", &lone).await.problem(422, "plugin_refused");
    let lone = json!({ "plugin": "trivial@prod", "response": "xx" });
    let reward: Reward = http.post("/v1/rewards", &lone).await.json(200);
    assert_eq!((reward.plugin_digest, reward.outcome.reward()), (next.digest, Some(0.0)));
    let _ =
        http.post("/v1/plugins/trivial/versions/9.9.9/yank", &yank).await.problem(404, "not_found");
    let empty = json!({ "reason": "" });
    let _ = http
        .post("/v1/plugins/trivial/versions/1.1.0/yank", &empty)
        .await
        .problem(400, "bad_request");
}

async fn pins_are_kept(http: &Http) {
    let settings = || Some(json!({ "strict": true, "depth": 2 }));
    let _: Batch = announce(http, "pinned", "trivial@prod", settings()).await.json(201);
    let reordered = Some(json!({ "depth": 2, "strict": true }));
    let _: Batch = announce(http, "pinned", "trivial@prod", reordered).await.json(201);
    let _: Batch = announce(http, "pinned", "trivial@1.1.0", None).await.json(201);
    for (plugin, settings) in [
        ("trivial@prod", Some(json!({ "strict": false }))),
        ("trivial@1.0.0", None),
        ("hello@prod", None),
    ] {
        let problem = announce(http, "pinned", plugin, settings).await.problem(409, "run_pinned");
        assert!(problem.detail.contains("`pinned`"), "{problem:?}");
        assert!(problem.hint.is_some_and(|hint| hint.contains("new run")));
    }
    // Settings that no program can compare are the same only letter by letter.
    let deep = |bottom: &str| format!("{}{bottom}{}", "{\"a\":".repeat(200), "}".repeat(200));
    let announce_raw = async |bottom: &str| {
        let call =
            format!(r#"{{"plugin":"trivial@prod","run":"deep","settings":{}}}"#, deep(bottom));
        http.post_bytes("/v1/batches", "application/json", call).await
    };
    let _: Batch = announce_raw("1").await.json(201);
    let _: Batch = announce_raw("1").await.json(201);
    let _ = announce_raw("2").await.problem(409, "run_pinned");
}
