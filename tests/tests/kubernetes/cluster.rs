//! A cluster of Kubernetes for one test: an API server, and one node that runs each Pod as a process.
//!
//! The API server is the tests' own (`stand_in`), which can also fail, or the one that `ASSAY_TEST_KUBECONFIG` names as
//! its administrator: each test has a namespace of its own there, and a service account with the project's rights alone.

mod access;
mod node;
mod rights;
mod stand_in;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use access::Access;
pub(crate) use node::MISSING_IMAGE;
use node::Node;
pub(crate) use rights::rights;
use stand_in::StandIn;

/// The file of an administrator of a real API server.
const KUBECONFIG: &str = "ASSAY_TEST_KUBECONFIG";
/// The service account of the server under test.
const SERVER: &str = "assay";
/// The service account of Pods.
const PODS: &str = "default";

/// The cluster; ended with the test, with all of its Pods.
pub(crate) struct Cluster {
    admin: Access,
    node: Arc<Node>,
    stand_in: Option<StandIn>,
    folder: TempDir,
    runtime: Option<Runtime>,
}

impl Cluster {
    /// A cluster whose node has room for so many Pods.
    pub(crate) async fn start(places: usize) -> Self {
        match administrator() {
            Some(kubeconfig) => Self::real(kubeconfig, places).await,
            None => Self::stand_in(places).await,
        }
    }

    /// The same, for tests of an API server's faults; `None` with a real one, whose faults are nobody's to make.
    pub(crate) async fn with_faults(places: usize) -> Option<Self> {
        if administrator().is_some() {
            eprintln!("SKIPPED: a real API server is not made to fail");
            return None;
        }
        Some(Self::stand_in(places).await)
    }

    async fn stand_in(places: usize) -> Self {
        let runtime = runtime();
        let stand_in = StandIn::start(runtime.handle());
        let url = stand_in.url().to_owned();
        // A client lives on the threads where it was made.
        let made = runtime.spawn(async move { Access::by_token(&url, stand_in::ADMIN).await });
        let admin = made.await.expect("a client");
        let server = admin.kubeconfig(stand_in::SERVER);
        Self::new(runtime, admin, &server, Some(stand_in), places)
    }

    async fn real(kubeconfig: String, places: usize) -> Self {
        let runtime = runtime();
        let opened = runtime.spawn(async move {
            let admin = Access::by_file(&kubeconfig).await;
            admin.open_namespace(&[SERVER, PODS]).await;
            for document in rights::documents(&admin.namespace) {
                admin.create_document(&document).await;
            }
            let token = admin.token(SERVER, &json!({ "expirationSeconds": 3_600 })).await;
            let server = admin.kubeconfig(&token);
            (admin, server)
        });
        let (admin, server) = opened.await.expect("the namespace is made");
        Self::new(runtime, admin, &server, None, places)
    }

    fn new(
        runtime: Runtime,
        admin: Access,
        server: &Value,
        stand_in: Option<StandIn>,
        places: usize,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let written = std::fs::write(folder.path().join("kubeconfig"), server.to_string());
        written.expect("writes");
        let node = Node::start(runtime.handle(), admin.clone(), folder.path().into(), places);
        Self { admin, node, stand_in, folder, runtime: Some(runtime) }
    }

