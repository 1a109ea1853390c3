//! The protocols of trainers, as their clients speak them: raw HTTP, the real server, real workers.

mod bursts;
mod documented;
mod keys;
mod llama_factory;
mod missing;
mod nemo_gym;
mod open_instruct;
mod openrlhf;
mod roll;
mod sandbox_fusion;
mod slime;

use assay_api::batch::Batch;
use assay_api::operations::{Incident, IncidentPage};
use assay_api::view::BatchList;
use assay_tests::{Answer, Host, HostOptions, Http, until};
use reqwest::Method;
use serde_json::{Value, json};

/// A server with the plugin `hello` and one that misbehaves.
struct World {
    host: Host,
    http: Http,
}

impl World {
    async fn start() -> Self {
        Self::with(HostOptions::default()).await
    }

    /// Nothing runs until [`World::work`].
    async fn waiting() -> Self {
        Self::with(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() }).await
    }

    async fn with(options: HostOptions) -> Self {
        let host = Host::start(options);
        let http = Http::new(&host);
        host.publish("assay_plugin_hello").await;
        host.publish("liar").await;
        Self { host, http }
    }

    async fn work(&self) {
        let bounds = json!({ "min": 1, "max": 2 });
        let set = self.http.request(Method::PUT, "/v1/capacity/cpu").json(&bounds);
        assert_eq!(self.http.send(set).await.status, 200);
    }

    async fn post(&self, path: &str, body: &Value) -> Answer {
        self.http.post(&format!("/compat/{path}"), body).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.http.get(&format!("/compat/{path}")).await
    }

    /// The batches of a run, the oldest first.
    async fn batches(&self, run: &str) -> Vec<Batch> {
        let run = run.replace('/', "%2F");
        let list: BatchList = self.http.get(&format!("/v1/batches?run={run}")).await.json(200);
        let mut batches = Vec::new();
        for item in list.items.iter().rev() {
            batches.push(self.http.get(&format!("/v1/batches/{}", item.batch.id)).await.json(200));
        }
        batches
    }

    /// The incidents of answers without a reward, once there are at least this many such answers.
    async fn missing_rewards(&self, answers: u32) -> Vec<Incident> {
        let path = "/v1/incidents?kind=reward_missing";
        let page: IncidentPage = until("the incidents are written", async || {
            let page: IncidentPage = self.http.get(path).await.json(200);
            (page.items.iter().map(|item| item.count).sum::<u32>() >= answers).then_some(page)
        })
        .await;
        page.items
    }

    /// The one batch of a run.
    async fn batch(&self, run: &str) -> Batch {
        let mut batches = self.batches(run).await;
        assert_eq!(batches.len(), 1, "{batches:?}");
        batches.remove(0)
    }

    /// Repeats a call until it is answered well, as trainers do.
    async fn repeat(&self, path: &str, body: &Value) -> Answer {
        until("the call is answered", async || {
            let answer = self.post(path, body).await;
            (answer.status == 200).then_some(answer)
        })
        .await
    }
}

/// An answer without a reward, to be repeated.
fn check_later(answer: &Answer, status: u16, code: &str) {
    let _ = answer.problem(status, code);
    assert!(answer.headers.contains_key("retry-after"), "{}", answer.call);
    check_no_number(answer);
}

/// No field of a failure may pass for a reward.
fn check_no_number(answer: &Answer) {
    let json: Value = serde_json::from_slice(&answer.body).expect("JSON");
    for name in ["reward", "rewards", "score", "scores", "reward_score", "results"] {
        assert!(json.get(name).is_none(), "{}: {}", answer.call, answer.text());
    }
    assert!(!json.is_number(), "{}", answer.text());
}
