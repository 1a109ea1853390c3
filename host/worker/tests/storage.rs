//! Objects on their way from a host to a plugin: asked for in the name of the lease, kept by content,
//! and never a number when they cannot be had.

use std::process::Child;
use std::time::Duration;

use assay_core::id::Digest;
use assay_core::limits;
use assay_wire::proto::finished::End;
use assay_wire::proto::{Finished, Grant, ToWorker};
use tonic::Code;

use crate::binary::code;
use crate::host::{Conversation, Stored, TestHost, execute, host};

const NAME: &str = "judge/sum/1.in";

/// A worker with the guest that reads storage.
struct Reader {
    host: TestHost,
    digest: Digest,
    talk: Conversation,
    child: Child,
    lease: u64,
}

impl Reader {
    async fn start() -> Self {
        let (mut host, digest) = host("execute");
        let child = host.spawn();
        let (_, talk) = host.accept().await;
        Self { host, digest, talk, child, lease: 0 }
    }

    fn put(&self, name: &str, version: &str, stored: Stored) {
        let mut store = self.host.store.lock().expect("no panic");
        store.objects.insert(name.into(), (version.into(), stored));
    }

    fn grant(&mut self, label: &str) -> Grant {
        self.lease += 1;
        execute(self.lease, self.digest, label, "")
    }

    async fn run(&mut self, grant: Grant) -> Finished {
        self.talk.say(ToWorker { grants: vec![grant], ..ToWorker::default() }).await;
        self.talk.finished().await
    }

