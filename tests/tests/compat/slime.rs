//! slime's `remote_rm`.

use serde_json::{Value, json};

use super::World;

#[tokio::test]
async fn a_sample_is_answered_by_a_number_or_by_an_object() {
    let world = World::start().await;
    let path = "slime/hello@prod/slime";
    let text = json!({ "prompt": "6 * 7?", "response": "Answer: 42", "label": "42" });
    let answer = world.post(path, &text).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    assert_eq!((answer.status, answer.text().as_str()), (200, "1.0"));
    let messages = json!({
        "prompt": [{ "role": "user", "content": "6 * 7?" }], "response": "Answer: 41", "label": "42",
    });
    assert_eq!(world.post(path, &messages).await.text(), "0.0");
    let keyed = world.post(&format!("{path}?reward_key=score"), &text).await.json::<Value>(200);
    assert_eq!(keyed, json!({ "score": 1.0, "exact": 1.0 }));
    let named = world.post(&format!("{path}?reward_key=score&extra=ok"), &text).await;
    assert_eq!(named.json::<Value>(200), json!({ "score": 1.0, "ok": 0.0 }));
    // The prompts are equal however they are written.
    let batch = world.batch("slime").await;
    assert_eq!(batch.counts.submitted, 2);
    let unlabelled = json!({ "prompt": "", "response": "Answer: 42", "label": null });
    let _ = world.post(path, &unlabelled).await.problem(422, "bad_request");
}
