//! `assay-seed` leaves a database that a server can serve, and each batch's stored summary agrees with its
//! results.

use std::process::Command;

use assay_api::batch::BatchState;
use assay_client::Client;
use assay_core::outcome::Outcome;
use assay_postgres::{Cluster, Options};
use assay_tests::{Host, HostOptions, Psql, program};
use serde_json::Value;

fn seed(url: &str) -> Value {
    let mut command = Command::new(program("assay-seed"));
    command.args(["--database-url", url, "--batches", "6", "--size", "64"]);
    let output = command.args(["--tenant", "one", "--tenant", "two"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("it prints JSON")
}

#[tokio::test]
async fn a_seeded_database_is_like_one_that_was_lived_in() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("database");
    let cluster = Cluster::start(Options { data }).await.expect("PostgreSQL starts");
    let seeded = seed(cluster.url());
    assert_eq!((&seeded["batches"], &seeded["requests"]), (&6.into(), &384.into()));
    let workers = vec!["cpu=0".into()];
    let database_url = Some(cluster.url().to_owned());
    let mut host = Host::start(HostOptions { workers, database_url, ..HostOptions::default() });
    assert!(!host.log().contains("history is left out"), "{}", host.log());

    for (tenant, wanted) in seeded["tenants"].as_array().expect("two").iter().zip([3, 3]) {
        let key = tenant["key"].as_str().expect("a key");
        let client = Client::new(&host.url, key).expect("the server's address");
        let list = client.batches(&[("state", "done")]).await.expect("answers");
        assert_eq!(list.items.len(), wanted);
        let announced = list.items.iter().map(|item| item.batch.announced_at);
        assert!(announced.is_sorted_by(|newer, older| newer > older));
        for item in &list.items {
            assert_eq!(item.batch.state, BatchState::Done);
            check(&client, item.batch.id).await;
        }
        let runs = client.runs(&[]).await.expect("answers");
        assert_eq!(runs.items.len(), 1);
        let view = client.run(&runs.items[0].name, 10).await.expect("answers");
        assert_eq!((view.run.batches as usize, view.curves.len()), (wanted, wanted));
    }
    // The usage counts the requests that are there.
    let database = Psql::of_cluster(&cluster);
    let sums = "select sum(requests) from usage where pool = 'cpu'";
    assert_eq!(database.rows(sums), ["384"]);
    assert!(host.stop());
    cluster.stop().await;
}

async fn check(client: &Client, batch: assay_core::id::BatchId) {
    let page = client.results_page(batch, 0, 1_000).await.expect("answers");
    let timeline = client.timeline(batch).await.expect("answers");
    let rollup = timeline.rollup.expect("it has ended");
    assert_eq!((page.items.len(), timeline.total, page.done), (64, 64, true));
    assert_eq!(rollup.last_seq, page.items.last().map(|item| item.id.seq));
    let rewards: Vec<f64> = page.items.iter().filter_map(|item| item.outcome.reward()).collect();
    let mean = rewards.iter().sum::<f64>() / rewards.len() as f64;
    assert!((rollup.rewards.expect("most have one").mean - mean).abs() < 1e-9);
    assert_eq!(rollup.verdicts.values().sum::<u32>(), 64);
    assert_eq!(rollup.groups, 4);
    // T and the end are those of the drawn requests.
    let columns = &timeline.requests;
    let last = columns.finished_ms.iter().flatten().copied().fold(0.0, f64::max);
    assert_eq!(timeline.ended_ms, Some(last));
    assert!(timeline.earliest_end_ms.is_some_and(|earliest| earliest <= last));
    for item in page.items {
        if let Outcome::Error { .. } = item.outcome {
            let errors = client.requests(batch, &[("kind", "error")]).await.expect("answers");
            assert!(errors.items.iter().any(|request| request.id == item.id));
        }
    }
}
