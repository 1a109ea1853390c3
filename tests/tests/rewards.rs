//! One request whose outcome comes in the response, and all that is kept of it.

use assay_api::batch::Batch;
use assay_api::capacity::SetCapacity;
use assay_api::request::{LogLine, Request, Reward};
use assay_core::id::RequestId;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_tests::{Answer, Host, HostOptions, Http, until};
use reqwest::Method;
use serde_json::{Value, json};

async fn kept(http: &Http, id: RequestId) -> Request {
    http.get(&format!("/v1/requests/{id}")).await.json(200)
}

async fn logs(http: &Http, id: RequestId) -> Vec<LogLine> {
    http.get(&format!("/v1/requests/{id}/logs")).await.json(200)
}

async fn reward(http: &Http, call: Value) -> Reward {
    http.post("/v1/rewards", &call).await.json(200)
}

#[tokio::test]
async fn a_reward_comes_in_the_response_and_is_kept() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let hello = host.publish("assay_plugin_hello").await;
    let call = json!({
        "plugin": hello, "prompt": "6 * 7?", "response": "Answer:  42 \n", "label": "42",
        "metadata": { "step": 3 },
    });
    let reward = reward(&http, call).await;
    let Outcome::Scored(scored) = &reward.outcome else { panic!("{reward:?}") };
    assert_eq!((scored.reward, scored.verdict.as_str()), (1.0, "success"));
    assert_eq!(scored.components["exact"], 1.0);
    assert_eq!(scored.explanation, "the answer is `42`, the label `42`");
    let stages: Vec<_> = reward.stages.iter().map(|time| time.stage.as_str()).collect();
    assert_eq!(stages, ["extract", "score"]);

    let kept = kept(&http, reward.id).await;
    assert_eq!((kept.prompt.as_str(), kept.response.as_str()), ("6 * 7?", "Answer:  42 \n"));
    assert_eq!(kept.label.expect("kept").get(), r#""42""#);
    assert_eq!(kept.metadata.expect("kept").get(), r#"{"step":3}"#);
    assert_eq!(kept.result.expect("it ended").outcome, reward.outcome);
    let line = LogLine {
        stage: "score".into(),
        level: "info".into(),
        message: "comparing 2 bytes with 2".into(),
    };
    assert_eq!(logs(&http, reward.id).await, [line]);

    let artifact = async |stage: &str| -> Answer {
        http.get(&format!("/v1/requests/{}/artifacts/{stage}", reward.id)).await
    };
    let left = artifact("extract").await;
    assert_eq!((left.status, &left.body[..]), (200, &b"42"[..]));
    assert_eq!(left.headers["x-content-type-options"], "nosniff");
    assert_eq!(left.headers["content-disposition"], "attachment");
    // The last stage leaves nothing, and there is no third.
    let _ = artifact("score").await.problem(404, "not_found");
    let _ = artifact("polish").await.problem(404, "not_found");
}

#[tokio::test]
async fn whatever_a_plugin_does_is_no_more_than_an_outcome() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let liar = host.publish("liar").await;
    let ends =
        async |response: &str| reward(&http, json!({ "plugin": liar, "response": response })).await;
    for (response, code) in [
        ("panic", ErrorCode::PluginTrap),
        ("allocate", ErrorCode::OutOfMemory),
        ("recurse", ErrorCode::StackOverflow),
        ("nan", ErrorCode::BadOutcome),
        ("bad_request", ErrorCode::BadRequest),
        ("bad_settings", ErrorCode::BadSettings),
        ("internal", ErrorCode::PluginError),
    ] {
        let reward = ends(response).await;
        let Outcome::Error { code: told, .. } = &reward.outcome else { panic!("{reward:?}") };
        assert_eq!(*told, code, "{response}");
        let json = serde_json::to_string(&reward.outcome).expect("plain data");
        assert!(!json.contains(r#""reward":"#), "{json}");
    }
    let timed_out = ends("spin").await.outcome;
    assert_eq!(timed_out, Outcome::TimedOut { stage: "prepare".into(), reward: -1.0 });

    let flooded = logs(&http, ends("log_flood").await.id).await;
    assert_eq!(flooded.len(), 64);
    assert_eq!((flooded[0].stage.as_str(), flooded[0].level.as_str()), ("prepare", "info"));
    assert_eq!(flooded[63].message, "9937 more lines were dropped");
    let long = logs(&http, ends("log_long").await.id).await;
    assert!(long[0].message.len() <= 1_024, "{} bytes", long[0].message.len());
    assert_eq!(ends("two_stages").await.outcome.reward(), Some(0.75));
}

#[tokio::test]
async fn whoever_cannot_wait_asks_later() {
    // Nobody ends it before it was asked for.
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let liar = host.publish("liar").await;
    let call = json!({ "plugin": liar, "response": "spin" });
    let request = http.request(Method::POST, "/v1/rewards").header("prefer", "wait=0").json(&call);
    let problem = http.send(request).await.problem(504, "not_finished");
    let hint = problem.hint.expect("it says how to go on");
    let path = hint.split(' ').nth(1).expect("GET and a path").to_owned();
    let before: Request = http.get(&path).await.json(200);
    assert_eq!((before.response.as_str(), before.result.is_none()), ("spin", true));
    let bounds = SetCapacity { min: 0, max: 1 };
    host.client().set_capacity("cpu", &bounds).await.expect("sets");

    let after = until("the request has ended", async || {
        let request: Request = http.get(&path).await.json(200);
        request.result
    })
    .await;
    assert_eq!(after.outcome.verdict(), "timed_out");
    let batch: Batch = http.get(&format!("/v1/batches/{}", before.id.batch)).await.json(200);
    assert_eq!((batch.counts.timed_out, batch.mean_reward), (1, Some(-1.0)));

    let unknown = json!({ "plugin": "nobody@prod", "response": "" });
    let _ = http.post("/v1/rewards", &unknown).await.problem(404, "not_found");
    let misnamed = json!({ "plugin": "liar", "response": "" });
    let problem = http.post("/v1/rewards", &misnamed).await.problem(400, "bad_request");
    assert!(problem.detail.contains("name@channel"), "{problem:?}");
}
