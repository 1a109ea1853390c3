//! ROLL's remote reward system: submit, then ask.

use assay_tests::until_good;
use reqwest::Method;
use serde_json::{Value, json};

use super::{World, check_no_number};

fn task(response: &str, step: &Value) -> Value {
    json!({
        "priority": 1, "project_id": "project", "experiment_id": "first", "global_step": step,
        "data_id": "d1", "rollout_id": "r1", "prompt": "6 * 7?", "response": response,
        "reward_info": { "ground_truth": "42" }, "reward_manager": {}, "timeout": 300,
    })
}

/// As ROLL does: a GET that has a body, and a header of its own.
async fn ask(world: &World, plugin: &str, id: &Value) -> Value {
    let http = world.http.without_key();
    let request = http.request(Method::GET, &format!("/compat/roll/{plugin}/any/task_result"));
    let request = request.header("xrl-authorization", format!("Bearer {}", world.host.key));
    let request = request.header("businesstype", "online");
    let answer = http.send(request.json(&json!({ "reward_request_id": id }))).await;
    let json: Value = answer.json(200);
    if json["errcode"] != 0 {
        check_no_number(&answer);
    }
    json
}

async fn submit(world: &World, plugin: &str, task: &Value) -> Value {
    let told = world.post(&format!("roll/{plugin}/any/submit_task"), task).await.json::<Value>(200);
    assert_eq!((&told["errcode"], &told["errmsg"]), (&json!(0), &json!("")));
    told["reward_request_id"].clone()
}

/// A text that the database cannot store would be refused by each of its commits.
#[tokio::test]
async fn a_group_that_cannot_be_stored_is_refused() {
    let world = World::waiting().await;
    for group in ["\0".to_owned(), "g".repeat(257)] {
        let mut bad = task("Answer: 42", &json!(7));
        bad["data_id"] = json!(group);
        let refused = world.post("roll/hello@prod/any/submit_task", &bad).await;
        assert!(refused.problem(400, "bad_request").detail.contains("the group"));
    }
    submit(&world, "hello@prod", &task("Answer: 42", &json!(7))).await;
}

#[tokio::test]
async fn a_task_is_submitted_and_asked_for_by_its_step() {
    let world = World::waiting().await;
    let id = submit(&world, "hello@prod", &task("Answer: 42", &json!(7))).await;
    assert_eq!(ask(&world, "hello@prod", &id).await["errcode"], 1);
    assert_eq!(submit(&world, "hello@prod", &task("Answer: 42", &json!(7))).await, id);
    let next = submit(&world, "hello@prod", &task("Answer: 41", &json!("8"))).await;
    world.work().await;
    let got = until_good(
        "the result",
        async || ask(&world, "hello@prod", &id).await,
        |told| told["errcode"] == 0,
    )
    .await;
    assert_eq!(got["reward_score"], 1.0);
    assert_eq!(got["dimention_reward_score"], json!({ "exact": { "score": 1.0 } }));
    let start = got["start_time"].as_str().expect("a time");
    assert!(start.ends_with("+00:00") && start <= got["end_time"].as_str().expect("a time"));
    let other = until_good(
        "the result",
        async || ask(&world, "hello@prod", &next).await,
        |told| told["errcode"] == 0,
    )
    .await;
    assert_eq!(other["reward_score"], 0.0);
    let batches = world.batches("project/first").await;
    let steps: Vec<_> = batches.iter().map(|it| (it.iteration, it.counts.submitted)).collect();
    assert_eq!(steps, [(7, 1), (8, 1)]);
}

#[tokio::test]
async fn a_failure_has_a_code_and_no_score() {
    let world = World::start().await;
    for lie in ["unavailable", "bad_request", "panic"] {
        let id = submit(&world, "liar@prod", &task(lie, &json!(1))).await;
        let told = until_good(
            "the end",
            async || ask(&world, "liar@prod", &id).await,
            |told| told["errcode"] != 1,
        )
        .await;
        assert_eq!(told["errcode"], 2);
        assert!(told["errmsg"].as_str().is_some_and(|why| !why.is_empty()), "{told}");
    }
    let path = "/compat/roll/hello@prod/any/task_result";
    let unknown = world.http.post(path, &json!({ "reward_request_id": "x" })).await;
    let _ = unknown.problem(404, "not_found");
    let missing = world.missing_rewards(4).await;
    assert!(missing.iter().any(|it| it.run.as_deref() == Some("project/first")), "{missing:?}");
    // ROLL says which step it is.
    let steps = missing.iter().filter(|it| it.run.as_deref() == Some("project/first"));
    for missing in steps {
        assert!(missing.batch.is_some() && missing.detail.contains("iteration"), "{missing:?}");
    }
}
