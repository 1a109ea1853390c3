//! A server without workers, on a database of its own: what is asked is kept, and nothing is ever computed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use assay_core::id::Digest;
use assay_core::limits;
use assay_core::plugin::{Description, Stage};
use assay_dispatch::planning::{PlannerPlace, PoolDefaults};
use assay_dispatch::tenants::Tenants;
use assay_dispatch::{Dispatch, Parts, PlanConfig, Plugins, Policy, ReadyPlugin};
use assay_fleet::{Fleet, Launcher, Reconciling, Start, Stop};
use assay_http::bootstrap::{self, FirstAdmin, FirstKey, Installation};
use assay_http::{App, Front, Inside, Peer, SignInConfig};
use assay_postgres::{Cluster, Options};
use assay_registry::{CaseSettings, Registry, RegistrySettings};
use assay_storage::Roots;
use assay_storage::blob::Blobs;
use assay_store::Store;
use assay_store::admissions::BatchRow;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt as _;

type Failure = Box<dyn std::error::Error + Send + Sync>;

const TENANT: &str = "main";
const ENVIRONMENT: &str = "fuzz";
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// What the worker program says that it compiled.
const COMPILED: &str = "compiled";
const LABEL_SCHEMA: &str = r#"{"type":"object","properties":{"a":{"type":"number"}}}"#;

/// A server whose parts run as long as the process.
pub struct Server {
    pub router: Router,
    pub world: World,
    _cluster: Cluster,
    _stop: watch::Sender<bool>,
}

/// What a call can name: the server made it.
#[derive(Default)]
pub struct World(Vec<(&'static str, String)>);

impl World {
    /// The text with each `{name}` replaced.
    pub fn fill(&self, text: &[u8]) -> Vec<u8> {
        let mut filled = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'{', rest) {
            filled.extend_from_slice(&rest[..at]);
            rest = &rest[at..];
            let named = self.0.iter().find(|(name, _)| rest.starts_with(name.as_bytes()));
            let (taken, put) = match named {
                Some((name, value)) => (name.len(), value.as_bytes()),
                None => (1, &b"{"[..]),
            };
            filled.extend_from_slice(put);
            rest = &rest[taken..];
        }
        filled.extend_from_slice(rest);
        filled
    }
}

impl Server {
    pub async fn start() -> Result<Self, Failure> {
        let folder = tempfile::tempdir()?.keep();
        let cluster = Cluster::start(Options { data: folder.clone() }).await?;
        end_with_this_process(&cluster, &folder)?;
        let store = Store::connect(cluster.url()).await?;
        let first_key = FirstKey { tenant: TENANT.into(), file: "first.key" };
        let set_up =
            Installation { data: &folder, first_key: &first_key, environment: ENVIRONMENT };
        let key = bootstrap::first_key(&store, &set_up).await?;
        let first_admin = FirstAdmin::wanted(&store, &set_up).await?;
        let token = FirstAdmin::read_token(&folder).ok_or("there is a token")?;

        let registry = Arc::new(registry(&store, &folder).await?);
        let dispatch = dispatch(&store, &registry).await?;
        let inside = Inside {
            store,
            dispatch,
            registry,
            remote_workers: None,
            roots: Roots::default(),
            metrics: PrometheusBuilder::new().build_recorder().handle(),
            retention_changed: Arc::default(),
            looked_at: watch::Sender::default(),
            samples: Default::default(),
            first_admin,
            traced_part: Some(1.0),
        };
        let front = Front {
            url: "http://localhost".parse()?,
            environment: ENVIRONMENT.into(),
            sign_in: SignInConfig::default(),
        };
        let (stop, stopping) = watch::channel(false);
        let app = App::new(inside, front, stopping)?;
        app.restore().await?;
        let router = assay_http::router(Arc::new(app));
        let world = furnish(&router, key, &token).await?;
        Ok(Self { router, world, _cluster: cluster, _stop: stop })
    }
}

/// The engine leaves by `_exit` when it found something: a shell sees the end of this process by the end of its input.
fn end_with_this_process(cluster: &Cluster, folder: &Path) -> Result<(), Failure> {
    let script = r#"trap "" INT TERM; cat >/dev/null; kill -QUIT "$1"; sleep 1; rm -rf "$2""#;
    let pid = cluster.pid().ok_or("the database is up")?.to_string();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", script, "sh", &pid]).arg(folder).stdin(Stdio::piped());
    // Its input must stay open.
    std::mem::forget(shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?);
    Ok(())
}

/// A registry whose worker program takes every component for the same plugin.
async fn registry(store: &Store, folder: &Path) -> Result<Registry, Failure> {
    let stage = Stage {
        name: "score".into(),
        pool: "cpu".into(),
        timeout_ms: 1_000,
        memory_bytes_max: 1 << 20,
        retries_max: 1,
    };
    let description = Description {
        name: "p".into(),
        version: "1".into(),
        summary: "A plugin".into(),
        stages: vec![stage],
        settings_schema: LABEL_SCHEMA.into(),
        label_schema: LABEL_SCHEMA.into(),
        timeout_reward: 0.0,
        deterministic: true,
    };
    let report = json!({ "ok": {
        "digest": Digest::of(COMPILED.as_bytes()),
        "compiled_digest": Digest::of(COMPILED.as_bytes()),
        "engine": ENVIRONMENT,
        "description": description,
        "imports": [],
        "recalled": false,
    }});
    let script = format!(
        "#!/bin/sh\ncase $1 in\nengine) echo {ENVIRONMENT} ;;\n\
         compile) printf {COMPILED} >\"$4\" || exit 1; printf '%s' '{report}' ;;\nesac\n"
    );
    let program = folder.join("worker");
    std::fs::write(&program, script)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700))?;
    let objects = folder.join("objects");
    std::fs::create_dir(&objects)?;
    let cases = CaseSettings {
        arguments: Vec::new(),
        cache: folder.join("cache"),
        roots: Roots::default(),
    };
    let blobs = Blobs::in_folder(&objects)?;
    let settings = RegistrySettings {
        worker_program: program,
        scratch: folder.join("scratch"),
        architectures: Vec::new(),
        cases,
    };
    Ok(Registry::open(store.clone(), blobs, settings).await?)
}