    /// The variables with which a server finds it.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let path = self.folder.path().join("kubeconfig");
        vec![("KUBECONFIG".into(), path.to_str().expect("a plain path").into())]
    }

    /// A file for `--kubernetes` with these pools.
    pub(crate) fn file(&self, pools: &Value) -> String {
        self.file_of(&json!({ "pools": pools }))
    }

    pub(crate) fn file_of(&self, content: &Value) -> String {
        let path = self.folder.path().join("pools.yaml");
        // JSON is YAML.
        std::fs::write(&path, content.to_string()).expect("writes");
        path.to_str().expect("a plain path").into()
    }

    /// A file with this text, such as a token.
    pub(crate) fn file_with(&self, text: &str) -> String {
        let path = self.folder.path().join("text");
        std::fs::write(&path, text).expect("writes");
        path.to_str().expect("a plain path").into()
    }

    /// The namespace of the Pods.
    pub(crate) fn namespace(&self) -> &str {
        &self.admin.namespace
    }

    /// The names of all Pods that are not on their way out.
    pub(crate) async fn pods(&self) -> Vec<String> {
        let pods = self.by_admin(async |admin| admin.pods().await).await.into_iter();
        let stay = pods.filter(|pod| pod["metadata"].get("deletionTimestamp").is_none());
        stay.map(|pod| pod["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
    }

    pub(crate) async fn pod(&self, name: &str) -> Value {
        let name = name.to_owned();
        self.by_admin(async move |admin| admin.pod(&name).await.expect("it is there")).await
    }

    /// Makes a Pod that no server has asked for.
    pub(crate) async fn create_pod(&self, pod: &Value) -> Value {
        let pod = pod.clone();
        self.by_admin(async move |admin| admin.create("pods", &pod).await).await
    }

    /// Deletes a Pod, as somebody who may.
    pub(crate) async fn delete(&self, name: &str, grace: u64) {
        let name = name.to_owned();
        self.by_admin(async move |admin| admin.delete(&name, grace).await).await;
    }

    /// A token for this audience, of a Pod or of none.
    pub(crate) async fn token(&self, audience: &str, pod: Option<&Value>) -> String {
        let spec = access::token_spec(audience, pod);
        self.by_admin(async move |admin| admin.token(PODS, &spec).await).await
    }

    /// The calls of the server so far; `None` with a real API server, which refuses those that it has no right to.
    pub(crate) fn calls(&self) -> Option<BTreeSet<String>> {
        Some(self.stand_in.as_ref()?.calls().into_iter().collect())
    }

    /// The number of such calls of the server so far.
    pub(crate) fn count(&self, call: &str) -> usize {
        self.faults().calls().iter().filter(|made| *made == call).count()
    }

    /// From now on there is room for so many Pods on the node.
    pub(crate) fn set_places(&self, places: usize) {
        self.node.set_places(places);
    }

    /// From now on the namespace may have so many Pods.
    pub(crate) async fn set_quota(&self, quota: usize) {
        match &self.stand_in {
            Some(stand_in) => stand_in.set_quota(quota),
            None => self.by_admin(async move |admin| admin.set_quota(quota).await).await,
        }
    }

    /// Whether the API server answers every call of the server with 503.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.faults().set_away(is_away);
        self.cut();
    }

    /// Ends the server's watches.
    pub(crate) fn cut(&self) {
        self.faults().cut();
    }

    /// Forgets all changes so far: a watch cannot go on from them.
    pub(crate) fn forget_changes(&self) {
        self.faults().forget_changes();
    }

    fn faults(&self) -> &StandIn {
        self.stand_in.as_ref().expect("such tests begin by `with_faults`")
    }

    /// Says that a Pod is to be taken away, for this reason; nobody has told its worker.
    pub(crate) async fn disrupt(&self, name: &str, reason: &str) {
        let (name, reason) = (name.to_owned(), reason.to_owned());
        self.by_admin(async move |admin| admin.disrupt(&name, &reason).await).await;
    }

    /// Empties the node of a Pod: it gets SIGTERM and half a minute.
    pub(crate) async fn evict(&self, name: &str) {
        self.disrupt(name, "EvictionByEvictionAPI").await;
        self.delete(name, 30).await;
    }

    /// Kills what a Pod runs.
    pub(crate) fn kill(&self, name: &str) {
        self.node.kill(name);
    }

    /// The answer of a call by the administrator, on the cluster's own threads.
    async fn by_admin<T: Send + 'static, F>(&self, call: impl FnOnce(Access) -> F) -> T
    where
        F: Future<Output = T> + Send + 'static,
    {
        let called = call(self.admin.clone());
        let runtime = self.runtime.as_ref().expect("it runs");
        runtime.spawn(called).await.expect("the call ends")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        if self.stand_in.is_none() {
            let (admin, node) = (self.admin.clone(), Arc::clone(&self.node));
            let (told, ended) = std::sync::mpsc::channel();
            runtime.spawn(async move {
                node.stop();
                admin.close_namespace(rights::names_in_cluster(&admin.namespace)).await;
                let _ = told.send(());
            });
            // Objects that stay are in a namespace of their own.
            let _ = ended.recv_timeout(Duration::from_secs(60));
        }
        // The processes end with their tasks, before this process does. A test's own runtime may not be kept waiting
        // by another one's end, so a thread waits for it.
        let ending = std::thread::spawn(move || runtime.shutdown_timeout(Duration::from_secs(10)));
        let _ = ending.join();
    }
}

/// The file of a real API server's administrator, if the tests are to use one.
fn administrator() -> Option<String> {
    std::env::var(KUBECONFIG).ok().filter(|path| !path.is_empty())
}

/// Servers under test are waited for by threads that would not run the cluster.
fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
}
