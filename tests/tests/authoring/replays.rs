//! Replays of recorded requests: by the version that scored them, and by their author's changed version.

use assay_api::batch::ResultsPage;
use assay_tests::{Host, HostOptions, Http};
use serde_json::Value;

use super::{AuthorFolder, batch, explained};

async fn ids(http: &Http, batch: &str) -> Vec<String> {
    let page: ResultsPage = http.get(&format!("/v1/batches/{batch}/results")).await.json(200);
    let mut items = page.items;
    items.sort_by_key(|item| item.id);
    items.iter().map(|item| item.id.to_string()).collect()
}

#[tokio::test]
async fn recorded_requests_are_replayed_by_a_changed_plugin() {
    let host = Host::start(HostOptions::default());
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    let plugin = host.publish("trivial").await;
    desk.project("p", "trivial");
    explained(&desk.assay(&["plugin", "test", "p", "--against", "prod"]), "are stored");
    let nightly = batch(&http, "nightly", &plugin, &["ab", "abc", ""]).await;
    let _ = batch(&http, "other", &plugin, &["ab"]).await;

    let same = desk.json(&["plugin", "test", "p", "--against", "prod"], 0);
    assert_eq!((&same["compared"], &same["changed"]), (&4.into(), &Value::Array(Vec::new())));
    assert_eq!(same["against"], "trivial@1.0.0");
    desk.set_component("p", "trivial_next");
    let changed = desk.json(&["plugin", "test", "p", "--against", "1.0.0", "--run", "nightly"], 1);
    assert_eq!(changed["compared"], 3);
    let found: Vec<_> = changed["changed"].as_array().expect("changes").iter().collect();
    let found: Vec<_> = found.iter().map(|change| change["id"].as_str().expect("an id")).collect();
    assert_eq!(found, ids(&http, &nightly.id.to_string()).await);
    let change = &changed["changed"][0];
    assert_eq!(
        (&change["recorded"]["reward"], &change["replayed"]["reward"]),
        (&1.0.into(), &0.0.into())
    );
    let told = desk.assay(&["plugin", "test", "p", "--against", "prod", "--limit", "1"]);
    assert_eq!(told.code, Some(1), "{told:#?}");
    assert!(
        told.stdout.contains("trivial@1.1.0 against trivial@1.0.0: 1 compared, 1 changed"),
        "{told:#?}"
    );
    assert!(told.stdout.contains("(success) -> "), "{told:#?}");

    explained(&desk.assay(&["plugin", "test", "p", "--against", "9.9.9"]), "1.0.0");
    let run = ["plugin", "test", "p", "--against", "prod", "--run", "silent"];
    explained(&desk.assay(&run), "`silent`");
}

#[tokio::test]
async fn a_request_is_shown_and_replayed_here() {
    let host = Host::start(HostOptions::default());
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    let plugin = host.publish("assay_plugin_hello").await;
    let talks = batch(&http, "talks", &plugin, &["Answer: 42", "none"]).await;
    let ids = ids(&http, &talks.id.to_string()).await;
    let (id, early) = (ids[0].as_str(), ids[1].as_str());

    let shown = desk.assay(&["request", "show", id]);
    for part in ["run talks", "reward 1", "stage extract", "stage score", "Answer: 42", "\"42\""] {
        assert!(shown.stdout.contains(part), "{part}: {shown:#?}");
    }
    assert!(desk.assay(&["request", "logs", id]).stdout.contains("score info  comparing"));
    let kept = desk.json(&["request", "artifacts", id, "--to", "left"], 0);
    assert_eq!(kept[0]["stage"], "extract");
    assert_eq!(desk.read("left/extract"), "42");
    explained(&desk.assay(&["request", "artifacts", id, "--to", "left"]), "left/extract");
    explained(&desk.assay(&["request", "show", &format!("{}.9", talks.id)]), "no such request");

    // The component comes from the server, and the same comes of it, stage by stage.
    let same = desk.json(&["request", "replay", id, "--local"], 0);
    assert_eq!(
        (&same["agrees"], &same["recorded_digest"]),
        (&true.into(), &same["replayed_digest"])
    );
    let stages = same["stages"].as_array().expect("stages");
    let names: Vec<_> = stages.iter().map(|stage| stage["stage"].as_str()).collect();
    assert_eq!(names, [Some("extract"), Some("score")]);
    assert_eq!(
        (&stages[0]["same_artifact"], &stages[1]["same_artifact"]),
        (&true.into(), &Value::Null)
    );
    assert_eq!(
        desk.json(&["request", "replay", early, "--local"], 0)["stages"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(desk.json(&["request", "replay", id], 0)["agrees"], true, "by the server, too");

    desk.project("p", "trivial");
    let changed = desk.assay(&["request", "replay", early, "--local", "--plugin", "p"]);
    assert_eq!(changed.code, Some(1), "{changed:#?}");
    for part in ["is not the one that scored", "the outcomes differ: verdict, reward", "no_answer"]
    {
        assert!(changed.stdout.contains(part), "{part}: {changed:#?}");
    }
}

/// A capability that the service has and this machine lacks is named in a note, and does not count as a
/// difference.
#[tokio::test]
async fn what_cannot_be_run_here_is_said() {
    let host = Host::start(HostOptions::default());
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    let plugin = host.publish("execute").await;
    // The server has no storage either: what it recorded is not the plugin's doing.
    let call = serde_json::json!({ "plugin": plugin, "run": "reads", "expected_size": 1 });
    let made: assay_api::batch::Batch = http.post("/v1/batches", &call).await.json(201);
    let path = format!("/v1/batches/{}", made.id);
    let label = serde_json::json!({ "storage_get": "judge/1.in" });
    let item = serde_json::json!([{ "key": "a", "response": "", "label": label }]);
    assert_eq!(http.post(&format!("{path}/requests"), &item).await.status, 200);
    let _ = http.get_when_ended(&path).await;
    desk.project("p", "execute");
    let report = desk.json(&["plugin", "test", "p", "--against", "prod"], 0);
    let notes = report["notes"].to_string();
    assert!(notes.contains("--storage DIR") && notes.contains("toolchains"), "{report:#}");
}