    async fn get(&mut self, name: &str) -> Finished {
        let grant = self.grant(&format!(r#"{{"storage_get": "{name}"}}"#));
        self.run(grant).await
    }

    fn wanted(&self) -> Vec<(u64, String, String)> {
        std::mem::take(&mut self.host.store.lock().expect("no panic").wanted)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.child.kill().expect("our child");
        self.child.wait().expect("our child");
    }
}

fn explanation(finished: &Finished) -> &str {
    match &finished.end {
        Some(End::Scored(scored)) => &scored.explanation,
        other => panic!("expected a reward, got {other:?}"),
    }
}

fn message(finished: &Finished) -> &str {
    match &finished.end {
        Some(End::Failed(failed)) => &failed.message,
        other => panic!("expected a failure, got {other:?}"),
    }
}

#[tokio::test]
async fn an_object_is_asked_for_with_the_version_that_is_there() {
    let mut reader = Reader::start().await;
    reader.put(NAME, "v1", Stored::Bytes(b"1 2\n".to_vec()));
    assert_eq!(explanation(&reader.get(NAME).await), "1 2\n");
    assert_eq!(reader.wanted(), [(1, NAME.into(), String::new())]);
    // The host would say only that it is unchanged.
    assert_eq!(explanation(&reader.get(NAME).await), "1 2\n");
    assert_eq!(reader.wanted(), [(2, NAME.into(), "v1".into())]);
    reader.put(NAME, "v2", Stored::Bytes(b"3 4\n".to_vec()));
    assert_eq!(explanation(&reader.get(NAME).await), "3 4\n");
    assert_eq!(reader.wanted(), [(3, NAME.into(), "v1".into())]);
}

#[tokio::test]
async fn another_tenant_is_told_nothing_of_what_is_known() {
    let mut reader = Reader::start().await;
    reader.put(NAME, "v1", Stored::Bytes(b"1 2\n".to_vec()));
    reader.get(NAME).await;
    reader.put(NAME, "v1", Stored::Refused(Code::PermissionDenied));
    let mut grant = reader.grant(&format!(r#"{{"storage_get": "{NAME}"}}"#));
    grant.tenant_id = vec![8; 16].into();
    assert_eq!(code(&reader.run(grant).await), "bad_request");
    let versions: Vec<_> = reader.wanted().into_iter().map(|(_, _, version)| version).collect();
    assert_eq!(versions, ["", ""]);
}

#[tokio::test]
async fn a_damaged_or_lost_copy_is_fetched_again() {
    let mut reader = Reader::start().await;
    let bytes = b"1 2\n";
    reader.put(NAME, "v1", Stored::Bytes(bytes.to_vec()));
    reader.get(NAME).await;
    let copy = reader.host.cache().join("objects").join(Digest::of(bytes).to_string());
    std::fs::write(&copy, b"1 3\n").expect("the worker's copy");
    assert_eq!(explanation(&reader.get(NAME).await), "1 2\n");
    std::fs::remove_file(&copy).expect("there again");
    assert_eq!(explanation(&reader.get(NAME).await), "1 2\n");
    let versions: Vec<_> = reader.wanted().into_iter().map(|(_, _, version)| version).collect();
    assert_eq!(versions, ["", "v1", "", ""], "the damage is seen when it is read");
}

#[tokio::test]
async fn many_pieces_are_one_object() {
    let mut reader = Reader::start().await;
    let mut bytes = vec![b'x'; limits::OBJECT_GET_BYTES_MAX as usize];
    bytes[..3].copy_from_slice(b"abc");
    reader.put(NAME, "v1", Stored::Bytes(bytes));
    let got = reader.get(NAME).await;
    let text = explanation(&got);
    assert_eq!(text.len(), limits::EXPLANATION_BYTES_MAX);
    assert!(text.starts_with("abcx"));
}

#[tokio::test]
async fn names_below_a_folder_are_listed() {
    let mut reader = Reader::start().await;
    for name in ["judge/b", "judge/a/1", "judgement/c"] {
        reader.put(name, "v1", Stored::Bytes(Vec::new()));
    }
    let grant = reader.grant(r#"{"storage_names": "judge"}"#);
    assert_eq!(explanation(&reader.run(grant).await), r#"["judge/a/1","judge/b"]"#);
}

#[tokio::test]
async fn what_cannot_be_had_is_no_number() {
    let mut reader = Reader::start().await;
    let large = limits::OBJECT_GET_BYTES_MAX + 1;
    for (name, stored) in [
        ("judge/denied", Stored::Refused(Code::PermissionDenied)),
        ("judge/away", Stored::Refused(Code::Unavailable)),
        ("judge/lost_lease", Stored::Refused(Code::Unauthenticated)),
        ("judge/slow", Stored::Refused(Code::DeadlineExceeded)),
        ("judge/large", Stored::Torn(large, Vec::new())),
        ("judge/torn", Stored::Torn(10, b"1 2\n".to_vec())),
        ("judge/grown", Stored::Torn(2, b"1 2\n".to_vec())),
    ] {
        reader.put(name, "v1", stored);
    }
    for (name, expected, said) in [
        ("judge/nothing", "bad_request", "no object `judge/nothing`"),
        ("judge/denied", "bad_request", "refused"),
        ("judge/away", "unavailable", "refused"),
        ("judge/lost_lease", "unavailable", "refused"),
        // No plugin sees it: it could make a reward of it.
        ("judge/slow", "lease_expired", "the stage had used"),
        ("judge/large", "bad_request", "16777217 bytes"),
        ("judge/torn", "unavailable", "a part of the object"),
        ("judge/grown", "unavailable", "larger than the host announced"),
        ("judge/../x", "bad_request", "names no object"),
    ] {
        let got = reader.get(name).await;
        assert_eq!(code(&got), expected, "{name}");
        assert!(message(&got).contains(said), "{name}: {}", message(&got));
    }
}

#[tokio::test]
async fn a_host_that_says_nothing_for_long_costs_the_stage_none_of_its_time() {
    let mut reader = Reader::start().await;
    let timeout = Duration::from_millis(500);
    reader.put(NAME, "v1", Stored::After(timeout * 3, b"1 2\n".to_vec()));
    let mut grant = reader.grant(&format!(r#"{{"storage_get": "{NAME}"}}"#));
    grant.timeout_us = 500_000;
    let got = reader.run(grant).await;
    assert_eq!(explanation(&got), "1 2\n");
    assert!(got.ran_us >= 3 * 500_000, "{} µs", got.ran_us);
}

#[tokio::test]
async fn without_a_tenant_nothing_is_granted() {
    let mut reader = Reader::start().await;
    let mut grant = reader.grant(&format!(r#"{{"storage_get": "{NAME}"}}"#));
    grant.tenant_id = Vec::new().into();
    let got = reader.run(grant).await;
    assert_eq!(code(&got), "unavailable");
    assert!(reader.wanted().is_empty());
}
