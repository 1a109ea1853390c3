//! ROLL's remote reward system: submit, then ask.

use assay_api::operations::IncidentPage;
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

/// Asks until the sample has ended.
async fn end(world: &World, plugin: &str, id: &Value) -> Value {
    let ask = async || ask(world, plugin, id).await;
    until_good("the end", ask, |told| told["errcode"] != 1).await
}

/// ROLL asks every two seconds until its time is over, and submits a sample again that failed.
#[tokio::test]
async fn a_sample_counts_once_however_often_it_is_asked_for() {
    let world = World::start().await;
    for _ in 0..2 {
        let id = submit(&world, "liar@prod", &task("panic", &json!(1))).await;
        end(&world, "liar@prod", &id).await;
        for _ in 0..5 {
            assert_eq!(ask(&world, "liar@prod", &id).await["errcode"], 2);
        }
    }
    let other = submit(&world, "liar@prod", &task("bad_request", &json!(1))).await;
    assert_eq!(end(&world, "liar@prod", &other).await["errcode"], 2);
    let missing = world.missing_rewards(2).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 2, "{missing:?}");
    assert_eq!(world.counted("roll").await, 2);
}

/// ROLL submits a failed sample again, five times in all, and writes 0 then.
#[tokio::test]
async fn a_failure_that_may_pass_is_tried_anew_when_the_sample_is_submitted_again() {
    let world = World::start().await;
    let fails = async |lie: &str| {
        let id = submit(&world, "liar@prod", &task(lie, &json!(1))).await;
        assert_eq!(end(&world, "liar@prod", &id).await["errcode"], 2);
        id
    };
    let first = fails("unavailable").await;
    assert_ne!(fails("unavailable").await, first);
    let broken = fails("panic").await;
    assert_eq!(fails("panic").await, broken, "it would fail alike");
}

#[tokio::test]
async fn a_result_after_rolls_time_is_a_missing_reward() {
    let world = World::waiting().await;
    let mut hurried = task("Answer: 42", &json!(7));
    hurried["timeout"] = json!(0.2);
    let id = submit(&world, "hello@prod", &hurried).await;
    let missing = world.missing_rewards(1).await;
    assert!(missing[0].detail.contains("no result within 0.2 s"), "{missing:?}");
    assert_eq!(missing[0].run.as_deref(), Some("project/first"));
    let batch = world.batch("project/first").await;
    assert_eq!((missing[0].batch, batch.iteration), (Some(batch.id), 7));
    world.work().await;
    assert_eq!(end(&world, "hello@prod", &id).await["reward_score"], 1.0);
    assert_eq!(world.counted("roll").await, 1);
}

#[tokio::test]
async fn the_incidents_of_a_run_are_its_tainted_steps() {
    let world = World::start().await;
    for (experiment, step, response, errcode) in [
        ("first", 1, "panic", 2),
        ("first", 2, "two_stages", 0),
        ("first", 3, "bad_request", 2),
        ("second", 2, "panic", 2),
    ] {
        let mut task = task(response, &json!(step));
        task["experiment_id"] = json!(experiment);
        let id = submit(&world, "liar@prod", &task).await;
        let told = end(&world, "liar@prod", &id).await;
        assert_eq!(told["errcode"], errcode, "{experiment} {step}: {told}");
    }
    world.missing_rewards(3).await;
    let path = "/v1/incidents?kind=reward_missing&run=project%2Ffirst";
    let page: IncidentPage = world.http.get(path).await.json(200);
    assert!(page.items.iter().all(|it| it.run.as_deref() == Some("project/first")), "{page:?}");
    let mut tainted: Vec<_> = page.items.iter().filter_map(|it| it.batch).collect();
    tainted.sort();
    let batches = world.batches("project/first").await;
    let of_step = |step: u64| batches.iter().find(|it| it.iteration == step).map(|it| it.id);
    let mut expected = vec![of_step(1).expect("step 1"), of_step(3).expect("step 3")];
    expected.sort();
    assert_eq!(tainted, expected, "{page:?}");
    let none: IncidentPage = world.http.get("/v1/incidents?run=project%2Fthird").await.json(200);
    assert!(none.items.is_empty(), "{none:?}");
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
