//! An API server of Kubernetes with one node, for Pods alone: each Pod that gets a place is a real process.
//!
//! Lists, watches with bookmarks, refusals and deletions are as Kubernetes documents them. Tests change what there is room
//! for, cut watches, forget old changes, and take nodes or the server away.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::watch;

/// An image that no registry has.
pub(crate) const MISSING_IMAGE: &str = "registry.test/missing:1";

/// The cluster; ended with the test, with all of its Pods.
pub(crate) struct Cluster {
    inner: Arc<Inner>,
    folder: TempDir,
    runtime: Option<tokio::runtime::Runtime>,
}

struct Inner {
    state: Mutex<ClusterState>,
    /// The version of the last change, or how often watches were cut.
    changed: watch::Sender<(u64, u64)>,
}

struct ClusterState {
    version: u64,
    /// Changes up to this version are forgotten.
    forgotten: u64,
    pods: BTreeMap<String, Value>,
    changes: Vec<(u64, &'static str, Value)>,
    /// How each Pod with a place is to end: within so many seconds.
    ends: BTreeMap<String, watch::Sender<Option<u64>>>,
    /// The Pods that the node has room for.
    places: usize,
    quota: usize,
    is_away: bool,
    /// The calls so far, as verbs.
    verbs: Vec<String>,
}

impl Cluster {
    pub(crate) fn start(places: usize) -> Self {
        let state = ClusterState {
            version: 1,
            forgotten: 0,
            pods: BTreeMap::new(),
            changes: Vec::new(),
            ends: BTreeMap::new(),
            places,
            quota: usize::MAX,
            is_away: false,
            verbs: Vec::new(),
        };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: watch::Sender::default() });
        // Servers under test are waited for by threads that would not run it.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let router = Router::new()
            .route("/api/v1/namespaces/assay/pods", get(list_or_watch).post(create))
            .route("/api/v1/namespaces/assay/pods/{name}", get(refuse).delete(delete))
            .fallback(refuse)
            .with_state(Arc::clone(&inner));
        runtime.spawn(async {
            axum::serve(TcpListener::from_std(listener).expect("a listener"), router).await
        });
        let folder = tempfile::tempdir().expect("a folder");
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "test",
            "clusters": [{ "name": "test", "cluster": { "server": url } }],
            "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test", "namespace": "assay" } }],
            "users": [{ "name": "test", "user": {} }],
        });
        let written = std::fs::write(folder.path().join("kubeconfig"), kubeconfig.to_string());
        written.expect("writes");
        Self { inner, folder, runtime: Some(runtime) }
    }

    /// The variables with which a server finds it.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let path = self.folder.path().join("kubeconfig");
        vec![("KUBECONFIG".into(), path.to_str().expect("a plain path").into())]
    }

    /// A file for `--kubernetes` with these pools.
    pub(crate) fn file(&self, pools: &Value) -> String {
        let path = self.folder.path().join("pools.yaml");
        // JSON is YAML.
        std::fs::write(&path, json!({ "pools": pools }).to_string()).expect("writes");
        path.to_str().expect("a plain path").into()
    }

    fn state(&self) -> MutexGuard<'_, ClusterState> {
        self.inner.state.lock().expect("whole")
    }

    /// The names of all Pods that are not on their way out.
    pub(crate) fn pods(&self) -> Vec<String> {
        let state = self.state();
        let stays = |pod: &Value| pod["metadata"].get("deletionTimestamp").is_none();
        state.pods.iter().filter(|(_, pod)| stays(pod)).map(|(name, _)| name.clone()).collect()
    }

    pub(crate) fn verbs(&self) -> Vec<String> {
        self.state().verbs.clone()
    }

    /// From now on there is room for so many Pods on the node.
    pub(crate) fn set_places(&self, places: usize) {
        let _context = self.runtime.as_ref().expect("it runs").enter();
        self.state().places = places;
        self.inner.schedule();
    }

    /// From now on the namespace may have so many Pods.
    pub(crate) fn set_quota(&self, quota: usize) {
        self.state().quota = quota;
    }

    /// Whether it answers every call with 503.
    pub(crate) fn set_away(&self, is_away: bool) {
        self.state().is_away = is_away;
        self.cut();
    }

    /// Ends all watches.
    pub(crate) fn cut(&self) {
        self.inner.changed.send_modify(|(_, cuts)| *cuts += 1);
    }

    /// Forgets all changes so far: a watch cannot go on from them.
    pub(crate) fn forget_changes(&self) {
        let mut state = self.state();
        state.forgotten = state.version;
        state.changes.clear();
    }

    /// Empties the node of a Pod: it gets SIGTERM and half a minute.
    pub(crate) fn evict(&self, name: &str) {
        self.inner.change(name, |pod| {
            let why = json!({
                "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting"
            });
            let conditions = pod["status"]["conditions"].as_array_mut();
            conditions.expect("conditions").push(why);
        });
        self.inner.end(name, 30);
    }

    /// Kills what a Pod runs.
    pub(crate) fn kill(&self, name: &str) {
        if let Some(end) = self.state().ends.get(name) {
            end.send_replace(Some(0));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Its processes end with their tasks.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl ClusterState {
    fn note(&mut self, kind: &'static str, name: &str) {
        self.version += 1;
        let version = self.version;
        if let Some(pod) = self.pods.get_mut(name) {
            pod["metadata"]["resourceVersion"] = json!(version.to_string());
            self.changes.push((version, kind, pod.clone()));
        }
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, ClusterState> {
        self.state.lock().expect("whole")
    }

    fn changed(&self) {
        let version = self.state().version;
        self.changed.send_modify(|(last, _)| *last = version);
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Value)) {
        {
            let mut state = self.state();
            let Some(pod) = state.pods.get_mut(name) else { return };
            change(pod);
            state.note("MODIFIED", name);
        }
        self.changed();
    }

    fn remove(&self, name: &str) {
        {
            let mut state = self.state();
            state.note("DELETED", name);
            state.pods.remove(name);
            state.ends.remove(name);
        }
        self.changed();
    }

    /// Deletes a Pod: at once if it has no place or nobody is to wait for its node.
    fn end(self: &Arc<Self>, name: &str, grace: u64) {
        let running = self.state().ends.get(name).cloned();
        match running.filter(|_| grace > 0) {
            Some(end) => {
                self.change(name, |pod| {
                    pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                    pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
                });
                end.send_replace(Some(grace));
            }
            None => self.remove(name),
        }
        self.schedule();
    }

    /// Gives places to Pods, and says of the others why they have none. Must be called on a runtime.
    fn schedule(self: &Arc<Self>) {
        let waiting: Vec<(String, Value)> = {
            let state = self.state();
            let waits = |name: &String| !state.ends.contains_key(name);
            let pending = |pod: &Value| pod["status"]["phase"] == "Pending";
            let all = state.pods.iter().filter(|(name, pod)| waits(name) && pending(pod));
            all.map(|(name, pod)| (name.clone(), pod.clone())).collect()
        };
        for (name, pod) in waiting {
            let is_full = {
                let state = self.state();
                state.ends.len() >= state.places
            };
            if is_full {
                let why = json!([{
                    "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                    "message": "0/1 nodes are available: 1 Insufficient cpu."
                }]);
                if pod["status"]["conditions"] != why {
                    self.change(&name, |pod| pod["status"]["conditions"] = why);
                }
                continue;
            }
            let container = &pod["spec"]["containers"][0];
            let placed = json!([{ "type": "PodScheduled", "status": "True" }]);
            if container["image"] == MISSING_IMAGE {
                let waiting =
                    json!({ "waiting": { "reason": "ImagePullBackOff", "message": "not found" } });
                self.change(&name, |pod| pod["status"] = status("Pending", &placed, &waiting));
                continue;
            }
            let (end, asked) = watch::channel(None);
            self.state().ends.insert(name.clone(), end);
            let child = process(container);
            self.change(&name, |pod| {
                pod["status"] = status("Running", &placed, &json!({ "running": {} }));
            });
            tokio::spawn(Arc::clone(self).live(name, child, asked));
        }
    }

    /// Waits for the end of what a Pod runs.
    async fn live(
        self: Arc<Self>,
        name: String,
        mut child: Child,
        mut asked: watch::Receiver<Option<u64>>,
    ) {
        let mut stderr = child.stderr.take().expect("it is piped");
        let reading = tokio::spawn(async move {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text).await;
            String::from_utf8_lossy(&text).into_owned()
        });
        let pid = child.id().expect("it runs").to_string();
        let stopped = async {
            let grace = asked.wait_for(Option::is_some).await.ok().and_then(|grace| *grace);
            if let Some(grace) = grace.filter(|grace| *grace > 0) {
                let _ = Command::new("kill").args(["-TERM", &pid]).status().await;
                tokio::time::sleep(Duration::from_secs(grace)).await;
            }
        };
        let ended = tokio::select! {
            ended = child.wait() => ended,
            () = stopped => {
                let _ = child.start_kill();
                child.wait().await
            }
        };
        let code = ended.ok().and_then(|status| status.code()).unwrap_or(137);
        let printed = reading.await.unwrap_or_default();
        let deleted = self
            .state()
            .pods
            .get(&name)
            .is_none_or(|pod| pod["metadata"].get("deletionTimestamp").is_some());
        if deleted {
            self.remove(&name);
        } else {
            self.state().ends.remove(&name);
            let (phase, reason) =
                if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
            let last: Vec<&str> = printed.lines().rev().take(3).collect();
            let ended = json!({ "exitCode": code, "reason": reason, "message": last.join("\n") });
            let placed = json!([{ "type": "PodScheduled", "status": "True" }]);
            self.change(&name, |pod| {
                pod["status"] = status(phase, &placed, &json!({ "terminated": ended }));
            });
        }
        self.schedule();
    }
}

fn status(phase: &str, conditions: &Value, state: &Value) -> Value {
    let container = json!({
        "name": "worker", "image": "a", "imageID": "", "ready": true, "restartCount": 0, "state": state
    });
    json!({ "phase": phase, "conditions": conditions, "containerStatuses": [container] })
}

/// The process of a container.
fn process(container: &Value) -> Child {
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.map(|text| text.as_str().expect("a text").to_owned()).collect()
    };
    let command = texts(&container["command"]);
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).args(texts(&container["args"])).env_clear();
    process.env("PATH", "/usr/bin:/bin");
    for variable in container["env"].as_array().into_iter().flatten() {
        let text = |key: &str| variable[key].as_str().expect("a text");
        process.env(text("name"), text("value"));
    }
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    process.spawn().expect("the program of the container runs")
}

