//! Batches that differ from those before them: a real server, and a plugin that is right or wrong as it is told.

use assay_api::batch::{AnnounceBatch, BatchState};
use assay_api::operations::{Incident, IncidentKind, IncidentPage};
use assay_client::Client;
use assay_tests::{Host, HostOptions, Http, item, until};

/// A batch of a run, all of whose answers are right or wrong.
async fn score(client: &Client, plugin: &str, run: &str, (iteration, answer): (u64, &str)) {
    let call = AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration,
        expected_size: Some(20),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    let batch = client.announce(&call).await.expect("announces");
    let items: Vec<_> = (0..20).map(|at| item(format!("{at}"), answer, "\"42\"")).collect();
    assert_eq!(client.submit(batch.id, &items).await.expect("submits").accepted, 20);
    until("the batch ends", async || {
        let batch = client.batch(batch.id).await.expect("is there");
        (batch.state == BatchState::Done).then_some(())
    })
    .await;
}

async fn incidents(http: &Http, run: &str) -> Vec<Incident> {
    let path = format!("/v1/incidents?run={run}");
    http.get(&path).await.json::<IncidentPage>(200).items
}

#[tokio::test]
async fn a_grader_that_breaks_is_an_incident_of_its_run() {
    let host = Host::start(HostOptions::default());
    let (http, client) = (Http::new(&host), host.client());
    let plugin = host.publish("assay_plugin_hello").await;
    for iteration in 0..10 {
        score(&client, &plugin, "calm", (iteration, "Answer: 42")).await;
        score(&client, &plugin, "breaks", (iteration, "Answer: 42")).await;
    }
    let mut iteration = 10;
    let told = until("both differences are told", async || {
        score(&client, &plugin, "breaks", (iteration, "Answer: 41")).await;
        iteration += 1;
        let told = incidents(&http, "breaks").await;
        (told.len() >= 2).then_some(told)
    })
    .await;
    let of_kind = |kind| told.iter().find(|it| it.kind == kind).expect("is told");
    let dropped = of_kind(IncidentKind::RewardDropped);
    assert!(dropped.detail.contains("the mean reward is 0.000"), "{dropped:?}");
    assert!(dropped.detail.starts_with("in iteration 1") && dropped.batch.is_some(), "{dropped:?}");
    let changed = of_kind(IncidentKind::VerdictsChanged);
    assert!(changed.detail.contains("100 % instead of 0 %"), "{changed:?}");
    assert_eq!(incidents(&http, "calm").await, []);
}
