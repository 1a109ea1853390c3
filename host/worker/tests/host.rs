//! A host in the test's own process, which the test speaks through.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_core::id::Digest;
use assay_wire::MESSAGE_BYTES_MAX;
use assay_wire::proto::host_server::{Host, HostServer};
use assay_wire::proto::{
    Body, Chunk, FetchRequest, Finished, FromWorker, Grant, Hello, ListReply, ListRequest, Load,
    StoredChunk, StoredRequest, ToWorker,
};
use prost::Message as _;
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::wrappers::{ReceiverStream, UnixListenerStream};
use tonic::{Request, Response, Status, Streaming};

pub(crate) const TICKET: &str = "a-ticket";
/// Longer than anything here takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(120);

/// Compiled plugins and objects that the host gives out, and what it was asked.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) compiled: HashMap<Digest, Vec<u8>>,
    pub(crate) asked: usize,
    /// The offset of each request for a plugin.
    pub(crate) offsets: Vec<u64>,
    /// Without a permit of it no plugin is sent; there is none unless a test says so.
    pub(crate) gate: Option<Arc<Semaphore>>,
    /// The bytes of a plugin that are sent before its stream fails, if it fails.
    pub(crate) torn_at: Option<usize>,
    /// By name, with their versions.
    pub(crate) objects: BTreeMap<String, (String, Stored)>,
    /// The lease, the name and the known version of each request for an object.
    pub(crate) wanted: Vec<(u64, String, String)>,
}

/// How the host answers for an object.
#[derive(Clone)]
pub(crate) enum Stored {
    Bytes(Vec<u8>),
    /// Announced with this size, and cut off after the bytes.
    Torn(u64, Vec<u8>),
    Refused(tonic::Code),
    /// The host says nothing for so long.
    After(Duration, Vec<u8>),
}

/// A worker's stream, as the host sees it.
pub(crate) struct Conversation {
    pub(crate) to_worker: mpsc::Sender<Result<ToWorker, Status>>,
    from_worker: Streaming<FromWorker>,
    ready: Vec<Finished>,
}

pub(crate) struct TestHost {
    folder: TempDir,
    pub(crate) store: Arc<Mutex<Store>>,
    conversations: mpsc::Receiver<Conversation>,
    fetches: mpsc::UnboundedReceiver<()>,
}

struct Service {
    store: Arc<Mutex<Store>>,
    fetches: mpsc::UnboundedSender<()>,
    conversations: mpsc::Sender<Conversation>,
}

#[tonic::async_trait]
impl Host for Service {
    type WorkStream = ReceiverStream<Result<ToWorker, Status>>;
    type FetchCompiledStream = ReceiverStream<Result<Chunk, Status>>;
    type FetchStoredStream = ReceiverStream<Result<StoredChunk, Status>>;

    async fn work(
        &self,
        request: Request<Streaming<FromWorker>>,
    ) -> Result<Response<Self::WorkStream>, Status> {
        let (to_worker, messages) = mpsc::channel(64);
        let from_worker = request.into_inner();
        let conversation = Conversation { to_worker, from_worker, ready: Vec::new() };
        self.conversations.send(conversation).await.expect("the test listens");
        Ok(Response::new(ReceiverStream::new(messages)))
    }