/// An answer that refuses.
fn refused(code: u16, reason: &str, message: &str) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": message, "code": code
    });
    (StatusCode::from_u16(code).expect("a status"), axum::Json(status)).into_response()
}

/// A server that is away refuses everything.
fn away(inner: &Inner, verb: &str) -> Option<Response> {
    let mut state = inner.state();
    state.verbs.push(verb.to_owned());
    state.is_away.then(|| refused(503, "ServiceUnavailable", "the server is shutting down"))
}

/// The rights are few: nothing else is allowed.
async fn refuse(State(inner): State<Arc<Inner>>, method: Method, uri: Uri) -> Response {
    let _ = away(&inner, &format!("{method} {uri}"));
    refused(403, "Forbidden", &format!("{method} {uri} is forbidden"))
}

async fn create(State(inner): State<Arc<Inner>>, body: Bytes) -> Response {
    if let Some(away) = away(&inner, "create") {
        return away;
    }
    let mut pod: Value = serde_json::from_slice(&body).expect("JSON");
    let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
    {
        let mut state = inner.state();
        if state.pods.contains_key(&name) {
            return refused(409, "AlreadyExists", &format!("pods \"{name}\" already exists"));
        }
        let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
        if image.contains(' ') {
            let message = format!(
                "Pod \"{name}\" is invalid: spec.containers[0].image: Invalid value: \"{image}\""
            );
            return refused(422, "Invalid", &message);
        }
        if state.pods.len() >= state.quota {
            let message =
                format!("pods \"{name}\" is forbidden: exceeded quota: few, requested: pods=1");
            return refused(403, "Forbidden", &message);
        }
        pod["status"] = json!({ "phase": "Pending" });
        pod["metadata"]["namespace"] = json!("assay");
        state.pods.insert(name.clone(), pod);
        state.note("ADDED", &name);
    }
    inner.changed();
    let made = inner.state().pods[&name].clone();
    inner.schedule();
    (StatusCode::CREATED, axum::Json(made)).into_response()
}

