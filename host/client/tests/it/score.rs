//! `assay score` against a server that fails on demand.

use std::collections::BTreeMap;
use std::fs;
use std::future::pending;
use std::path::PathBuf;
use std::time::Duration;

use crate::mock::Mock;
use assay_api::result::ResultItem;
use assay_client::score::{Options, Progress, ScoreError, Summary, Target, results_path, score};
use tempfile::TempDir;

struct Case {
    mock: Mock,
    folder: TempDir,
    options: Options,
}

impl Case {
    async fn new(lines: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("answers.jsonl");
        fs::write(&input, lines.join("\n")).unwrap();
        let mut options = Options::new(input, "math@prod".into());
        options.sizes.chunk_rows = 4;
        options.sizes.window_rows = 8;
        let mock = Mock::start().await;
        options.retry = mock.client().retry();
        Self { mock, folder, options }
    }

    async fn run(&self) -> Result<Summary, ScoreError> {
        let client = self.mock.client();
        let work = score(&client, &self.options, |_| {}, pending());
        tokio::time::timeout(Duration::from_secs(120), work).await.expect("it ends")
    }

    fn output(&self) -> PathBuf {
        results_path(&self.options.input)
    }

    fn results(&self) -> Vec<ResultItem> {
        let text = fs::read_to_string(self.output()).unwrap();
        assert!(text.ends_with('\n') || text.is_empty());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The rewards in the output by key; each key has one.
    fn rewards(&self) -> BTreeMap<String, f64> {
        let mut rewards = BTreeMap::new();
        for item in self.results() {
            if let Some(reward) = item.outcome.reward() {
                assert!(rewards.insert(item.key.clone(), reward).is_none(), "{} twice", item.key);
            }
        }
        rewards
    }
}

fn row(number: usize, response: &str, expected: f64) -> String {
    format!(
        r#"{{"key":"k{number}","group":"g{}","prompt":"p","response":"{response}","label":{{"a":1}},"expected":{expected},"extra":[]}}"#,
        number / 3
    )
}

fn rows(count: usize) -> Vec<String> {
    (0..count).map(|number| row(number, &number.to_string(), number as f64)).collect()
}

fn expected_rewards(count: usize) -> BTreeMap<String, f64> {
    (0..count).map(|number| (format!("k{number}"), number as f64)).collect()
}

#[tokio::test]
async fn a_file_is_cut_into_chunks_and_batches_with_its_groups_whole() {
    let mut case = Case::new(&rows(50)).await;
    case.options.sizes.batch_rows = 16;
    let mut last = Progress::default();
    let client = case.mock.client();
    let summary = score(&client, &case.options, |seen| last = *seen, pending()).await.unwrap();
    assert!(summary.ok(), "{}", summary.text());
    assert_eq!(case.rewards(), expected_rewards(50));
    assert_eq!((summary.rows, summary.requests, summary.scored), (50, 50, 50));
    assert_eq!((summary.agreement.compared, summary.agreement.agreed), (50, 50));
    assert_eq!(summary.mean_reward, Some(24.5));
    assert_eq!(summary.verdicts, BTreeMap::from([("success".to_owned(), 50)]));
    assert_eq!(summary.extra_delay_ms, Some(2.5));
    assert_eq!((last.finished, last.agreed, last.bytes_read), (50, 50, last.bytes_total));

    let inner = case.mock.lock();
    assert!(inner.submits.iter().all(|rows| *rows <= 4), "{:?}", inner.submits);
    assert_eq!(summary.batches.len(), inner.batches.len());
    let mut batch_of_group = BTreeMap::new();
    for (id, batch) in &inner.batches {
        assert!(batch.items.len() <= 16 && batch.sealed);
        assert_eq!(batch.items[0].label.as_ref().unwrap().get(), r#"{"a":1}"#);
        for item in &batch.items {
            let group = item.group.clone().unwrap();
            assert_eq!(batch_of_group.entry(group).or_insert(*id), id, "a group is in two batches");
        }
    }
    assert!(inner.batches.len() >= 4);
}

#[tokio::test]
async fn a_submit_whose_answer_is_lost_is_sent_again_and_counted_once() {
    let case = Case::new(&rows(20)).await;
    case.mock.change(|inner| {
        inner.faults.lost_replies = 3;
        inner.faults.unavailable = 3;
    });
    let summary = case.run().await.unwrap();
    assert!(summary.ok(), "{}", summary.text());
    assert_eq!(case.rewards(), expected_rewards(20));
    let inner = case.mock.lock();
    assert_eq!(inner.batches.len(), 1, "the announcement was repeated under one key");
    assert_eq!(inner.submits.len(), 5 + 3);
}

#[tokio::test]
async fn results_go_on_behind_the_last_one_when_their_connection_breaks() {
    for orderly_ends in [true, false] {
        let case = Case::new(&rows(30)).await;
        case.mock.change(|inner| {
            inner.faults.lines_per_connection = Some(7);
            inner.faults.orderly_ends = orderly_ends;
        });
        let summary = case.run().await.unwrap();
        assert!(summary.ok(), "{}", summary.text());
        assert_eq!(case.rewards(), expected_rewards(30));
        assert!(case.mock.lock().result_connections >= 5);
    }
}

#[tokio::test]
async fn malformed_lines_are_named_and_stop_nobody() {
    let long_key = format!(r#"{{"key":"{}","response":"1"}}"#, "x".repeat(300));
    let too_long = format!(r#"{{"key":"big","response":"{}"}}"#, "x".repeat(5 << 20));
    let lines = [
        row(1, "1", 1.0),
        "{\"key\": \"torn\", ".into(),
        String::new(),
        r#"{"key":"k4","prompt":"no response"}"#.into(),
        row(1, "1", 1.0),
        long_key,
        row(7, "refused", 0.0),
        too_long,
        r#"{"key":"k9","response":"1","expected":"one"}"#.into(),
        row(10, "10", 10.0),
    ];
    let case = Case::new(&lines).await;
    let summary = case.run().await.unwrap();
    assert!(!summary.ok());
    assert_eq!(case.rewards(), BTreeMap::from([("k1".into(), 1.0), ("k10".into(), 10.0)]));
    assert_eq!((summary.rows, summary.requests, summary.malformed_rows), (9, 2, 7));
    let told: Vec<_> = summary.malformed.iter().map(|bad| (bad.line, &*bad.problem)).collect();
    let wanted = [
        (2, "the line is not JSON: EOF while parsing"),
        (4, "missing field `response`"),
        (5, "the key `k1` occurs earlier in the file"),
        (6, "the field `key` has 300 bytes, the limit is 256"),
        (7, "the label does not fit the plugin (bad_label)"),
        (8, "the line has over 4194304 bytes"),
        (9, "invalid type: string \"one\""),
    ];
    assert_eq!(told.len(), wanted.len());
    for ((line, problem), (wanted_line, words)) in told.into_iter().zip(wanted) {
        assert_eq!(line, wanted_line);
        assert!(problem.starts_with(words), "line {line}: {problem}");
    }
    assert!(summary.text().contains("line 4: missing field `response`"), "{}", summary.text());
}

#[tokio::test]
async fn a_mark_is_skipped_and_columns_that_nothing_reads_are_named() {
    let lines = [
        "\u{feff}".to_owned() + &row(0, "0", 0.0),
        r#"{"key":"k1","response":"1","lable":1,"raw":"\ud83d","expected_ms":70}"#.into(),
        r#"{"key":"k2","response":"2","lable":1}"#.into(),
        "key,response".into(),
        r#"["k4","","","4"]"#.into(),
    ];
    let case = Case::new(&lines).await;
    let summary = case.run().await.unwrap();
    assert_eq!(case.rewards(), expected_rewards(3));
    assert_eq!(summary.ignored_columns, ["extra", "lable", "raw"]);
    let text = summary.text();
    assert!(text.contains("columns that nothing reads: extra, lable, raw"), "{text}");
    for line in [4, 5] {
        assert!(text.contains(&format!("line {line}: the line is not a JSON object")), "{text}");
    }
    let inner = case.mock.lock();
    let items: Vec<_> = inner.batches.values().flat_map(|batch| &batch.items).collect();
    assert_eq!(
        items.iter().map(|item| item.expected_ms).collect::<Vec<_>>(),
        [None, Some(70), None]
    );
}

#[tokio::test]
async fn errors_are_never_numbers_and_are_tried_again() {
    let lines = [row(0, "1", 1.0), row(1, "error", 7.0), row(2, "slow", 0.0)];
    let case = Case::new(&lines).await;
    let first = case.run().await.unwrap();
    assert!(!first.ok());
    assert_eq!((first.scored, first.timed_out, first.error), (1, 1, 1));
    assert_eq!(first.mean_reward, Some(0.0), "of 1 and -1: the error is not in it");
    assert_eq!((first.agreement.compared, first.agreement.agreed), (2, 1));
    assert_eq!(first.agreement.disagreements[0].key, "k2");
    assert_eq!(first.verdicts["worker_lost"], 1);
    let text = fs::read_to_string(case.output()).unwrap();
    let error = text.lines().find(|line| line.contains("\"k1\"")).unwrap();
    assert!(!error.contains("reward"), "{error}");

    case.mock.change(|inner| inner.faults.healed = true);
    let second = case.run().await.unwrap();
    assert!(second.ok(), "{}", second.text());
    assert_eq!((second.skipped, second.requests), (2, 1));
    assert_eq!((second.scored, second.timed_out, second.error), (2, 1, 0));
    assert_eq!((second.agreement.compared, second.agreement.agreed), (3, 2));
    assert_eq!(case.rewards().len(), 3);
    assert_eq!(case.results().len(), 4, "the output only grows");

    let third = case.run().await.unwrap();
    assert!(third.ok());
    assert_eq!((third.skipped, third.requests, third.batches.len()), (3, 0, 0));
}

#[tokio::test]
async fn an_interrupted_run_keeps_what_it_has_and_goes_on() {
    let case = Case::new(&rows(24)).await;
    case.mock.change(|inner| inner.faults.results_max = Some(5));
    let (tell, told) = tokio::sync::oneshot::channel();
    let mut tell = Some(tell);
    let observe = |seen: &Progress| {
        if seen.finished == 5 {
            tell.take().map(|tell| tell.send(()));
        }
    };
    let interrupt = async { told.await.unwrap() };
    let client = case.mock.client();
    let first = score(&client, &case.options, observe, interrupt).await.unwrap();
    assert!(first.interrupted && !first.ok());
    assert_eq!(case.rewards(), expected_rewards(5));
    assert!(case.mock.lock().batches.values().all(|batch| batch.cancelled));

    case.mock.change(|inner| {
        inner.faults.results_max = None;
        inner.digest = 9;
    });
    let second = case.run().await.unwrap();
    assert!(second.ok(), "{}", second.text());
    assert_eq!((second.skipped, second.requests), (5, 19));
    assert_eq!((second.scored, second.agreement.agreed), (24, 24));
    assert_eq!(case.rewards(), expected_rewards(24));
    let inner = case.mock.lock();
    let announced: Vec<_> = inner.batches.values().map(|batch| &batch.announced).collect();
    assert_eq!(announced[0].run, announced[1].run, "one run, so one plugin digest");
    assert_eq!((announced[0].iteration, announced[1].iteration), (0, 1));
}

#[tokio::test]
async fn a_run_goes_on_whose_batch_has_expired() {
    let case = Case::new(&rows(8)).await;
    case.mock.change(|inner| inner.faults.results_max = Some(2));
    let (tell, told) = tokio::sync::oneshot::channel();
    let mut tell = Some(tell);
    let observe = |seen: &Progress| {
        if seen.finished == 2 {
            tell.take().map(|tell| tell.send(()));
        }
    };
    let interrupt = async { told.await.unwrap() };
    let first = score(&case.mock.client(), &case.options, observe, interrupt).await.unwrap();
    assert!(first.interrupted);
    // Two more had ended when it was deleted.
    case.mock.change(|inner| {
        inner.faults.results_max = Some(4);
        inner.batches.values_mut().for_each(|batch| batch.cancelled = false);
    });
    case.mock.change(|inner| {
        inner.faults.results_max = None;
        for batch in inner.batches.values_mut() {
            (batch.cancelled, batch.expired) = (true, true);
        }
    });
    let second = case.run().await.unwrap();
    assert!(second.ok(), "{}", second.text());
    assert_eq!((second.skipped, second.requests), (2, 6));
    assert_eq!(case.rewards(), expected_rewards(8));
}

#[tokio::test]
async fn a_row_corrected_after_a_run_was_killed_gets_its_own_reward() {
    let case = Case::new(&rows(8)).await;
    case.mock.change(|inner| inner.faults.results_max = Some(2));
    let client = case.mock.client();
    let (tell, told) = tokio::sync::oneshot::channel();
    let mut tell = Some(tell);
    let observe = |seen: &Progress| {
        if seen.finished == 2 && seen.submitted == 8 {
            tell.take().map(|tell| tell.send(()));
        }
    };
    // A row counts as submitted when it is sent; it must have arrived, too.
    let all_there = async {
        told.await.unwrap();
        while case.mock.lock().batches.values().map(|batch| batch.items.len()).sum::<usize>() < 8 {
            tokio::task::yield_now().await;
        }
    };
    // Dropping the work is what a kill does: nobody cancels the batch.
    tokio::select! {
        _ = score(&client, &case.options, observe, pending()) => panic!("it waits for results"),
        () = all_there => {}
    }
    assert!(case.mock.lock().batches.values().all(|batch| !batch.cancelled));
    // The server ends the old answer of row 4, whose line is corrected before the next call.
    case.mock.change(|inner| inner.faults.results_max = Some(6));
    case.mock.change(|inner| inner.faults.results_max = None);
    let mut lines = rows(8);
    lines[4] = row(4, "40", 40.0);
    fs::write(&case.options.input, lines.join("\n")).unwrap();
    let summary = case.run().await.unwrap();
    assert!(summary.ok(), "{}", summary.text());
    assert_eq!((summary.skipped, summary.requests), (2, 6));
    let mut expected = expected_rewards(8);
    expected.insert("k4".into(), 40.0);
    assert_eq!(case.rewards(), expected);
}

#[tokio::test]
async fn a_torn_output_is_repaired_wherever_it_was_torn() {
    let case = Case::new(&rows(6)).await;
    case.run().await.unwrap();
    let whole = fs::read(case.output()).unwrap();
    let last_line = whole[..whole.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last_line + 1, last_line + 8, whole.len() - 10, whole.len() - 2, whole.len() - 1] {
        fs::write(case.output(), &whole[..cut]).unwrap();
        let summary = case.run().await.unwrap();
        assert!(summary.ok(), "{}", summary.text());
        assert_eq!(case.rewards(), expected_rewards(6), "torn at {cut}");
        // Without its newline alone, a line is whole.
        assert_eq!(summary.requests, u64::from(cut < whole.len() - 1), "torn at {cut}");
    }
    // A server that has forgotten the batch computes the torn row alone.
    case.mock.change(|inner| inner.batches.clear());
    fs::write(case.output(), &whole[..whole.len() - 10]).unwrap();
    let summary = case.run().await.unwrap();
    assert_eq!(case.rewards(), expected_rewards(6));
    assert_eq!((summary.skipped, summary.requests), (5, 1));
}

#[tokio::test]
async fn a_file_that_is_not_ours_is_left_alone() {
    let case = Case::new(&rows(2)).await;
    for text in ["notes of somebody", "notes\nof somebody\n", "{\"a\":1}\n"] {
        fs::write(case.output(), text).unwrap();
        let error = case.run().await.expect_err("not results");
        assert!(matches!(error, ScoreError::NotResults { line: 1, .. }), "{error}");
        assert_eq!(fs::read_to_string(case.output()).unwrap(), text);
    }
    fs::write(case.output(), "").unwrap();
    let held = fs::File::open(case.output()).unwrap();
    held.lock().unwrap();
    let error = case.run().await.expect_err("in use");
    assert!(matches!(error, ScoreError::OutputInUse { .. }), "{error}");
}

#[tokio::test]
async fn rewards_of_two_plugins_do_not_mix_in_one_output() {
    let mut case = Case::new(&rows(3)).await;
    case.run().await.unwrap();
    fs::write(&case.options.input, rows(5).join("\n")).unwrap();
    case.options.run = Some("another".into());
    case.mock.change(|inner| inner.digest = 9);
    let error = case.run().await.expect_err("another digest");
    assert!(matches!(error, ScoreError::PluginChanged { .. }), "{error}");
    case.options.run = None;
    case.options.plugin = "code@prod".into();
    let error = case.run().await.expect_err("another plugin");
    assert!(matches!(error, ScoreError::PluginChanged { .. }), "{error}");
    assert_eq!(case.rewards(), expected_rewards(3));
}

#[tokio::test]
async fn an_output_stays_with_its_plugin_on_another_server() {
    let case = Case::new(&rows(3)).await;
    case.run().await.unwrap();
    let lines = fs::read_to_string(case.output()).unwrap();
    assert_eq!(
        lines.matches(r#""plugin":"math@1.0.0","plugin_digest":"0000"#).count(),
        3,
        "{lines}"
    );
    // Another server knows none of the batches.
    case.mock.change(|inner| inner.batches.clear());
    fs::write(&case.options.input, rows(4).join("\n")).unwrap();
    let summary = case.run().await.unwrap();
    assert_eq!((summary.skipped, summary.requests), (3, 1));
    case.mock.change(|inner| {
        inner.batches.clear();
        inner.digest = 9;
    });
    fs::write(&case.options.input, rows(5).join("\n")).unwrap();
    let error = case.run().await.expect_err("another digest");
    assert!(matches!(error, ScoreError::PluginChanged { .. }), "{error}");

    // Lines of an early version name no plugin; only the server of their batch knows it.
    let start = r#","plugin":"math@1.0.0""#;
    let bare = |line: &str| format!("{}}}\n", line.split_once(start).unwrap().0);
    fs::write(case.output(), lines.lines().map(bare).collect::<String>()).unwrap();
    let error = case.run().await.expect_err("an unknown plugin");
    assert!(matches!(error, ScoreError::PluginUnknown { .. }), "{error}");
    assert!(error.to_string().contains("--output"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_opened_is_named() {
    let mut case = Case::new(&rows(1)).await;
    case.options.output = Target::File(case.folder.path().join("missing/results.jsonl"));
    let error = case.run().await.expect_err("no such folder");
    assert!(error.to_string().contains("missing/results.jsonl"), "{error}");
    let output = case.folder.path().join("results.jsonl");
    case.options.output = Target::File(output.clone());
    case.options.input = case.folder.path().join("nothing.jsonl");
    let error = case.run().await.expect_err("no such file");
    assert!(error.to_string().ends_with("nothing.jsonl"), "{error}: its cause is its source");
    assert!(!output.exists());
}
