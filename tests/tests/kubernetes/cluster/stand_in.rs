//! An API server of Kubernetes for Pods alone. Lists, watches with bookmarks, refusals, deletions, tokens and their reviews
//! are as Kubernetes documents them. The server under test may do what the project's Role says, and nothing else; for
//! it alone watches are cut, old changes forgotten, and the API server is away.

mod tokens;
mod watches;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, patch, post};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::rights::rights;
use tokens::MadeToken;

/// The tokens of those who call.
pub(super) const ADMIN: &str = "admin";
pub(super) const SERVER: &str = "server";

pub(super) struct StandIn {
    inner: Arc<Inner>,
    url: String,
}

struct Inner {
    state: Mutex<StandInState>,
    /// The version of the last change, or how often watches were cut.
    changed: watch::Sender<(u64, u64)>,
}

struct StandInState {
    version: u64,
    /// Changes up to this version are forgotten.
    forgotten: u64,
    pods: BTreeMap<String, Value>,
    changes: Vec<(u64, &'static str, Value)>,
    quota: usize,
    is_away: bool,
    /// The calls of the server so far.
    calls: Vec<String>,
    tokens: BTreeMap<String, MadeToken>,
}

type Shared = State<Arc<Inner>>;

impl StandIn {
    pub(super) fn start(runtime: &Handle) -> Self {
        let state = StandInState {
            version: 1,
            forgotten: 0,
            pods: BTreeMap::new(),
            changes: Vec::new(),
            quota: usize::MAX,
            is_away: false,
            calls: Vec::new(),
            tokens: BTreeMap::new(),
        };
        let inner = Arc::new(Inner { state: Mutex::new(state), changed: watch::Sender::default() });
        let _context = runtime.enter();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let pods = "/api/v1/namespaces/assay/pods";
        let router = Router::new()
            .route(pods, get(list_or_watch).post(create))
            .route(&format!("{pods}/{{name}}"), get(read).delete(delete))
            .route(&format!("{pods}/{{name}}/status"), patch(set_status))
            .route(&format!("{pods}/{{name}}/binding"), post(bind))
            .route("/api/v1/namespaces/assay/serviceaccounts/{name}/token", post(tokens::make))
            .route("/apis/authentication.k8s.io/v1/tokenreviews", post(tokens::review))
            .fallback(forbidden)
            .with_state(Arc::clone(&inner));
        let listener = TcpListener::from_std(listener).expect("a listener");
        runtime.spawn(async { axum::serve(listener, router).await });
        Self { inner, url }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn calls(&self) -> Vec<String> {
        self.inner.state().calls.clone()
    }

    pub(super) fn set_quota(&self, quota: usize) {
        self.inner.state().quota = quota;
    }

    pub(super) fn set_away(&self, is_away: bool) {
        self.inner.state().is_away = is_away;
    }

    pub(super) fn cut(&self) {
        self.inner.changed.send_modify(|(_, cuts)| *cuts += 1);
    }

    pub(super) fn forget_changes(&self) {
        let mut state = self.inner.state();
        state.forgotten = state.version;
    }
}

impl StandInState {
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
    fn state(&self) -> MutexGuard<'_, StandInState> {
        self.state.lock().expect("whole")
    }

    /// Changes the Pods, and tells the watches.
    fn change<T>(&self, change: impl FnOnce(&mut StandInState) -> T) -> T {
        let (changed, version) = {
            let mut state = self.state();
            (change(&mut state), state.version)
        };
        self.changed.send_modify(|(last, _)| *last = version);
        changed
    }

    /// Refuses what the caller has no right to, and everything of the server while this is away.
    fn refusal(&self, headers: &HeaderMap, call: &str) -> Option<Response> {
        if is_by(headers, ADMIN) {
            return None;
        }
        let mut state = self.state();
        state.calls.push(call.to_owned());
        if !is_by(headers, SERVER) || !rights().contains(call) {
            return Some(refused(403, "Forbidden", &format!("no right to {call}")));
        }
        state.is_away.then(|| refused(503, "ServiceUnavailable", "the server is shutting down"))
    }
}

fn is_by(headers: &HeaderMap, who: &str) -> bool {
    headers.get("authorization").is_some_and(|it| *it == format!("Bearer {who}"))
}

/// An answer that refuses.
fn refused(code: u16, reason: &str, message: &str) -> Response {
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "reason": reason, "message": message, "code": code
    });
    (StatusCode::from_u16(code).expect("a status"), axum::Json(status)).into_response()
}

fn not_found(name: &str) -> Response {
    refused(404, "NotFound", &format!("pods \"{name}\" not found"))
}