async fn delete(
    State(inner): State<Arc<Inner>>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    if let Some(away) = away(&inner, "delete") {
        return away;
    }
    let pod = inner.state().pods.get(&name).cloned();
    let Some(pod) = pod else {
        return refused(404, "NotFound", &format!("pods \"{name}\" not found"));
    };
    let options: Value = serde_json::from_slice(&body).unwrap_or_default();
    let own = pod["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap_or(30);
    inner.end(&name, options["gracePeriodSeconds"].as_u64().unwrap_or(own));
    axum::Json(pod).into_response()
}

/// Whether a Pod has the label `name=value` of a selector.
fn is_selected(pod: &Value, selector: Option<&String>) -> bool {
    let Some((name, value)) = selector.and_then(|selector| selector.split_once('=')) else {
        return true;
    };
    pod["metadata"]["labels"][name] == value
}

async fn list_or_watch(
    State(inner): State<Arc<Inner>>,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let watches = query.get("watch").is_some_and(|watch| watch == "true" || watch == "1");
    if let Some(away) = away(&inner, if watches { "watch" } else { "list" }) {
        return away;
    }
    let selector = query.get("labelSelector").cloned();
    if watches {
        let version = query.get("resourceVersion").and_then(|version| version.parse().ok());
        return watch_from(inner, version.unwrap_or(0), selector);
    }
    let state = inner.state();
    let items: Vec<_> =
        state.pods.values().filter(|pod| is_selected(pod, selector.as_ref())).collect();
    let metadata = json!({ "resourceVersion": state.version.to_string() });
    let list =
        json!({ "kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items });
    axum::Json(list).into_response()
}

/// A stream of changes since a version, with a bookmark behind them.
fn watch_from(inner: Arc<Inner>, version: u64, selector: Option<String>) -> Response {
    if version < inner.state().forgotten {
        let message = format!("too old resource version: {version}");
        return refused(410, "Expired", &message);
    }
    let mut changed = inner.changed.subscribe();
    let (_, cuts) = *changed.borrow_and_update();
    let next = (inner, changed, version, selector);
    let stream = futures_util::stream::unfold(
        next,
        move |(inner, mut changed, last, selector)| async move {
            loop {
                let (_, now) = *changed.borrow_and_update();
                if now != cuts {
                    return None;
                }
                let (new, version) = {
                    let state = inner.state();
                    let new = state.changes.iter().filter(|(version, ..)| *version > last);
                    let new = new.filter(|(.., pod)| is_selected(pod, selector.as_ref()));
                    let new = new.map(|(_, kind, pod)| json!({ "type": kind, "object": pod }));
                    (new.collect::<Vec<_>>(), state.version)
                };
                if !new.is_empty() {
                    let metadata = json!({ "resourceVersion": version.to_string() });
                    let bookmark = json!({
                        "type": "BOOKMARK",
                        "object": { "kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": { "containers": [] } }
                    });
                    let lines = new.iter().chain([&bookmark]).map(|event| format!("{event}\n"));
                    let lines = Ok::<_, Infallible>(Bytes::from(lines.collect::<String>()));
                    return Some((lines, (inner, changed, version, selector)));
                }
                if changed.changed().await.is_err() {
                    return None;
                }
            }
        },
    );
    Body::from_stream(stream).into_response()
}
