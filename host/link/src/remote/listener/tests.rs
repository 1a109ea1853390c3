//! Real connections, without a dispatcher behind the doors.

use std::io;
use std::net::SocketAddr;

use assay_core::id::TicketId;
use assay_core::time::Micros;
use assay_tls::{
    Authority, Purpose, SERVER_NAME, Validity, WorkerKey, client_config, server_config,
};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_rustls::TlsConnector;

use super::*;

const DAY: Micros = Micros::from_secs(86_400);

fn now() -> Micros {
    assay_dispatch::now()
}

/// A listener that knows one worker.
struct Site {
    authority: Authority,
    address: SocketAddr,
    worker: Identity,
    /// Resolves the ends of that worker's connections.
    removed: watch::Sender<bool>,
    work: mpsc::Receiver<Connection>,
    enrolment: mpsc::Receiver<Connection>,
    _stop: watch::Sender<bool>,
}

impl Site {
    async fn open() -> Self {
        let authority = Authority::generate(now()).and_then(Authority::open).expect("an authority");
        let config = Arc::new(server_config(&authority, now()).expect("valid settings"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let worker = Identity { worker: TicketId::generate(), pool: "cpu".into() };
        let (removed, (stop, stopped)) = (watch::Sender::new(false), watch::channel(false));
        let ((work, working), (enrolment, enrolling)) = (mpsc::channel(1), mpsc::channel(1));
        let (known, ends) = (worker.clone(), removed.clone());
        let admit = move |identity: &Identity| {
            let connections = Arc::new(Semaphore::new(1));
            let mut removed = ends.subscribe();
            let end: End = Box::pin(async move {
                removed.wait_for(|removed| *removed).await.expect("the sender lives");
                "removed"
            });
            (*identity == known).then_some(Admission { connections, end })
        };
        let doors = ConnectionSenders { work, enrolment };
        tokio::spawn(accept_by(listener, config, admit, doors, stopped));
        let (work, enrolment) = (working, enrolling);
        Self { authority, address, worker, removed, work, enrolment, _stop: stop }
    }

    async fn dial(
        &self,
        shown: Option<(&Identity, Validity)>,
    ) -> io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
        self.dial_for(Purpose::Work, shown).await
    }

    async fn dial_for(
        &self,
        purpose: Purpose,
        shown: Option<(&Identity, Validity)>,
    ) -> io::Result<tokio_rustls::client::TlsStream<TcpStream>> {
        let key = WorkerKey::generate().expect("a key");
        let request = key.request().expect("a request");
        let certificate = shown.map(|(identity, validity)| {
            let issued = self.authority.issue(&request, identity, validity);
            (&key, issued.expect("issued"))
        });
        let config =
            client_config(self.authority.pin(), certificate, purpose).expect("valid settings");
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }
}

fn today() -> Validity {
    Validity::starting(now(), DAY)
}

#[tokio::test]
async fn a_known_worker_comes_through_its_door_until_it_is_removed() {
    let mut site = Site::open().await;
    let mut worker = site.dial(Some((&site.worker, today()))).await.expect("a handshake");
    let mut connection = site.work.recv().await.expect("it came");
    assert_eq!(connection.peer.identity, Some(site.worker.clone()));
    worker.write_all(b"x").await.expect("sends");
    assert_eq!(connection.read_u8().await.expect("received"), b'x');
    // A read that waits is woken.
    let waiting = tokio::spawn(async move { connection.read_u8().await });
    site.removed.send_replace(true);
    let ended = waiting.await.expect("no panic").expect_err("it ended");
    assert_eq!(ended.to_string(), "removed");
    worker.read_u8().await.expect_err("its connection is closed");
}

#[tokio::test]
async fn a_known_worker_gets_certificates_by_connections_of_their_own() {
    let mut site = Site::open().await;
    let shown = Some((&site.worker, today()));
    let _open = site.dial_for(Purpose::Enrolment, shown).await.expect("a handshake");
    let connection = site.enrolment.recv().await.expect("it came");
    assert_eq!(connection.peer.identity, Some(site.worker.clone()));
    assert!(site.work.is_empty());
}

#[tokio::test]
async fn a_peer_that_is_no_known_worker_comes_through_the_other_door() {
    let mut site = Site::open().await;
    let unknown = Identity { worker: TicketId::generate(), pool: "cpu".into() };
    let another_pool = Identity { pool: "gpu".into(), ..site.worker.clone() };
    for shown in [None, Some(&unknown), Some(&another_pool)] {
        let shown = shown.map(|identity| (identity, today()));
        let _open = site.dial(shown).await.expect("a handshake");
        let connection = site.enrolment.recv().await.expect("it came");
        assert_eq!(connection.peer.identity, None);
    }
    assert!(site.work.is_empty());
}

#[tokio::test]
async fn an_expired_certificate_and_plain_text_come_through_no_door() {
    let mut site = Site::open().await;
    let expired = Validity { from: now() - DAY, until: now() - Micros::from_secs(1) };
    let dialled = site.dial(Some((&site.worker, expired))).await;
    let refused = match dialled {
        Ok(mut stream) => stream.read_u8().await.map(|_| ()),
        Err(error) => Err(error),
    };
    refused.expect_err("the certificate has expired");
    let mut plain = TcpStream::connect(site.address).await.expect("connects");
    plain.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("sends");
    // An alert at most.
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer).await;
    assert!(answer.len() < 16, "{answer:?}");
    let _open = site.dial(Some((&site.worker, today()))).await.expect("a handshake");
    let first = site.work.recv().await.expect("it came");
    assert_eq!(first.peer.identity, Some(site.worker.clone()), "nothing came before");
    assert!(site.enrolment.is_empty());
}

#[tokio::test]
async fn those_that_prove_nothing_are_bounded_and_keep_no_worker_out() {
    let mut site = Site::open().await;
    let mut silent = Vec::new();
    for _ in 0..limits::UNPROVEN_WORKERS_MAX {
        silent.push(TcpStream::connect(site.address).await.expect("connects"));
    }
    let shown = Some((&site.worker, today()));
    // Accepted in their order, so that all of the others have their places.
    let _worker = site.dial(shown).await.expect("a handshake");
    assert!(site.work.recv().await.is_some());
    silent[0].read_u8().await.expect_err("the oldest one is closed");
    // One that has no certificate yet joins as well.
    let _joining = site.dial_for(Purpose::Enrolment, None).await.expect("a handshake");
    assert!(site.enrolment.recv().await.is_some());
}

#[tokio::test]
async fn a_known_worker_that_gets_its_next_certificate_is_not_closed_for_strangers() {
    let mut site = Site::open().await;
    let shown = Some((&site.worker, today()));
    let mut worker = site.dial_for(Purpose::Enrolment, shown).await.expect("a handshake");
    let mut renewing = site.enrolment.recv().await.expect("it came");
    let mut stranger = site.dial_for(Purpose::Enrolment, None).await.expect("a handshake");
    let mut joining = site.enrolment.recv().await.expect("it came");
    let mut silent = Vec::new();
    for _ in 0..limits::UNPROVEN_WORKERS_MAX {
        silent.push(TcpStream::connect(site.address).await.expect("connects"));
    }
    let ended = joining.read_u8().await.expect_err("it was the oldest one");
    assert_eq!(ended.to_string(), EVICTED);
    drop(joining);
    stranger.read_u8().await.expect_err("closed");
    worker.write_all(b"x").await.expect("sends");
    assert_eq!(renewing.read_u8().await.expect("received"), b'x');
}
