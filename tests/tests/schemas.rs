//! Settings and labels against the schemas that plugins declare: refused by the field, before anything runs.

use assay_api::batch::Batch;
use assay_api::plugin::PluginList;
use assay_api::request::{Reward, SubmitReply, SubmitStatus};
use assay_core::outcome::Outcome;
use assay_tests::{Host, HostOptions, Http, component};
use serde_json::{Value, json};

fn idle() -> Host {
    Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() })
}

fn announcement(plugin: &str, run: &str, settings: &Value) -> Value {
    json!({ "plugin": plugin, "run": run, "settings": settings })
}

#[tokio::test]
async fn settings_are_validated_when_a_batch_is_announced() {
    let host = idle();
    let http = Http::new(&host);
    let math = host.publish("assay_plugin_math").await;
    for (settings, field, rule) in [
        (json!({ "tolerance": "high" }), "settings at `/tolerance`", "must be of type number"),
        (json!({ "tolerance": 7 }), "settings at `/tolerance`", "must be at most 0.1"),
        (json!({ "tolerence": 0.1 }), "settings has \"tolerence\"", "does not know"),
    ] {
        let call = announcement(&math, "wrong", &settings);
        let problem = http.post("/v1/batches", &call).await.problem(422, "invalid_settings");
        assert!(problem.detail.starts_with(field) && problem.detail.contains(rule), "{problem:?}");
        let call = json!({ "plugin": math, "response": "4", "label": "4", "settings": settings });
        let problem = http.post("/v1/rewards", &call).await.problem(422, "invalid_settings");
        assert!(problem.detail.starts_with(field), "{problem:?}");
    }
    // Nothing was pinned, and the right ones pass.
    let right = announcement(&math, "wrong", &json!({ "tolerance": 0.01, "strict": true }));
    let _: Batch = http.post("/v1/batches", &right).await.json(201);
    // The run keeps its settings: none are given again.
    let again = json!({ "plugin": math, "run": "wrong", "iteration": 1 });
    let _: Batch = http.post("/v1/batches", &again).await.json(201);
}

#[tokio::test]
async fn labels_are_validated_when_they_are_submitted() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let math = host.publish("assay_plugin_math").await;
    let batch: Batch =
        http.post("/v1/batches", &announcement(&math, "labels", &json!({}))).await.json(201);
    let path = format!("/v1/batches/{}", batch.id);
    let item = |key: &str, label: Value| json!({ "key": key, "response": "4", "label": label });
    let items = [
        item("text", json!("4")),
        item("object", json!({ "answer": 4 })),
        item("number", json!(4)),
        item("list", json!(["4", 4.0, [4]])),
        item("answers", json!(["4", 4.0])),
    ];
    let lines: Vec<String> = items.iter().map(Value::to_string).collect();
    for (kind, body) in [
        ("application/x-ndjson", lines.join("\n")),
        ("application/json", format!("[{}]", lines.join(","))),
    ] {
        let sent = http.post_bytes(&format!("{path}/requests"), kind, body).await;
        let reply: SubmitReply = sent.json(200);
        assert_eq!((reply.accepted + reply.repeated, reply.rejected), (3, 2), "{reply:?}");
        for (at, key, line, field) in [
            (1, "object", 2, "label must be of type"),
            (3, "list", 4, "label at `/2` must be of type"),
        ] {
            let item = &reply.items[at];
            assert_eq!((item.key.as_str(), item.status), (key, SubmitStatus::Rejected));
            let problem = item.problem.as_ref().expect("a reason");
            assert_eq!((problem.code.as_str(), problem.line), ("invalid_label", line));
            assert!(problem.detail.starts_with(field), "{problem:?}");
        }
    }
    let _: Batch = http.post(&format!("{path}/seal"), &json!({})).await.json(200);
    let done: Batch = http.get_when_ended(&path).await.json(200);
    assert_eq!((done.counts.submitted, done.mean_reward), (3, Some(1.0)));

    let call = |label: Value| json!({ "plugin": math, "response": "4", "label": label });
    let refused = http.post("/v1/rewards", &call(json!([true]))).await;
    let problem = refused.problem(422, "invalid_label");
    assert!(problem.detail.starts_with("label at `/0` must be of type"), "{problem:?}");
    assert!(problem.detail.contains("it is a boolean"), "{problem:?}");
    let reward: Reward = http.post("/v1/rewards", &call(json!("8/2"))).await.json(200);
    assert!(matches!(reward.outcome, Outcome::Scored(scored) if scored.reward == 1.0));
}

