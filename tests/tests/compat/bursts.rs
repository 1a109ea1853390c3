//! Batches made of what comes, whatever the protocol.

use assay_api::batch::BatchState;
use serde_json::{Value, json};

use super::{World, check_later};
use assay_tests::until;

fn rollout(number: u32) -> Value {
    json!({ "prompt": "n?", "response": format!("Answer: {number}"), "label": number.to_string() })
}

#[tokio::test]
async fn a_pause_ends_a_batch_and_the_next_call_begins_another() {
    let world = World::start().await;
    let path = "slime/hello@prod/paused?gap=0.3";
    let mut before = 0;
    for round in 1..=2 {
        for number in 0..3 {
            assert_eq!(world.post(path, &rollout(number)).await.json::<f64>(200), 1.0);
        }
        let batches = until("the batch is sealed by itself", async || {
            let batches = world.batches("paused").await;
            batches.iter().all(|batch| batch.state == BatchState::Done).then_some(batches)
        })
        .await;
        // On a slow machine three calls may be more than one burst.
        assert!(batches.len() > before, "{batches:?}");
        before = batches.len();
        for (batch, iteration) in batches.iter().zip(1..) {
            assert_eq!((batch.iteration, batch.mean_reward), (iteration, Some(1.0)));
            assert!(batch.sealed_at.is_some(), "{batch:?}");
        }
        let scored: u32 = batches.iter().map(|batch| batch.counts.scored).sum();
        assert_eq!(scored, 3 * round);
    }
    let runs: Value = world.http.get("/v1/runs").await.json(200);
    assert!(runs["items"].as_array().is_some_and(|runs| runs[0]["name"] == "paused"), "{runs}");
}

#[tokio::test]
async fn what_runs_keeps_a_batch_open_and_its_repeat_gets_the_result() {
    let world = World::waiting().await;
    let path = "slime/hello@prod/slow?gap=0.2&timeout=3";
    // Answered before the client gives up, twice: the second waits for the same request.
    for _ in 0..2 {
        check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    }
    let batch = world.batch("slow").await;
    assert_eq!((batch.state, batch.counts.submitted), (BatchState::Open, 1));
    world.work().await;
    assert_eq!(world.repeat(path, &rollout(7)).await.json::<f64>(200), 1.0);
    let batch = until("the batch ends", async || {
        let batch = world.batch("slow").await;
        (batch.state == BatchState::Done).then_some(batch)
    })
    .await;
    assert_eq!((batch.counts.submitted, batch.counts.scored), (1, 1));
}

#[tokio::test]
async fn a_repeat_that_comes_after_the_seal_gets_its_result() {
    let world = World::waiting().await;
    let path = "slime/hello@prod/late?gap=0.2&timeout=3";
    check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    world.work().await;
    until("the batch ends", async || {
        (world.batch("late").await.state == BatchState::Done).then_some(())
    })
    .await;
    assert_eq!(world.repeat(path, &rollout(7)).await.json::<f64>(200), 1.0);
    assert_eq!(world.batch("late").await.counts.submitted, 1);
    // Once it was answered, the same sample is one of the next iteration.
    assert_eq!(world.repeat(path, &rollout(7)).await.json::<f64>(200), 1.0);
    assert_eq!(world.batches("late").await.len(), 2);
}

#[tokio::test]
async fn a_restarted_server_goes_on_with_what_was_open() {
    let mut world = World::waiting().await;
    let path = "slime/hello@prod/restarted?timeout=3";
    check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    world.host.kill();
    world.host.restart();
    world.http = assay_tests::Http::new(&world.host);
    // Without another call it ends, too; a repeat that comes in time belongs to it.
    check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    world.work().await;
    assert_eq!(world.repeat(path, &rollout(7)).await.json::<f64>(200), 1.0);
    let batch = until("the batch ends", async || {
        let batch = world.batch("restarted").await;
        (batch.state == BatchState::Done).then_some(batch)
    })
    .await;
    assert_eq!((batch.iteration, batch.counts.submitted, batch.counts.scored), (1, 1, 1));
}

#[tokio::test]
async fn a_restarted_server_knows_when_a_batch_is_idle() {
    let mut world = World::waiting().await;
    for run in ["patient?timeout=3&gap=3600", "hasty?timeout=3&gap=0.2"] {
        let path = format!("slime/hello@prod/{run}");
        check_later(&world.post(&path, &rollout(7)).await, 503, "not_finished");
    }
    world.host.kill();
    world.host.restart();
    world.http = assay_tests::Http::new(&world.host);
    world.work().await;
    until("a batch ends", async || {
        (world.batch("hasty").await.state == BatchState::Done).then_some(())
    })
    .await;
    // Its request ended before, or does soon.
    assert_eq!(world.batch("patient").await.state, BatchState::Open);
}

