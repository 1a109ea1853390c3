//! Handshakes in memory.

use std::io;

use assay_core::id::TicketId;
use assay_core::time::Micros;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::*;

const DAY: Micros = Micros::from_secs(86_400);

fn now() -> Micros {
    Micros::from_datetime(time::OffsetDateTime::now_utc())
}

fn authority() -> Authority {
    Authority::open(Authority::generate(now()).expect("is made")).expect("is valid")
}

fn identity() -> Identity {
    Identity { worker: TicketId::generate(), pool: "cpu".into() }
}

fn worker(pin: Pin, by: &Authority, validity: Validity, identity: &Identity) -> ClientConfig {
    let key = WorkerKey::generate().expect("a key");
    let certificate = by.issue(&key.request().expect("a request"), identity, validity);
    client_config(pin, Some((&key, certificate.expect("issued"))), Purpose::Work)
        .expect("valid settings")
}

/// Who the server takes the client for, and what the client finds out: the client reads a byte, because in TLS 1.3 it
/// is done before the server has looked at its certificate.
async fn shake(
    server: ServerConfig,
    client: ClientConfig,
) -> (io::Result<Option<Identity>>, io::Result<()>) {
    let (near, far) = duplex(1 << 16);
    let serve = async {
        let mut stream = TlsAcceptor::from(Arc::new(server)).accept(far).await?;
        stream.write_all(b"!").await?;
        stream.flush().await?;
        Ok(peer_identity(stream.get_ref().1.peer_certificates()))
    };
    let name = ServerName::try_from(SERVER_NAME).expect("a name");
    let call = async {
        let mut stream = TlsConnector::from(Arc::new(client)).connect(name, near).await?;
        stream.read_u8().await.map(|_| ())
    };
    tokio::join!(serve, call)
}

fn refusal<T: std::fmt::Debug>(ended: io::Result<T>) -> String {
    ended.expect_err("refused").to_string()
}

#[tokio::test]
async fn a_worker_is_who_its_certificate_says() {
    let (authority, identity) = (authority(), identity());
    let client = worker(authority.pin(), &authority, Validity::starting(now(), DAY), &identity);
    let server = server_config(&authority, now()).expect("valid settings");
    let (seen, ended) = shake(server, client).await;
    ended.expect("the worker believes the server");
    assert_eq!(seen.expect("the server believes the worker"), Some(identity));
}

#[tokio::test]
async fn a_worker_without_a_certificate_is_nobody() {
    let authority = authority();
    let client = client_config(authority.pin(), None, Purpose::Enrolment).expect("valid settings");
    let server = server_config(&authority, now()).expect("valid settings");
    let (seen, ended) = shake(server, client).await;
    ended.expect("it may join");
    assert_eq!(seen.expect("a handshake"), None);
}

#[tokio::test]
async fn a_stored_authority_is_the_same_one() {
    let stored = Authority::generate(now()).expect("is made");
    let first = Authority::open(stored.clone()).expect("valid");
    let again = Authority::open(stored).expect("valid");
    assert_eq!(first.pin(), again.pin());
    let client = worker(first.pin(), &first, Validity::starting(now(), DAY), &identity());
    let (seen, _) = shake(server_config(&again, now()).expect("valid settings"), client).await;
    assert!(seen.expect("a handshake").is_some());
}

#[tokio::test]
async fn a_server_with_another_authority_is_not_believed() {
    let (ours, theirs) = (authority(), authority());
    let client = client_config(ours.pin(), None, Purpose::Enrolment).expect("valid settings");
    let server = server_config(&theirs, now()).expect("valid settings");
    let (_, ended) = shake(server, client).await;
    assert!(refusal(ended).contains("UnknownIssuer"));
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let (ours, theirs) = (authority(), authority());
    let client = worker(ours.pin(), &theirs, Validity::starting(now(), DAY), &identity());
    let (seen, ended) = shake(server_config(&ours, now()).expect("valid settings"), client).await;
    refusal(seen);
    refusal(ended);
}