async fn dispatch(store: &Store, registry: &Arc<Registry>) -> Result<Dispatch, Failure> {
    let (fleet, failures) = Fleet::new(|_| NoWorkers);
    let pool_defaults = PoolDefaults {
        costs: BTreeMap::new(),
        startup: Default::default(),
        linger: Default::default(),
    };
    let parts = Parts {
        store: store.clone(),
        fleet,
        failures,
        plan: PlanConfig::new(Policy::FIXED, BTreeMap::new()),
        planner: PlannerPlace::Thread,
        preempt_after: None,
        hedge_after: None,
        pool_defaults,
        tenants: Arc::new(Tenants::new(store.tenants().await?, Arc::default())),
        history: Vec::new(),
        traces: None,
        artifact_bytes_max: limits::ARTIFACT_LIVE_BYTES_MAX,
    };
    let (dispatch, mut tasks) = Dispatch::start(parts, OnePlugin(Arc::clone(registry))).await?;
    tokio::spawn(async move {
        // One that has nothing to do any more may end.
        while let Some(ended) = tasks.join_next().await {
            ended.expect("a part of the dispatcher did not fail");
        }
    });
    Ok(dispatch)
}

struct NoWorkers;

impl Launcher for NoWorkers {
    fn name(&self) -> &'static str {
        "none"
    }

    fn start(&self, _: Vec<Start>) {}

    fn stop(&self, _: assay_core::id::TicketId, _: Stop) {}

    fn reconcile(&self) -> Reconciling<'_> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