    async fn fetch_compiled(
        &self,
        request: Request<FetchRequest>,
    ) -> Result<Response<Self::FetchCompiledStream>, Status> {
        let request = request.into_inner();
        assert_eq!(request.ticket, TICKET);
        let digest = Digest::try_from(&request.digest[..]).expect("a digest");
        let (bytes, gate, torn_at) = {
            let mut store = self.store.lock().expect("no panic");
            store.asked += 1;
            store.offsets.push(request.offset);
            let bytes = store.compiled.get(&digest).cloned();
            (bytes, store.gate.clone(), store.torn_at.take())
        };
        // A test that ends listens no longer.
        let _ = self.fetches.send(());
        let bytes = bytes.ok_or_else(|| Status::not_found("no such plugin"))?;
        let (chunks, stream) = mpsc::channel(4);
        tokio::spawn(async move {
            if let Some(gate) = gate {
                gate.acquire().await.expect("it is never closed").forget();
            }
            let start = usize::try_from(request.offset).expect("small");
            for chunk in bytes[start..torn_at.unwrap_or(bytes.len())].chunks(100_000) {
                let chunk = Chunk { bytes: chunk.to_vec().into() };
                chunks.send(Ok(chunk)).await.expect("the worker reads");
            }
            if torn_at.is_some() {
                let torn = Err(Status::unavailable("torn"));
                chunks.send(torn).await.expect("the worker reads");
            }
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }

    async fn fetch_stored(
        &self,
        request: Request<StoredRequest>,
    ) -> Result<Response<Self::FetchStoredStream>, Status> {
        let StoredRequest { ticket, lease, name, known_version } = request.into_inner();
        assert_eq!(ticket, TICKET);
        let found = {
            let mut store = self.store.lock().expect("no panic");
            store.wanted.push((lease, name.clone(), known_version.clone()));
            store.objects.get(&name).cloned()
        };
        let (version, stored) = found.ok_or_else(|| Status::not_found("no such object"))?;
        let (size_bytes, bytes) = match stored {
            Stored::Bytes(bytes) => (bytes.len() as u64, bytes),
            Stored::Torn(size_bytes, bytes) => (size_bytes, bytes),
            Stored::Refused(code) => return Err(Status::new(code, "refused")),
            Stored::After(silence, bytes) => {
                tokio::time::sleep(silence).await;
                (bytes.len() as u64, bytes)
            }
        };
        let unchanged = version == known_version;
        let (chunks, stream) = mpsc::channel(4);
        tokio::spawn(async move {
            let first = StoredChunk { version, size_bytes, unchanged, ..StoredChunk::default() };
            let rest = bytes.chunks(100_000).filter(|_| !unchanged);
            let rest = rest.map(|bytes| StoredChunk {
                bytes: bytes.to_vec().into(),
                ..StoredChunk::default()
            });
            for chunk in std::iter::once(first).chain(rest) {
                // A worker that finds it too large listens no further.
                if chunks.send(Ok(chunk)).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(stream)))
    }

    async fn list_stored(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListReply>, Status> {
        let ListRequest { ticket, folder, .. } = request.into_inner();
        assert_eq!(ticket, TICKET);
        let below = format!("{folder}/");
        let store = self.store.lock().expect("no panic");
        let names = store.objects.keys().filter(|name| name.starts_with(&below)).cloned();
        Ok(Response::new(ListReply { names: names.collect() }))
    }
}

impl TestHost {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join("host.sock")).expect("a free path");
        let store = Arc::new(Mutex::new(Store::default()));
        let (accepted, conversations) = mpsc::channel(4);
        let (asked, fetches) = mpsc::unbounded_channel();
        let service =
            Service { store: Arc::clone(&store), fetches: asked, conversations: accepted };
        let service = HostServer::new(service).max_decoding_message_size(MESSAGE_BYTES_MAX);
        tokio::spawn(async move {
            tonic::transport::Server::builder()
                .add_service(service)
                .serve_with_incoming(UnixListenerStream::new(listener))
                .await
                .expect("serves");
        });
        Self { folder, store, conversations, fetches }
    }

    /// Waits until a worker asks for a plugin.
    pub(crate) async fn fetch(&mut self) {
        let asked = tokio::time::timeout(PATIENCE, self.fetches.recv()).await;
        asked.expect("a worker asks").expect("serving");
    }

    pub(crate) fn cache(&self) -> std::path::PathBuf {
        self.folder.path().join("cache")
    }

    pub(crate) fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("host.sock")
    }

    /// The command line of a worker of this host.
    pub(crate) fn command(&self) -> Command {
        let mut command = crate::binary::worker();
        serve(&mut command, &self.socket(), &self.cache());
        command
    }

    pub(crate) fn spawn(&self) -> Child {
        self.command().spawn().expect("the worker starts")
    }

    /// The next worker that dials in, and what it says first.
    pub(crate) async fn accept(&mut self) -> (Hello, Conversation) {
        let accepted = self.conversations.recv();
        let accepted = tokio::time::timeout(PATIENCE, accepted).await.expect("dials in");
        let mut conversation = accepted.expect("serving");
        let first = conversation.message().await.expect("a message");
        (first.hello.expect("says hello first"), conversation)
    }
}

pub(crate) fn serve(command: &mut Command, socket: &Path, cache: &Path) {
    command
        .arg("serve")
        .args(["--pool", "cpu", "--connect"])
        .arg(socket)
        .arg("--cache")
        .arg(cache)
        .env("ASSAY_WORKER_TICKET", TICKET)
        .stderr(Stdio::null());
}

impl Conversation {
    /// The next message; none when the worker is gone.
    pub(crate) async fn message(&mut self) -> Option<FromWorker> {
        let message = tokio::time::timeout(PATIENCE, self.from_worker.message()).await;
        message.expect("the worker says something").ok().flatten()
    }