#[tokio::test]
async fn a_certificate_is_valid_in_its_time_alone() {
    let authority = authority();
    let hour = Micros::from_secs(3_600);
    let past = Validity { from: now() - DAY, until: now() - hour };
    let future = Validity { from: now() + hour, until: now() + DAY };
    for (validity, word) in [(past, "certificate expired"), (future, "not valid yet")] {
        let client = worker(authority.pin(), &authority, validity, &identity());
        let server = server_config(&authority, now()).expect("valid settings");
        let (seen, ended) = shake(server, client).await;
        let said = refusal(seen);
        assert!(said.contains(word), "{said}");
        refusal(ended);
    }
}

#[tokio::test]
async fn a_worker_cannot_pose_as_the_server() {
    let authority = authority();
    let key = WorkerKey::generate().expect("a key");
    let request = key.request().expect("a request");
    let validity = Validity::starting(now(), DAY);
    let certificate = authority.issue(&request, &identity(), validity).expect("issued");
    let server = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.into(), authority.certificate().clone()],
            rustls::pki_types::PrivatePkcs8KeyDer::from(key.secret()).into(),
        )
        .expect("the key fits");
    let client = client_config(authority.pin(), None, Purpose::Enrolment).expect("valid settings");
    let (_, ended) = shake(server, client).await;
    refusal(ended);
}

#[tokio::test]
async fn an_older_protocol_is_refused() {
    let authority = authority();
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate().clone()).expect("a certificate");
    let old = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS12])
        .expect("TLS 1.2")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let (seen, _) = shake(server_config(&authority, now()).expect("valid settings"), old).await;
    refusal(seen);
}

#[test]
fn a_purpose_is_what_the_handshake_agreed_on() {
    for wanted in Purpose::ALL {
        assert_eq!(purpose(Some(wanted.alpn())), Some(wanted));
    }
    assert_eq!([purpose(None), purpose(Some(b"h2"))], [None, None]);
}

#[test]
fn a_request_must_be_signed_by_its_key() {
    let authority = authority();
    let validity = Validity::starting(now(), DAY);
    let mut request = WorkerKey::generate().expect("a key").request().expect("a request");
    authority.issue(&request, &identity(), validity).expect("issued");
    *request.last_mut().expect("bytes") ^= 1;
    authority.issue(&request, &identity(), validity).expect_err("the signature is wrong");
    authority.issue(b"", &identity(), validity).expect_err("nothing");
}

#[test]
fn an_identity_is_read_as_it_was_written() {
    let identity = identity();
    assert_eq!(identity.to_string().parse(), Ok(identity.clone()));
    let id = identity.worker;
    for uri in [
        String::new(),
        format!("spiffe://assay/worker/{id}"),
        format!("spiffe://assay/pool//worker/{id}"),
        format!("spiffe://other/pool/cpu/worker/{id}"),
        format!("spiffe://assay/pool/cpu/worker/{id}/worker/{id}"),
        format!("spiffe://assay/pool/cpu/x/worker/{id}"),
        "spiffe://assay/pool/cpu/worker/1".to_owned(),
    ] {
        assert!(uri.parse::<Identity>().is_err(), "{uri}");
    }
}

#[test]
fn a_pin_is_read_as_it_was_written() {
    let pin = authority().pin();
    assert_eq!(pin.to_string().parse(), Ok(pin));
    for text in ["", "sha256:", "sha256:00", &pin.to_string()[7..]] {
        assert!(text.parse::<Pin>().is_err(), "{text}");
    }
}

#[test]
fn a_certificate_is_renewed_at_two_thirds_of_its_life() {
    let hours = |hours: u64| Duration::from_secs(hours * 3_600);
    assert_eq!(renew_after(hours(24)), hours(16));
    assert_eq!(renew_after(Duration::from_secs(3)), Duration::from_secs(2));
    assert_eq!(renew_after(Duration::ZERO), Duration::ZERO);
}
