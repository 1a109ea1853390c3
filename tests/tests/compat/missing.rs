//! Which calls count as answers without a reward.

use assay_tests::until;
use reqwest::Method;
use serde_json::{Value, json};

use super::World;

const PATH: &str = "open-instruct/liar@prod/missing/test_program";

fn call(program: &str) -> Value {
    json!({ "program": program, "tests": ["assert True"], "max_execution_time": 1.0 })
}

impl World {
    /// What `assay_rewards_missing_total` says of a protocol.
    pub(super) async fn counted(&self, protocol: &str) -> u64 {
        let metrics = self.http.get("/metrics").await.text();
        let name = format!("assay_rewards_missing_total{{protocol=\"{protocol}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        line.map_or(0, |count| count.parse().expect("a number"))
    }
}

#[tokio::test]
async fn paths_that_nobody_asks_for_rewards_do_not_count() {
    let world = World::start().await;
    let body = call("unavailable");
    for (method, path, status) in [
        (Method::POST, "open-instruct/liar@prod/missing/test_programs", 404),
        (Method::GET, PATH, 404),
        (Method::POST, "open-instruct/liar@prod/missing/health", 404),
        (Method::GET, "sandbox-fusion/liar@prod/missing/run_code", 405),
        (Method::POST, "sandbox-fusion/liar@prod/missing/run_jupyter", 404),
        (Method::POST, "roll/liar@prod/missing/tasks", 404),
        (Method::POST, "trl/liar@prod/missing", 404),
    ] {
        let request = world.http.request(method, &format!("/compat/{path}")).json(&body);
        let answer = world.http.send(request).await;
        assert_eq!(answer.status, status, "{}", answer.call);
    }
    // An answer that does count comes after them.
    assert_eq!(world.post(PATH, &body).await.status, 503);
    let missing = world.missing_rewards(1).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 1, "{missing:?}");
    for (protocol, count) in [("open-instruct", 1), ("sandbox-fusion", 0), ("roll", 0)] {
        assert_eq!(world.counted(protocol).await, count, "{protocol}");
    }
}

/// verl sends a call three times before it writes 0.
#[tokio::test]
async fn a_call_that_is_repeated_counts_once() {
    let world = World::start().await;
    let path = "sandbox-fusion/liar@prod/missing/run_code";
    for stdin in ["1", "1", "1", "2"] {
        let call = json!({ "code": "unavailable", "language": "python", "stdin": stdin });
        assert_eq!(world.post(path, &call).await.status, 504);
    }
    let missing = world.missing_rewards(2).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 2, "{missing:?}");
    assert_eq!(world.counted("sandbox-fusion").await, 2);
    // open-instruct repeats nothing: each answer is a sample.
    for _ in 0..2 {
        assert_eq!(world.post(PATH, &call("unavailable")).await.status, 503);
    }
    assert_eq!(world.counted("open-instruct").await, 2);
}

#[tokio::test]
async fn a_refused_key_counts() {
    let world = World::start().await;
    let path = format!("/compat/{PATH}");
    // Strangers without any key count nothing.
    let nobody = world.http.without_key();
    let _ = nobody.post(&path, &call("two_stages")).await.problem(401, "unauthenticated");
    assert_eq!(world.counted("open-instruct").await, 0);
    let stranger =
        world.http.with_key(&format!("{}zz", &world.host.key[..world.host.key.len() - 2]));
    let _ = stranger.post(&path, &call("two_stages")).await.problem(401, "unauthenticated");
    // Probes are refused too, and ask for nothing.
    assert_eq!(nobody.get("/compat/open-instruct/liar@prod/missing/health").await.status, 401);
    let missing = world.missing_rewards(1).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 1, "{missing:?}");
    assert!(missing.iter().all(|it| it.detail.contains("401, unauthenticated")), "{missing:?}");
    // The run is what a stranger says.
    assert!(missing.iter().all(|it| it.run.is_none()), "{missing:?}");
    assert_eq!(world.counted("open-instruct").await, 1);

    let key = json!({ "name": "reader", "scopes": ["batches:read"] });
    let key: Value = world.http.post("/v1/keys", &key).await.json(201);
    let reader = world.http.with_key(key["secret"].as_str().expect("a key"));
    let _ = reader.post(&path, &call("two_stages")).await.problem(403, "scope_missing");
    let missing = world.missing_rewards(2).await;
    assert!(missing.iter().any(|it| it.run.as_deref() == Some("missing")), "{missing:?}");
    let revoke = format!("/v1/keys/{}/revoke", key["id"].as_str().expect("an id"));
    assert_eq!(world.http.post(&revoke, &json!({})).await.status, 200);
    let _ = reader.post(&path, &call("two_stages")).await.problem(401, "unauthenticated");
    let missing = world.missing_rewards(3).await;
    assert_eq!(missing.iter().map(|it| it.count).sum::<u32>(), 3, "{missing:?}");
}

#[tokio::test]
async fn a_client_that_hangs_up_counts() {
    let world = World::waiting().await;
    let (url, key) = (format!("{}/compat/{PATH}", world.host.url), world.host.key.clone());
    let asking = tokio::spawn(async move {
        let call = call("two_stages");
        reqwest::Client::new().post(url).bearer_auth(key).json(&call).send().await
    });
    until("the request is admitted", async || {
        let batches = world.batches("missing").await;
        batches.first().is_some_and(|batch| batch.counts.submitted == 1).then_some(())
    })
    .await;
    assert_eq!(world.counted("open-instruct").await, 0);
    asking.abort();
    let missing = world.missing_rewards(1).await;
    assert!(missing[0].detail.contains("hung up"), "{missing:?}");
    assert_eq!(missing[0].run.as_deref(), Some("missing"));
    let batch = world.batch("missing").await;
    assert_eq!(missing[0].batch, Some(batch.id), "{missing:?}");
    let iteration = format!("in iteration {} ", batch.iteration);
    assert!(missing[0].detail.contains(&iteration), "{missing:?}");
    assert_eq!(world.counted("open-instruct").await, 1);
}
