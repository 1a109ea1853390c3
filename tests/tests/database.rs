//! A database of the operator's own: it works, it is kept, it refuses what must never be stored,
//! and when it is not there the server says so.

use std::process::Command;
use std::time::Duration;

use assay_core::outcome::Outcome;
use assay_postgres::{Cluster, Options};
use assay_tests::{Answers, Host, HostOptions, Psql, Spawned, item, program};
use tempfile::TempDir;

async fn cluster() -> (TempDir, Cluster) {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("database");
    let cluster = Cluster::start(Options { data }).await.expect("PostgreSQL starts");
    (folder, cluster)
}

#[tokio::test]
async fn a_database_of_ones_own() {
    let (_folder, cluster) = cluster().await;
    let database = Psql::of_cluster(&cluster);
    let options =
        HostOptions { database_url: Some(cluster.url().to_owned()), ..HostOptions::default() };
    let mut host = Host::start(options);
    assert!(!host.data().join("postgres").exists(), "a private PostgreSQL was made");
    let plugin = host.publish("liar").await;
    let items: Vec<_> = ["count", "spin", "panic", "two_stages"]
        .map(|response| item(response, response, "null"))
        .into();
    let mut answers = Answers::submit(&host.client(), &plugin, &items).await;
    let by_key = answers.finish(&host.client(), &items).await;
    let rewards = ["count", "spin", "panic", "two_stages"].map(|key| by_key[key].outcome.reward());
    assert_eq!(rewards, [Some(1.0), Some(-1.0), None, Some(0.75)]);
    answers.check_stored(&database);

    // Started again: nothing is migrated twice, the key holds, the results are the same.
    let migrations = "select version, checksum, installed_on from _sqlx_migrations order by 1";
    let (key, before) = (host.key.clone(), database.rows(migrations));
    assert!(!before.is_empty());
    assert!(host.stop());
    host.restart();
    assert_eq!((&host.key, database.rows(migrations)), (&key, before));
    let again =
        Answers { batch: answers.batch, seen: Vec::new() }.finish(&host.client(), &items).await;
    assert!(matches!(again["panic"].outcome, Outcome::Error { .. }));
    assert!(items.iter().all(|item| again[&item.key].outcome == by_key[&item.key].outcome));

    refuses_what_is_wrong(&database, &answers);
    assert!(host.stop());
    cluster.stop().await;
}

fn refuses_what_is_wrong(database: &Psql, answers: &Answers) {
    let batch = answers.batch;
    let copy = |seq: &str, position: &str, kind: &str, reward: &str| {
        format!(
            "insert into outcome_rows select tenant_id, batch_id, {seq}, {position}, {kind}, {reward}, \
             verdict, earliest_end_at, finished_at, result from outcome_rows \
             where batch_id = '{batch}' and position = 1"
        )
    };
    let segment = |seqs: &str, kinds: &str, rewards: &str| {
        format!(
            "insert into outcome_segments select tenant_id, batch_id, 0, 100, 101, 100, 101, 4, \
             '{seqs}', '{seqs}', '{kinds}', '{rewards}', '{{x,y}}', '{{now,now}}', '{{now,now}}', \
             '{{1,2}}' from outcome_rows where batch_id = '{batch}' and position = 1"
        )
    };
    let update = |what: &str| format!("update outcome_rows set {what} where batch_id = '{batch}'");
    let state = |what: &str| format!("update batches set {what} where id = '{batch}'");
    for (statement, constraint) in [
        (copy("100", "100", "'error'", "0.0"), "outcomes_reward"),
        (copy("100", "100", "'scored'", "null"), "outcomes_reward"),
        (copy("100", "100", "'timed_out'", "null"), "outcomes_reward"),
        (copy("100", "100", "'wonderful'", "1.0"), "outcomes_kind"),
        (copy("seq", "100", "kind", "reward"), "outcomes_pkey"),
        (update("reward = 0.0") + " and kind = 'error'", "outcomes_reward"),
        (update("kind = 'error'") + " and kind = 'scored'", "outcomes_reward"),
        (state("state = 'open'"), "batches_"),
        (state("ended_at = null"), "batches_ended"),
        (state("state = 'finished'"), "batches_"),
        (
            format!("insert into requests select * from requests where batch_id = '{batch}'"),
            "requests_pkey",
        ),
        (segment("{100,101}", "{error,scored}", "{0,1}"), "outcome_segments_rewards"),
        (segment("{100,101}", "{error,scored}", "{null,null}"), "outcome_segments_rewards"),
        (segment("{100,101}", "{error,wonderful}", "{null,1}"), "outcome_segments_kinds"),
        (segment("{100,101}", "{scored}", "{1,1}"), "outcome_segments_"),
        (segment("{100,102}", "{error,scored}", "{null,1}"), "outcome_segments_block"),
    ] {
        let refusal = database.refusal(&statement);
        assert!(refusal.contains(constraint), "{statement}: {refusal}");
    }
    answers.check_stored(database);
    // The same statement with a reward that fits is taken: it was the constraint that refused.
    let row = copy("100", "100", "'error'", "null");
    for good in [row, segment("{100,101}", "{error,scored}", "{null,1}")] {
        let taken = database.rows(&format!("begin; {good}; rollback"));
        assert!(taken.iter().any(|line| line == "INSERT 0 1"), "{taken:?}");
    }
}