#[tokio::test]
async fn the_part_of_a_large_label_is_named() {
    let host = idle();
    let http = Http::new(&host);
    let code = host.publish("assay_plugin_code").await;
    let batch: Batch =
        http.post("/v1/batches", &announcement(&code, "large", &json!({}))).await.json(201);
    let mut tests = vec![json!({ "input": "1 2\n".repeat(100), "output": "3\n" }); 60];
    let right = json!({ "tests": tests, "language": "python" });
    tests[41] = json!({ "input": 5 });
    let wrong = json!({ "tests": tests, "language": "python" });
    let items = json!([
        { "key": "right", "response": "", "label": right },
        { "key": "wrong", "response": "", "label": wrong },
    ]);
    let path = format!("/v1/batches/{}/requests", batch.id);
    let reply: SubmitReply = http.post(&path, &items).await.json(200);
    assert_eq!((reply.accepted, reply.rejected), (1, 1), "{reply:?}");
    let problem = reply.items[1].problem.as_ref().expect("a reason");
    assert!(problem.detail.starts_with("label at `/tests/41/input` must be"), "{problem:?}");
}

#[tokio::test]
async fn a_schema_that_cannot_be_bounded_is_refused_at_publication() {
    let host = idle();
    let http = Http::new(&host);
    let uploaded =
        http.post_bytes("/v1/plugins", "application/wasm", component("describe_recursion")).await;
    let problem = uploaded.problem(422, "plugin_refused");
    assert!(problem.detail.starts_with("label-schema: "), "{problem:?}");
    assert!(problem.detail.contains("leads back to itself"), "{problem:?}");
    let list: PluginList = http.get("/v1/plugins").await.json(200);
    assert!(list.items.is_empty(), "{list:?}");
}

/// A version that was published before schemas were checked: its row is as it was written then.
#[tokio::test]
async fn a_version_of_before_goes_on_without_validation() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let recursive = r##"{"items": {"$ref": "#"}}"##;
    let schemas = json!({ "label_schema": recursive, "settings_schema": recursive });
    let _ = host.psql().rows(&format!(
        "update plugins set description = (description::jsonb || '{schemas}'::jsonb)::json"
    ));
    let call = json!({
        "plugin": plugin, "response": "xx", "label": { "any": [1] }, "settings": { "any": 1 },
    });
    let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
    assert!(matches!(reward.outcome, Outcome::Scored(_)), "{reward:?}");
}

#[tokio::test]
async fn trainers_protocols_stop_at_a_label_of_another_form() {
    let host = idle();
    let http = Http::new(&host);
    host.publish("assay_plugin_hello").await;
    let one = json!({ "prompt": "", "response": "Answer: 4", "label": 4 });
    let list = json!({ "query": ["Answer: 4"], "prompts": [], "labels": [4] });
    let row = json!({
        "responses_create_params": { "input": [] }, "response": { "output": [] }, "answer": 4,
    });
    let task = json!({ "response": "4", "reward_info": { "ground_truth": [4] } });
    for (path, body) in [
        ("slime/hello@prod/a", &one),
        ("openrlhf/hello@prod/b", &list),
        ("nemo-gym/hello@prod/c/verify", &row),
        ("roll/hello@prod/d/submit_task", &task),
    ] {
        let answer = http.post(&format!("/compat/{path}"), body).await;
        let problem = answer.problem(422, "invalid_label");
        assert!(problem.detail.starts_with("label must be of type string"), "{path}: {problem:?}");
    }
    // A call that is refused leaves nothing that waits for requests.
    let batches: Value = http.get("/v1/batches").await.json(200);
    assert_eq!(batches["items"], json!([]), "{batches}");
    let runs: Value = http.get("/v1/runs").await.json(200);
    assert_eq!(runs["items"], json!([]), "{runs}");
}

/// As costly as a label may be that is validated at once, and none is accepted: nothing of the call waits for anything.
#[tokio::test]
async fn a_call_whose_labels_are_all_refused_holds_up_no_other() {
    let mut host = idle();
    let plugin = host.publish("trivial").await;
    // Each 0 matches the last form alone, and -1 none.
    let forms: Vec<Value> = (0..2_700).rev().map(|at| json!({ "minimum": at })).collect();
    let schema = json!({ "items": { "anyOf": forms } }).to_string();
    let schemas = json!({ "label_schema": schema });
    let _ = host.psql().rows(&format!(
        "update plugins set description = (description::jsonb || '{schemas}'::jsonb)::json"
    ));
    // It has read the row before.
    host.stop();
    host.restart();
    let http = Http::new(&host);
    let batch: Batch =
        http.post("/v1/batches", &announcement(&plugin, "long", &json!({}))).await.json(201);
    let mut label = vec![0; 13];
    label.push(-1);
    let item = |key: usize| json!({ "key": key.to_string(), "response": "", "label": label });
    let items: Value = (0..200).map(item).collect();
    let path = format!("/v1/batches/{}/requests", batch.id);
    let mut answered = 0;
    let submit = http.post(&path, &items);
    tokio::pin!(submit);
    let reply: SubmitReply = loop {
        tokio::select! {
            reply = &mut submit => break reply.json(200),
            probe = http.get("/livez") => {
                assert_eq!(probe.status, 200);
                answered += 1;
            }
        }
    };
    assert_eq!((reply.accepted, reply.rejected), (0, 200), "{:?}", reply.items.first());
    assert!(answered > 1, "probes wait until all labels are validated");
}