fn uid() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("randomness");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rights are few: nothing else is allowed.
async fn forbidden(State(inner): Shared, headers: HeaderMap, method: Method, uri: Uri) -> Response {
    let call = format!("{method} {uri}");
    let _ = inner.refusal(&headers, &call);
    refused(403, "Forbidden", &format!("{call} is forbidden"))
}

async fn create(State(inner): Shared, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refused) = inner.refusal(&headers, "create pods") {
        return refused;
    }
    let mut pod: Value = serde_json::from_slice(&body).expect("JSON");
    let name = pod["metadata"]["name"].as_str().expect("a name").to_owned();
    inner.change(|state| {
        if state.pods.contains_key(&name) {
            return refused(409, "AlreadyExists", &format!("pods \"{name}\" already exists"));
        }
        let image = pod["spec"]["containers"][0]["image"].as_str().unwrap_or_default();
        if image.trim() != image {
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
        pod["metadata"]["uid"] = json!(uid());
        state.pods.insert(name.clone(), pod);
        state.note("ADDED", &name);
        (StatusCode::CREATED, axum::Json(state.pods[&name].clone())).into_response()
    })
}

async fn read(State(inner): Shared, headers: HeaderMap, Path(name): Path<String>) -> Response {
    if let Some(refused) = inner.refusal(&headers, "get pods") {
        return refused;
    }
    let pod = inner.state().pods.get(&name).cloned();
    pod.map_or_else(|| not_found(&name), |pod| axum::Json(pod).into_response())
}

/// Deletes a Pod: at once if it has no node, has ended, or nobody is to wait for its node.
async fn delete(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    if let Some(refused) = inner.refusal(&headers, "delete pods") {
        return refused;
    }
    let options: Value = serde_json::from_slice(&body).unwrap_or_default();
    inner.change(|state| {
        let Some(pod) = state.pods.get_mut(&name) else { return not_found(&name) };
        let wanted = options.pointer("/preconditions/uid");
        if wanted.is_some_and(|wanted| *wanted != pod["metadata"]["uid"]) {
            return refused(409, "Conflict", "the UID in the precondition does not match");
        }
        let own = pod["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap_or(30);
        let grace = options["gracePeriodSeconds"].as_u64().unwrap_or(own);
        let has_ended = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let was = pod.clone();
        if grace == 0 || has_ended || pod["spec"].get("nodeName").is_none() {
            state.note("DELETED", &name);
            state.pods.remove(&name);
        } else {
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            let before = pod["metadata"]["deletionGracePeriodSeconds"].as_u64();
            let grace = before.map_or(grace, |before| before.min(grace));
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(grace);
            state.note("MODIFIED", &name);
        }
        axum::Json(was).into_response()
    })
}

async fn set_status(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    if let Some(refused) = inner.refusal(&headers, "patch pods/status") {
        return refused;
    }
    let change: Value = serde_json::from_slice(&body).expect("JSON");
    modify(&inner, &name, |pod| {
        for (key, value) in change["status"].as_object().expect("an object") {
            pod["status"][key] = value.clone();
        }
    })
}

async fn bind(
    State(inner): Shared,
    headers: HeaderMap,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    if let Some(refused) = inner.refusal(&headers, "create pods/binding") {
        return refused;
    }
    let binding: Value = serde_json::from_slice(&body).expect("JSON");
    modify(&inner, &name, |pod| {
        pod["spec"]["nodeName"] = binding["target"]["name"].clone();
        pod["status"]["conditions"] = json!([{ "type": "PodScheduled", "status": "True" }]);
    })
}

fn modify(inner: &Inner, name: &str, change: impl FnOnce(&mut Value)) -> Response {
    inner.change(|state| {
        let Some(pod) = state.pods.get_mut(name) else { return not_found(name) };
        change(pod);
        state.note("MODIFIED", name);
        axum::Json(state.pods[name].clone()).into_response()
    })
}

async fn list_or_watch(
    State(inner): Shared,
    headers: HeaderMap,
    Query(query): Query<BTreeMap<String, String>>,
) -> Response {
    let watches = query.get("watch").is_some_and(|watch| watch == "true" || watch == "1");
    let call = if watches { "watch pods" } else { "list pods" };
    if let Some(refused) = inner.refusal(&headers, call) {
        return refused;
    }
    let selector = query.get("labelSelector").cloned();
    if watches {
        let version = query.get("resourceVersion").and_then(|version| version.parse().ok());
        let is_cut = is_by(&headers, SERVER);
        return watches::watch_from(inner, version.unwrap_or(0), selector, is_cut);
    }
    let state = inner.state();
    let pods = state.pods.values();
    let items: Vec<_> = pods.filter(|pod| watches::is_selected(pod, selector.as_ref())).collect();
    let metadata = json!({ "resourceVersion": state.version.to_string() });
    let list =
        json!({ "kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items });
    axum::Json(list).into_response()
}
