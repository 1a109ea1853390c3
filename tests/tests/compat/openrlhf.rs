//! OpenRLHF's remote reward: lists in, lists out.

use serde_json::{Value, json};

use super::{World, check_later, check_no_number};

#[tokio::test]
async fn lists_are_answered_by_lists_of_the_same_length() {
    let world = World::start().await;
    let path = "openrlhf/hello@prod/lists";
    let one = json!({ "query": ["6 * 7?Answer: 42"], "prompts": ["6 * 7?"], "labels": ["42"] });
    let expected = json!({ "rewards": [1.0], "scores": [1.0], "extra_logs": { "exact": [1.0] } });
    assert_eq!(world.post(path, &one).await.json::<Value>(200), expected);
    // The one that ended early has no components.
    let many = json!({
        "query": ["q Answer: 1", "q Answer: 2", "q nothing"],
        "prompts": ["q ", "q ", "q "],
        "labels": ["1", "1", "1"],
    });
    let expected = json!({
        "rewards": [1.0, 0.0, 0.0], "scores": [1.0, 0.0, 0.0],
        "extra_logs": { "exact": [1.0, 0.0, 0.0] },
    });
    assert_eq!(world.post(path, &many).await.json::<Value>(200), expected);
    // The same keys whatever happened.
    let named = world.post(&format!("{path}?extra=exact,other"), &one).await.json::<Value>(200);
    assert_eq!(named["extra_logs"], json!({ "exact": [1.0], "other": [0.0] }));
    // Further endpoints get nothing to do.
    let none = json!({ "query": [], "prompts": [], "labels": [] });
    let expected = json!({ "rewards": [], "scores": [], "extra_logs": {} });
    assert_eq!(world.post(path, &none).await.json::<Value>(200), expected);

    let batch = world.batch("lists").await;
    assert_eq!((batch.counts.submitted, batch.counts.scored), (4, 4));
    let requests: Value =
        world.http.get(&format!("/v1/batches/{}/requests", batch.id)).await.json(200);
    let groups = requests["items"].as_array().expect("a list").iter();
    assert!(groups.clone().all(|item| item["group"].is_string()), "{requests}");
}

#[tokio::test]
async fn a_failure_of_one_is_a_failure_of_the_call() {
    let world = World::start().await;
    let path = "openrlhf/liar@prod/failing";
    let call = |responses: Value| json!({ "query": responses, "prompts": [], "labels": [] });
    let mixed = call(json!(["two_stages", "unavailable"]));
    check_later(&world.post(path, &mixed).await, 503, "unavailable");
    let bad = world.post(path, &call(json!(["bad_request"]))).await;
    let _ = bad.problem(422, "bad_request");
    check_no_number(&bad);
    let negative = world.post(path, &call(json!(["spin"]))).await.json::<Value>(200);
    assert_eq!(negative, json!({ "rewards": [-1.0], "scores": [0.0], "extra_logs": {} }));
    let uneven = json!({ "query": ["a", "b"], "prompts": ["a"], "labels": [] });
    let _ = world.post(path, &uneven).await.problem(400, "bad_request");
}
