//! NeMo-Gym's resources server.

use serde_json::{Value, json};

use super::{World, check_no_number};

fn row(text: &str, label: &str) -> Value {
    json!({
        "responses_create_params": { "input": [{ "role": "user", "content": "6 * 7?" }] },
        "response": {
            "id": "r", "created_at": 1, "model": "m", "object": "response",
            "output": [{ "id": "m", "type": "message", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }] }],
            "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        },
        "expected_answer": label, "level": 12345678901234567890_u64,
    })
}

fn with(mut row: Value, fields: &Value) -> Value {
    for (name, value) in fields.as_object().expect("fields") {
        row[name] = value.clone();
    }
    row
}

#[tokio::test]
async fn a_row_is_echoed_with_its_reward() {
    let world = World::start().await;
    for run in ["gym", "gym:7700", "gym;timeout=30:7700", "gym/ng-rollout/3-1"] {
        let base = format!("nemo-gym/hello@prod/{run}");
        let seeded = world.post(&format!("{base}/seed_session"), &row("", "42")).await;
        assert_eq!(seeded.json::<Value>(200), json!({}));
        let asked = row("Answer: 42", "42");
        let verified = world.post(&format!("{base}/verify"), &asked).await.json::<Value>(200);
        let told = json!({ "reward": 1.0, "exact": 1.0, "assay_components": ["exact"] });
        assert_eq!(verified, with(asked, &told));
        assert_eq!(world.get(&base).await.json::<Value>(200), json!({ "status": "ok" }));
        let mode = world.get(&format!("{base}/reverify_mode")).await.json::<Value>(200);
        assert_eq!(mode, json!("stateless"));
    }
    assert_eq!(world.get("nemo-gym/hello@prod/gym/").await.text(), r#"{"status":"ok"}"#);
    let base = "nemo-gym/hello@prod/gym";
    let named = world.post(&format!("{base}/verify?label=level"), &row("Answer: 42", "")).await;
    let _ = named.problem(422, "invalid_label");
    let aggregated = json!({ "verify_responses": [
        { "_ng_task_index": 0, "reward": 1.0 }, { "_ng_task_index": 0, "reward": 0.0 },
    ] });
    let metrics = world.post(&format!("{base}/aggregate_metrics"), &aggregated).await;
    assert_eq!(metrics.json::<Value>(200)["key_metrics"], json!({ "mean/reward": 0.5 }));
    let _ =
        world.post(&format!("{base}/verify"), &json!({ "a": 1 })).await.problem(400, "bad_request");
    let _ = world.get(&format!("{base}/mcp")).await.problem(404, "not_found");
}

#[tokio::test]
async fn what_is_no_reward_is_a_mask() {
    let world = World::start().await;
    let path = "nemo-gym/liar@prod/masked/verify";
    for (lie, word) in [("unavailable", "GPU"), ("bad_request", "no label"), ("panic", "")] {
        let asked = row(lie, "42");
        let answer = world.post(path, &asked).await;
        let masked = answer.json::<Value>(200);
        check_no_number(&answer);
        assert!(
            masked["failure_reason"].as_str().is_some_and(|why| why.contains(word)),
            "{masked}"
        );
        let fields = json!({
            "mask_sample": true, "failure_reason": masked["failure_reason"],
            "instance_config": { "mask_sample": true },
        });
        assert_eq!(masked, with(asked, &fields));
    }
    let asked = with(row("unavailable", "42"), &json!({ "instance_config": { "a": 1 } }));
    let told = world.post(&format!("{path}?masked_reward=0"), &asked).await.json::<Value>(200);
    assert_eq!((&told["reward"], &told["mask_sample"]), (&json!(0.0), &json!(true)));
    assert_eq!(told["instance_config"], json!({ "a": 1, "mask_sample": true }));
    // Only a number is an incident: a mask alone keeps the sample out of training.
    let missing = world.missing_rewards(1).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 1, "{missing:?}");
    assert!(missing[0].detail.contains("`masked_reward`"), "{missing:?}");
    // A wrong address is not the sample's fault.
    let wrong = world.post("nemo-gym/nobody@prod/unknown/verify", &asked).await;
    let _ = wrong.problem(404, "not_found");
}

#[tokio::test]
async fn a_deadline_is_a_mask_and_the_repeat_gets_the_reward() {
    let world = World::waiting().await;
    let path = "nemo-gym/hello@prod/deadline/verify?timeout=0.3";
    let asked = row("Answer: 42", "42");
    let answer = world.post(path, &asked).await;
    assert_eq!(answer.json::<Value>(200)["mask_sample"], true);
    check_no_number(&answer);
    world.work().await;
    let reward = assay_tests::until("the reward", async || {
        let answer = world.post(path, &asked).await.json::<Value>(200);
        answer.get("reward").cloned()
    })
    .await;
    assert_eq!(reward, json!(1.0));
    assert_eq!(world.batch("deadline").await.counts.submitted, 1);
}