/// As after an upgrade of the engine, while the objects are out of reach.
#[tokio::test]
async fn a_batch_whose_plugin_comes_after_the_start_is_sealed_like_any_other() {
    let mut world = World::waiting().await;
    let path = "slime/hello@prod/late?timeout=3";
    check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    let data = world.host.data();
    let (objects, away) = (data.join("objects"), data.join("away"));
    let _ = world.host.psql().rows("delete from compilations");
    world.host.kill();
    std::fs::rename(&objects, &away).expect("it is ours");
    world.host.restart();
    world.http = assay_tests::Http::new(&world.host);
    let _ = std::fs::remove_dir_all(&objects);
    std::fs::rename(&away, &objects).expect("it is ours");
    world.work().await;
    let batch = until("the batch ends", async || {
        let batch = world.batch("late").await;
        (batch.state == BatchState::Done).then_some(batch)
    })
    .await;
    assert_eq!((batch.counts.submitted, batch.counts.scored), (1, 1));
}

#[tokio::test]
async fn a_failure_is_tried_anew_by_the_next_call() {
    let world = World::start().await;
    let lie = |response: &str| json!({ "prompt": "", "response": response });
    let path = "slime/liar@prod/failing";
    for _ in 0..2 {
        check_later(&world.post(path, &lie("unavailable")).await, 503, "unavailable");
    }
    assert_eq!(world.batch("failing").await.counts.error, 2);
    // A request that would end the same way again is not run again.
    for _ in 0..2 {
        let _ = world.post(path, &lie("bad_request")).await.problem(422, "bad_request");
        let _ = world.post(path, &lie("panic")).await.problem(500, "plugin_trap");
    }
    assert_eq!(world.batch("failing").await.counts.error, 4);
    // A stage that ran out of time has the reward that the plugin chose for that.
    assert_eq!(world.post(path, &lie("spin")).await.json::<f64>(200), -1.0);
}

#[tokio::test]
async fn whoever_ends_a_batch_by_hand_begins_the_next() {
    let world = World::waiting().await;
    let path = "slime/hello@prod/hand?timeout=3";
    check_later(&world.post(path, &rollout(1)).await, 503, "not_finished");
    let batch = world.batch("hand").await;
    let cancel = format!("/v1/batches/{}/cancel", batch.id);
    assert_eq!(world.http.post(&cancel, &json!({})).await.status, 200);
    check_later(&world.post(path, &rollout(2)).await, 503, "not_finished");
    let seal = format!("/v1/batches/{}/seal", world.batches("hand").await[1].id);
    assert_eq!(world.http.post(&seal, &json!({})).await.status, 200);
    check_later(&world.post(path, &rollout(3)).await, 503, "not_finished");
    let iterations = world.batches("hand").await.into_iter().map(|batch| batch.iteration);
    assert_eq!(iterations.collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn what_is_malformed_is_refused_by_name() {
    let world = World::waiting().await;
    for (path, status, code) in [
        ("slime/hello@prod/r?timeout=x", 400, "bad_request"),
        ("slime/hello@prod/r?gap=-1", 400, "bad_request"),
        ("slime/hello/r", 400, "bad_request"),
        ("slime/hello@prod/", 400, "bad_request"),
        ("slime/nobody@prod/r", 404, "not_found"),
        ("slime/hello@prod/r/else", 404, "not_found"),
        ("verl/hello@prod/r", 404, "not_found"),
    ] {
        let _ = world.post(path, &rollout(1)).await.problem(status, code);
    }
    let long = "x".repeat(assay_core::limits::ITEM_BYTES_MAX);
    let large = world.post("slime/hello@prod/r", &json!({ "response": long })).await;
    let _ = large.problem(413, "too_large");
    let text = json!({ "response": 7 });
    let _ = world.post("slime/hello@prod/r", &text).await.problem(400, "bad_request");
    let wrong = world.http.request(reqwest::Method::DELETE, "/compat/slime/hello@prod/r");
    let _ = world.http.send(wrong).await.problem(405, "method_not_allowed");
    assert!(world.batches("r").await.is_empty());
}

/// Its answer was lost with the server, its result was not.
#[tokio::test]
async fn a_restarted_server_knows_what_had_ended() {
    let mut world = World::waiting().await;
    let path = "slime/hello@prod/ended?timeout=3&gap=600";
    check_later(&world.post(path, &rollout(7)).await, 503, "not_finished");
    world.work().await;
    until("the request ends", async || {
        (world.batch("ended").await.counts.scored == 1).then_some(())
    })
    .await;
    world.host.kill();
    world.host.restart();
    world.http = assay_tests::Http::new(&world.host);
    assert_eq!(world.repeat(path, &rollout(7)).await.json::<f64>(200), 1.0);
}
