//! LLaMA-Factory's reward server.

use serde_json::{Value, json};

use super::{World, check_later};

#[tokio::test]
async fn every_text_gets_a_score_even_one_that_comes_twice() {
    let world = World::start().await;
    let path = "llama-factory/liar@prod/ppo";
    let call = json!({ "model": "model", "messages": ["two_stages", "spin", "two_stages"] });
    let answer = world.post(path, &call).await.json::<Value>(200);
    assert_eq!(answer, json!({ "scores": [0.75, -1.0, 0.75] }));
    let none = json!({ "model": "model", "messages": [] });
    assert_eq!(world.post(path, &none).await.json::<Value>(200), json!({ "scores": [] }));
    assert_eq!(world.batch("ppo").await.counts.submitted, 3);
    let failing = json!({ "model": "model", "messages": ["two_stages", "unavailable"] });
    check_later(&world.post(path, &failing).await, 503, "unavailable");
}