struct OnePlugin(Arc<Registry>);

impl Plugins for OnePlugin {
    async fn of(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        Ok(self.0.pinned(row.tenant, &row.plugin, &row.version).await?)
    }

    async fn described(&self, row: &BatchRow) -> anyhow::Result<Arc<ReadyPlugin>> {
        self.of(row).await
    }
}

/// Signs a person in and makes one of each thing that calls name.
async fn furnish(router: &Router, key: String, token: &str) -> Result<World, Failure> {
    let person = json!({
        "token": token, "email": "a@example.com", "name": "A", "password": "a long password of A",
    });
    let (cookie, session) = call(router, "POST /v1/bootstrap", None, person.to_string()).await?;
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let call = async |what: &str, body: Value| {
        call(router, what, Some(&key), body.to_string()).await.map(|(_, answer)| answer)
    };
    let text = |value: &Value, name: &str| match &value[name] {
        Value::String(text) => Ok(text.clone()),
        _ => Err(format!("{value} has no {name}")),
    };
    call("POST /v1/plugins", json!("a component")).await?;
    call("PUT /v1/plugins/p/channels/stable", json!({ "version": "1" })).await?;
    let run = json!({ "plugin": "p@1", "run": "r", "iteration": 1 });
    let batch = text(&call("POST /v1/batches", run).await?, "id")?;
    let ended = json!({ "plugin": "p@1", "run": "ended", "iteration": 1 });
    let ended = text(&call("POST /v1/batches", ended).await?, "id")?;
    let item = json!([{ "key": "a", "response": "b", "label": { "a": 1 } }]);
    let sent = call(&format!("POST /v1/batches/{batch}/requests"), item).await?;
    let request = text(&sent["items"][0], "id")?;
    call("POST /v1/tenants", json!({ "name": "other" })).await?;
    let other = json!({ "tenant": "other", "name": "k", "scopes": ["batches:read"] });
    let other = text(&call("POST /v1/keys", other).await?, "id")?;
    let member = json!({ "email": "b@example.com", "role": "viewer" });
    let member = call("POST /v1/members", member).await?;
    let hosts = json!({ "grants": { "hosts": ["hooks.example.com"] } });
    call("PATCH /v1/tenants/main", hosts).await?;
    let hook = json!({ "name": "h", "url": "https://hooks.example.com/" });
    let hook = text(&call("POST /v1/webhooks", hook).await?, "id")?;
    Ok(World(vec![
        ("{key}", key.clone()),
        ("{cookie}", cookie),
        ("{csrf}", text(&session, "csrf")?),
        ("{person}", text(&member, "person")?),
        ("{invitation}", text(&member["invitation"], "token")?),
        ("{batch}", batch),
        ("{ended}", ended),
        ("{request}", request),
        ("{key-id}", other),
        ("{webhook}", hook),
    ]))
}

/// The cookie and the body of an answer that is no refusal.
async fn call(
    router: &Router,
    what: &str,
    key: Option<&str>,
    body: String,
) -> Result<(String, Value), Failure> {
    let (method, path) = what.split_once(' ').ok_or("a method and a path")?;
    let mut call = Request::builder().method(method).uri(path);
    call = call.extension(Peer(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    if let Some(key) = key {
        call = call.header(header::AUTHORIZATION, format!("Bearer {key}"));
    }
    let answer = router.clone().oneshot(call.body(Body::from(body))?).await?;
    let (status, cookie) = (answer.status(), answer.headers().get(header::SET_COOKIE));
    let cookie = cookie.map(|cookie| cookie.to_str().map(str::to_owned)).transpose()?;
    let body = to_bytes(answer.into_body(), ANSWER_BYTES_MAX).await?;
    if !status.is_success() {
        return Err(format!("{what}: {}", String::from_utf8_lossy(&body)).into());
    }
    Ok((cookie.unwrap_or_default(), serde_json::from_slice(&body).unwrap_or_default()))
}