    pub(crate) async fn say(&self, message: ToWorker) {
        self.to_worker.send(Ok(message)).await.expect("the worker listens");
    }

    /// The next lease that is finished.
    pub(crate) async fn finished(&mut self) -> Finished {
        while self.ready.is_empty() {
            self.ready = self.message().await.expect("the worker is there").finished;
        }
        self.ready.remove(0)
    }

    /// The next start or end of a load; nothing may be finished before it.
    pub(crate) async fn load(&mut self) -> Load {
        loop {
            let message = self.message().await.expect("the worker is there");
            self.ready.extend(message.finished);
            if let [load] = message.loads[..] {
                return load;
            }
            assert!(self.ready.is_empty());
        }
    }

    /// Waits until the worker is gone; nothing may be finished meanwhile.
    pub(crate) async fn gone(&mut self) {
        assert!(self.ready.is_empty());
        while let Some(message) = self.message().await {
            assert!(message.finished.is_empty());
        }
    }
}

/// A host that has this guest compiled.
pub(crate) fn host(name: &'static str) -> (TestHost, Digest) {
    let host = TestHost::start();
    let (bytes, digest) = crate::binary::compiled(name);
    host.store.lock().expect("no panic").compiled.insert(digest, bytes);
    (host, digest)
}

/// A lease for one stage of the guest `liar` or `trivial`.
pub(crate) fn grant(lease: u64, compiled: Digest, response: &str) -> Grant {
    let body = Body { response: response.into(), ..Body::default() };
    Grant {
        lease,
        plugin_digest: vec![0; 32].into(),
        compiled_digest: compiled.0.to_vec().into(),
        stage: "score".into(),
        timeout_us: 30_000_000,
        memory_bytes_max: 64 << 20,
        settings: String::new(),
        request_id: format!("request-{lease}"),
        group: None,
        attempt: 1,
        seed: 7,
        body: body.encode_to_vec().into(),
        input: None,
        last: true,
        tenant_id: vec![7; 16].into(),
        toolchains: None,
        outbound: None,
        traceparent: None,
    }
}

/// A lease of the guest `execute`.
pub(crate) fn execute(lease: u64, compiled: Digest, label: &str, source: &str) -> Grant {
    let body = Body { response: source.into(), label: label.into(), ..Body::default() };
    Grant {
        stage: "run".into(),
        memory_bytes_max: 256 << 20,
        timeout_us: 120_000_000,
        body: body.encode_to_vec().into(),
        ..grant(lease, compiled, "")
    }
}

pub(crate) async fn exit_status(mut child: Child) -> std::process::ExitStatus {
    let waited = tokio::task::spawn_blocking(move || child.wait().expect("our child"));
    tokio::time::timeout(PATIENCE, waited).await.expect("it ends").expect("no panic")
}
