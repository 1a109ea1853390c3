//! Failing calls: the retries, and the errors that the client reports.

use crate::mock::Mock;
use assay_api::batch::AnnounceBatch;
use assay_api::request::RewardRequest;
use assay_client::{Client, Error, Retry};
use assay_core::id::BatchId;

fn announcement() -> AnnounceBatch {
    AnnounceBatch {
        plugin: "math@prod".into(),
        run: "run".into(),
        iteration: 0,
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: None,
        join: None,
        settings: None,
    }
}

#[tokio::test]
async fn a_problem_says_what_to_do() {
    let mock = Mock::start().await;
    let error = mock.client().batch(BatchId::generate()).await.expect_err("no such batch");
    assert_eq!(error.code(), Some("not_found"));
    assert_eq!(
        error.to_string(),
        "there is no such batch (not_found, HTTP 404). Ask somebody [Request-Id r-1]"
    );
}

#[tokio::test]
async fn what_is_not_assay_is_recognised() {
    let mock = Mock::start().await;
    let wrong = Client::new(&format!("{}/elsewhere", mock.url), "assay_test_key").unwrap();
    let error = wrong.plugins().await.expect_err("no such path");
    assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
    assert!(error.to_string().contains("ASSAY_URL"), "{error}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let client =
        Client::new(&url, "key").unwrap().with_retry(Retry { attempts: 2, ..Retry::SHORT });
    let error = client.plugins().await.expect_err("nobody listens");
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains(&url) && text.contains("assay dev"), "{text}");
}

#[tokio::test]
async fn an_announcement_is_repeated_under_one_key() {
    let mock = Mock::start().await;
    mock.change(|inner| inner.faults.unavailable = 4);
    let batch = mock.client().announce(&announcement()).await.unwrap();
    let batches: Vec<_> = mock.lock().batches.keys().copied().collect();
    assert_eq!(batches, [batch.id]);
    assert_eq!(mock.lock().faults.unavailable, 0);
}

#[tokio::test]
async fn repeating_has_an_end() {
    let mock = Mock::start().await;
    mock.change(|inner| inner.faults.unavailable = 100);
    let error = mock.client().announce(&announcement()).await.expect_err("never available");
    assert_eq!(error.code(), Some("unavailable"));
    assert_eq!(mock.lock().faults.unavailable, 100 - 6);
}

#[tokio::test]
async fn a_lone_reward_is_not_computed_twice() {
    let mock = Mock::start().await;
    let request = RewardRequest {
        plugin: "math@prod".into(),
        prompt: String::new(),
        response: "1".into(),
        label: None,
        metadata: None,
        settings: None,
        share_equal: None,
    };
    let error = mock.client().reward(&request).await.expect_err("broken");
    assert_eq!(error.code(), Some("internal"));
    assert_eq!(mock.lock().rewards_called, 1);
}
