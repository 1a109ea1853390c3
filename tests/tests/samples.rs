//! The samples of a run as a file: every request once, with its texts and outcome, as JSON Lines, CSV and
//! Parquet.

use std::collections::HashMap;

use assay_api::batch::AnnounceBatch;
use assay_api::key::Key;
use assay_api::sample::Sample;
use assay_core::id::BatchId;
use assay_core::limits;
use assay_tests::{Answers, Host, HostOptions, Http, assay, item};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::json;

fn call(plugin: &str, iteration: u64, size: usize) -> AnnounceBatch {
    AnnounceBatch {
        plugin: plugin.into(),
        run: "explored/run".into(),
        iteration,
        expected_size: Some(u32::try_from(size).expect("a small number")),
        group_size: None,
        max_extra_delay_ms: None,
        share_equal: None,
        consumes: None,
        join: None,
        settings: None,
    }
}

/// A batch of the run whose requests have ended; a label `"oops"` is an error.
async fn batch(host: &Host, plugin: &str, iteration: u64, labels: &[&str]) -> BatchId {
    let client = host.client();
    let call = call(plugin, iteration, labels.len());
    let batch = client.announce(&call).await.expect("announces").id;
    let items: Vec<_> = labels
        .iter()
        .enumerate()
        .map(|(at, label)| {
            let mut item = item(format!("key-{at:04}"), "20", label);
            item.prompt = format!("=SUM({at}), \"quoted\"\nand \u{1f44d}");
            item
        })
        .collect();
    client.submit(batch, &items).await.expect("submits");
    Answers { batch, seen: Vec::new() }.finish(&client, &items).await;
    batch
}

fn parsed(text: &str) -> Vec<Sample> {
    text.lines().map(|line| serde_json::from_str(line).expect("a sample")).collect()
}

#[tokio::test]
async fn a_run_is_exported_whole_and_a_failure_has_no_reward() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let plugin = host.publish("worker_load").await;
    // More than are read at once.
    let many = limits::SAMPLES_READ as usize + 7;
    let first = batch(&host, &plugin, 1, &vec!["4"; many]).await;
    let second = batch(&host, &plugin, 2, &["4", "\"oops\"", "8"]).await;

    let path = "/v1/runs/explored%2Frun/samples";
    let answer = http.get(path).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.headers["content-type"], "application/x-ndjson");
    let disposition = answer.headers["content-disposition"].to_str().expect("text");
    assert_eq!(disposition, "attachment; filename=\"explored_run-samples.jsonl\"");
    let samples = parsed(&answer.text());
    let keys: Vec<_> = samples.iter().map(|sample| (sample.batch, sample.id.seq)).collect();
    let expected: Vec<_> = (0..limits::SAMPLES_READ + 7)
        .map(|seq| (first, seq))
        .chain((0..3).map(|seq| (second, seq)))
        .collect();
    assert_eq!(keys, expected);
    let [.., failed, last] = &samples[..] else { panic!("{} samples", samples.len()) };
    assert_eq!((failed.kind.as_deref(), failed.reward), (Some("error"), None));
    assert!(failed.message.is_some() && failed.iteration == 2);
    assert_eq!(last.label.as_ref().map(|label| label.get()), Some("8"));
    assert!(last.reward.is_some() && last.finished_at.is_some());
    assert_eq!(last.prompt.as_deref(), Some("=SUM(2), \"quoted\"\nand \u{1f44d}"));

    let one = http.get(&format!("{path}?batch={second}&texts=false")).await;
    let one = parsed(&one.text());
    assert_eq!(one.len(), 3);
    assert!(one.iter().all(|sample| sample.prompt.is_none() && sample.label.is_none()));

    let csv = http.get(&format!("{path}?format=csv&batch={second}")).await;
    let text = csv.text();
    assert!(text.starts_with("id,batch,iteration,key,group,kind,verdict,reward,"), "{text}");
    assert!(text.contains(",\"'=SUM(2), \"\"quoted\"\"\nand \u{1f44d}\","), "{text}");
    let ended = assay(Some(&host), &["samples", "explored/run", "--csv", "--no-texts"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (Some(0), 1 + many + 3));

    let columns = http.get(&format!("{path}?format=parquet")).await;
    assert_eq!(columns.headers["content-type"], "application/vnd.apache.parquet");
    let file = SerializedFileReader::new(columns.body).expect("a whole file");
    let rows: Vec<Row> =
        file.get_row_iter(None).expect("rows").collect::<Result<_, _>>().expect("rows");
    for (row, sample) in rows.iter().zip(&samples) {
        let fields: HashMap<_, _> =
            row.get_column_iter().map(|(name, field)| (&**name, field)).collect();
        let text = |text: &Option<String>| text.clone().map_or(Field::Null, Field::Str);
        assert_eq!(fields["id"], &Field::Str(sample.id.to_string()));
        assert_eq!(fields["reward"], &sample.reward.map_or(Field::Null, Field::Double));
        assert_eq!(
            (fields["prompt"], fields["verdict"]),
            (&text(&sample.prompt), &text(&sample.verdict))
        );
    }
    assert_eq!(rows.len(), samples.len());

    // A label may be written on several lines, and is one line of the export.
    let listed = AnnounceBatch { run: "listed".into(), ..call(&plugin, 1, 1) };
    let listed = host.client().announce(&listed).await.expect("announces").id;
    let items = "[{\"key\": \"a\", \"response\": \"20\", \"label\": [\n1,\r\n2]}]";
    let path_of_batch = format!("/v1/batches/{listed}/requests");
    assert_eq!(http.post_bytes(&path_of_batch, "application/json", items).await.status, 200);
    let exported = http.get("/v1/runs/listed/samples").await.text();
    let [sample] = &parsed(&exported)[..] else { panic!("{exported}") };
    assert_eq!(sample.label.as_ref().map(|label| label.get()), Some("[ 1,  2]"));

    // Nothing of another run, and nothing for another tenant.
    let other = AnnounceBatch { run: "another".into(), ..call(&plugin, 1, 1) };
    let other = host.client().announce(&other).await.expect("announces").id;
    let _ = http.get(&format!("{path}?batch={other}")).await.problem(404, "not_found");
    let _ = http.get("/v1/runs/nobodys/samples").await.problem(404, "not_found");
    let _ = http.get(&format!("{path}?format=xml")).await.problem(400, "bad_request");
    let _ = http.post("/v1/tenants", &json!({ "name": "other" })).await;
    let call = json!({ "tenant": "other", "scopes": ["batches:read"] });
    let key: Key = http.post("/v1/keys", &call).await.json(201);
    let other = http.with_key(key.secret.as_deref().expect("shown when it is made"));
    let _ = other.get(path).await.problem(404, "not_found");
}