#[tokio::test]
async fn a_database_that_is_not_there() {
    let (folder, cluster) = cluster().await;
    let elsewhere = cluster.url().replace("/assay?", "/elsewhere?");
    assert_ne!(elsewhere, cluster.url());
    for (url, said) in [
        ("nonsense", "names no PostgreSQL"),
        ("mysql://reader:hidden@localhost/rewards", "names no PostgreSQL"),
        ("postgres://reader:hidden@127.0.0.1:1/rewards", "127.0.0.1:1/rewards"),
        ("postgres://reader:hidden@localhost/rewards?host=/nowhere", "cannot be reached"),
        (elsewhere.as_str(), "database \"elsewhere\" does not exist"),
    ] {
        let mut command = Command::new(program("assay"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--database-url", url, "--data"]);
        let mut server = Spawned::start(command.arg(folder.path().join("data")));
        let ended = server.wait(Duration::from_secs(60));
        let printed = server.stderr();
        assert_eq!(ended.code(), Some(1), "{url}: {printed}");
        let last = printed.lines().last().unwrap_or_default();
        assert!(last.starts_with("assay: ") && last.contains(said), "{url}: {printed}");
        assert!(!printed.contains("hidden"), "the password is shown: {printed}");
        assert!(!printed.contains("panicked"), "{printed}");
    }
    cluster.stop().await;
}

/// As the next release may leave it.
#[tokio::test]
async fn a_database_that_a_newer_release_has_migrated() {
    let (_folder, cluster) = cluster().await;
    let database = Psql::of_cluster(&cluster);
    let options =
        HostOptions { database_url: Some(cluster.url().to_owned()), ..HostOptions::default() };
    let mut host = Host::start(options);
    let plugin = host.publish("liar").await;
    assert!(host.stop());
    let migrated = database.rows(
        "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
         values (9000, 'of the next release', true, '\\x00', 1) returning version",
    );
    assert_eq!(migrated[0], "9000");
    host.restart();
    let items = [item("count", "count", "null")];
    let mut answers = Answers::submit(&host.client(), &plugin, &items).await;
    let by_key = answers.finish(&host.client(), &items).await;
    assert_eq!(by_key["count"].outcome.reward(), Some(1.0));
    assert!(host.stop());

    assert_eq!(database.rows("update schema_floor set migration = 9000"), ["UPDATE 1"]);
    let mut command = Command::new(program("assay"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--database-url", cluster.url(), "--data"]);
    let mut server = Spawned::start(command.arg(host.data()));
    let ended = server.wait(Duration::from_secs(60));
    let printed = server.stderr();
    assert_eq!(ended.code(), Some(1), "{printed}");
    assert!(printed.contains("a newer release has migrated it"), "{printed}");
    assert!(printed.contains("it takes releases with migration 9000"), "{printed}");
    cluster.stop().await;
}
