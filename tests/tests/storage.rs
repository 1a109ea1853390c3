//! Storage roots as plugins see them: folders and buckets, granted and not, changed and gone. And as
//! a worker that does not behave sees them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use assay_api::request::Reward;
use assay_core::outcome::{ErrorCode, Outcome};
use assay_postgres::{Cluster, Options};
use assay_tests::{Bucket, Host, HostOptions, Http, Sleepers, Spawned, component, poll, program};
use assay_wire::proto::host_client::HostClient;
use assay_wire::proto::{FromWorker, Hello, ListRequest, StoredRequest};
use serde_json::{Value, json};
use tempfile::TempDir;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

const SOON: Duration = Duration::from_secs(120);
/// An unreachable store is told within this time, however often it is tried.
const TOLD_WITHIN: Duration = Duration::from_secs(60);

/// Folders and the file that names them.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(file: impl FnOnce(&Path) -> String) -> Self {
        // As root PostgreSQL runs as another user, who must get through.
        let folder = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o711))
            .tempdir()
            .expect("a temporary folder");
        let place = Self { folder };
        for name in ["open", "closed"] {
            place.put(&format!("{name}/cases/1.in"), &format!("{name} one"));
        }
        fs::write(place.file(), file(place.folder.path())).expect("writes");
        place
    }

    /// One folder for everybody, one for the tenant `other` alone.
    fn of_folders() -> Self {
        Self::new(|folder| {
            let folder = folder.display();
            format!(
                "[roots.open]\nurl = 'file://{folder}/open'\ntenants = ['*']\n\
                 [roots.closed]\nurl = 'file://{folder}/closed'\ntenants = ['other']\n"
            )
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("within the folder")).expect("makes");
        fs::write(path, text).expect("writes");
    }

    fn file(&self) -> PathBuf {
        self.path("storage.toml")
    }

    fn arguments(&self) -> Vec<String> {
        vec!["--storage".into(), self.file().to_str().expect("a plain path").into()]
    }

    fn serve(&self) -> Host {
        Host::start(HostOptions { arguments: self.arguments(), ..HostOptions::default() })
    }
}

async fn asked(http: &Http, label: Value) -> Outcome {
    let call = json!({ "plugin": "execute@prod", "response": "", "label": label });
    http.post("/v1/rewards", &call).await.json::<Reward>(200).outcome
}

/// An object's text.
async fn got(http: &Http, name: &str) -> String {
    match asked(http, json!({ "storage_get": name })).await {
        Outcome::Scored(scored) => scored.explanation,
        other => panic!("{name}: {other:?}"),
    }
}

async fn names(http: &Http, folder: &str) -> Vec<String> {
    match asked(http, json!({ "storage_names": folder })).await {
        Outcome::Scored(scored) => serde_json::from_str(&scored.explanation).expect("a list"),
        other => panic!("{folder}: {other:?}"),
    }
}

/// Why an object cannot be had. There is no reward then.
async fn refused(http: &Http, name: &str) -> (ErrorCode, String) {
    match asked(http, json!({ "storage_get": name })).await {
        Outcome::Error { code, message, .. } => (code, message),
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test]
async fn a_tenant_reads_what_it_was_granted_and_learns_of_nothing_else() {
    let place = Place::of_folders();
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("execute").await;
    assert_eq!(got(&http, "open/cases/1.in").await, "open one");
    assert_eq!(names(&http, "open").await, ["open/cases/1.in"]);
    assert_eq!(names(&http, "open/cases").await, ["open/cases/1.in"]);
    assert_eq!(names(&http, "open/nothing").await, [""; 0]);

    // A root that was not granted looks like one that does not exist.
    let (denied, told) = refused(&http, "closed/cases/1.in").await;
    let (unknown, of_unknown) = refused(&http, "nowhere/cases/1.in").await;
    assert_eq!((denied, unknown), (ErrorCode::BadRequest, ErrorCode::BadRequest));
    assert_eq!(told.replace("closed", "nowhere"), of_unknown);
    assert_eq!(refused(&http, "closed/not/there").await.1, told);

    let _: Value = http.post("/v1/tenants", &json!({ "name": "other" })).await.json(201);
    let scopes = ["batches:write", "plugins:publish", "plugins:promote"];
    let key = json!({ "tenant": "other", "scopes": scopes });
    let key: Value = http.post("/v1/keys", &key).await.json(201);
    let secret = key["secret"].as_str().expect("it is shown once");
    let client = assay_client::Client::new(&host.url, secret).expect("a client");
    let plugin = client.publish(component("execute").into()).await.expect("publishes");
    let version = assay_api::plugin::PromotePlugin { version: plugin.version };
    client.promote("execute", "prod", &version).await.expect("promotes");
    let other = http.with_key(secret);
    assert_eq!(got(&other, "closed/cases/1.in").await, "closed one");
    assert_eq!(got(&other, "open/cases/1.in").await, "open one");
    assert_eq!(refused(&http, "closed/cases/1.in").await.1, told, "the other's copy is not shown");
}

#[tokio::test]
async fn no_name_leads_out_of_its_root() {
    let place = Place::of_folders();
    place.put("secret", "secret");
    symlink(place.path("secret"), place.path("open/out")).expect("links");
    symlink("../secret", place.path("open/relative")).expect("links");
    symlink(place.folder.path(), place.path("open/up")).expect("links");
    symlink("cases/1.in", place.path("open/within")).expect("links");
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("execute").await;
    assert_eq!(got(&http, "open/within").await, "open one");
    for name in [
        "open/../secret",
        "open/cases/../../secret",
        "open/./cases/1.in",
        "open//cases/1.in",
        "open/cases/1.in/",
        "/open/cases/1.in",
        "../secret",
        "open",
        "open/",
        "open/out",
        "open/relative",
        "open/up/secret",
        "open/cases",
        "",
    ] {
        let (code, told) = refused(&http, name).await;
        assert_eq!(code, ErrorCode::BadRequest, "{name}: {told}");
    }
    assert_eq!(names(&http, "open").await, ["open/cases/1.in", "open/within"]);
}

#[tokio::test]
async fn a_changed_object_is_seen_at_the_next_call() {
    let place = Place::of_folders();
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("execute").await;
    for turn in 0..20 {
        let text = format!("turn {turn:02}");
        place.put("open/cases/1.in", &text);
        assert_eq!(got(&http, "open/cases/1.in").await, text);
        assert_eq!(got(&http, "open/cases/1.in").await, text);
    }
    fs::remove_file(place.path("open/cases/1.in")).expect("removes");
    assert_eq!(refused(&http, "open/cases/1.in").await.0, ErrorCode::BadRequest);

    // A folder that is not mounted is no empty one.
    fs::rename(place.path("open"), place.path("away")).expect("renames");
    let (code, told) = refused(&http, "open/cases/1.in").await;
    assert_eq!(code, ErrorCode::Unavailable, "{told}");
    assert!(!told.contains('/'), "a path of the machine is told: {told}");
}

/// `code` is deterministic but for the tests in storage, so what it said by the test before is not said again.
#[tokio::test]
async fn a_corrected_test_counts_for_equal_requests() {
    let place = Place::of_folders();
    place.put("open/sum/1.in", "1 2\n");
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("assay_plugin_code").await;
    let call = json!({
        "plugin": "code@prod",
        "response": "```python\nprint(sum(map(int, input().split())))\n```",
        "label": { "tests": "open/sum", "language": "python" },
    });
    for (answer, wanted) in [("4\n", 0.0), ("3\n", 1.0)] {
        place.put("open/sum/1.ans", answer);
        let Reward { outcome, shared_from, .. } = http.post("/v1/rewards", &call).await.json(200);
        assert_eq!(outcome.reward(), Some(wanted), "{outcome:?}");
        assert_eq!(shared_from, None);
    }
}

#[tokio::test]
async fn a_bucket_is_read_until_it_cannot_be_reached() {
    // Any text does for a key that no one checks; this one is in every test's environment.
    let bucket = Bucket::open("judge", env!("CARGO_PKG_NAME"));
    for name in ["a/1.in", "a/2.in", "a/3.in", "b/1.in"] {
        bucket.put(&format!("some/prefix/{name}"), format!("{name} there"));
    }
    bucket.put("secret", "secret");
    let options = |endpoint: &str, key: &str| {
        format!(
            "{{ endpoint = '{endpoint}', allow_http = true, region = 'x', \
             access_key_id = '{key}', secret_access_key = 'env:PATH' }}"
        )
    };
    let root = |name: &str, url: &str, key: &str| {
        let options = options(&bucket.endpoint(), key);
        format!("[roots.{name}]\nurl = '{url}'\ntenants = ['*']\noptions = {options}\n")
    };
    let place = Place::new(|_| {
        root("judge", "s3://judge/some/prefix", "env:CARGO_PKG_NAME")
            + &root("wrong-bucket", "s3://nothere", "env:CARGO_PKG_NAME")
            + &root("wrong-key", "s3://judge", "nobody")
    });
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("execute").await;

    assert_eq!(got(&http, "judge/a/1.in").await, "a/1.in there");
    assert_eq!(names(&http, "judge/a").await, ["judge/a/1.in", "judge/a/2.in", "judge/a/3.in"]);
    assert_eq!(names(&http, "judge").await.len(), 4);
    assert_eq!(refused(&http, "judge/a/4.in").await.0, ErrorCode::BadRequest);
    assert_eq!(refused(&http, "judge/../../secret").await.0, ErrorCode::BadRequest);

    // Each of the two workers reads it once and asks whether it changed from then on.
    let _ = bucket.statuses();
    for _ in 0..8 {
        assert_eq!(got(&http, "judge/b/1.in").await, "b/1.in there");
    }
    let statuses = bucket.statuses();
    assert_eq!(statuses.len(), 8, "{statuses:?}");
    assert!(statuses.iter().filter(|status| **status == 304).count() >= 6, "{statuses:?}");
    bucket.put("some/prefix/b/1.in", "changed");
    assert_eq!(got(&http, "judge/b/1.in").await, "changed");

    // The operator's faults are no answer to whether there is such an object.
    for root in ["wrong-bucket", "wrong-key"] {
        let (code, told) = refused(&http, &format!("{root}/a/1.in")).await;
        assert_eq!(code, ErrorCode::Unavailable, "{root}: {told}");
    }
    drop(bucket);
    let started = Instant::now();
    let (code, told) = refused(&http, "judge/b/1.in").await;
    assert_eq!(code, ErrorCode::Unavailable, "what a worker has is not shown: {told}");
    assert!(told.contains("`judge`") && !told.contains("127.0.0.1"), "{told}");
    assert!(started.elapsed() < TOLD_WITHIN, "{:?}", started.elapsed());
    assert!(host.log().contains("storage cannot be read"), "the operator is not told");
}

/// Two servers that take over from each other need a database and a bucket, and no common folder.
#[tokio::test]
async fn the_servers_own_objects_are_in_a_bucket() {
    let bucket = Bucket::open("assay", env!("CARGO_PKG_NAME"));
    let place = Place::new(|_| {
        format!(
            "[objects]\nurl = 's3://assay/cluster'\noptions = {{ endpoint = '{}', allow_http = true, \
             region = 'x', access_key_id = 'env:CARGO_PKG_NAME', secret_access_key = 'env:PATH' }}\n",
            bucket.endpoint()
        )
    });
    let file = place.file();
    let look = async || {
        let mut doctor = Command::new(program("assay"));
        doctor.arg("doctor").arg("--storage").arg(&file);
        let output = doctor.output().expect("assay runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = told.lines().find(|line| line.contains(" objects ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{told}"))
    };
    let found = look().await;
    assert!(found.starts_with("ok") && found.contains("s3://assay/cluster"), "{found}");
    assert_eq!(bucket.names(), [""; 0], "the doctor leaves nothing");

    let folder = tempfile::Builder::new().permissions(Permissions::from_mode(0o711)).tempdir();
    let folder = folder.expect("a temporary folder");
    let cluster = Cluster::start(Options { data: folder.path().to_owned() }).await;
    let cluster = cluster.expect("PostgreSQL starts");
    let options = || HostOptions {
        arguments: place.arguments(),
        database_url: Some(cluster.url().to_owned()),
        ..HostOptions::with_own_postgres()
    };
    let first = Host::start(options());
    first.publish("trivial").await;
    assert!(scored(&Http::new(&first)).await);
    let names = bucket.names();
    // The component, and its compiled code.
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().all(|name| name.starts_with("cluster/")), "{names:?}");
    assert!(!first.data().join("objects").exists());
    let key = first.key.clone();
    drop(first);

    let second = Host::start(options());
    assert!(scored(&Http::new(&second).with_key(&key)).await);
    assert!(!second.data().join("objects").exists());
    drop(second);
    drop(bucket);
    let found = look().await;
    assert!(found.starts_with("FAIL") && !found.contains("env:"), "{found}");
    cluster.stop().await;
}

/// Whether a request has a reward.
async fn scored(http: &Http) -> bool {
    let call = json!({ "plugin": "trivial@prod", "response": "" });
    let outcome = http.post("/v1/rewards", &call).await.json::<Reward>(200).outcome;
    matches!(outcome, Outcome::Scored(_))
}

/// Reads the tokens of the metrics page that begin so.
async fn metrics(http: &Http, begins: &str) -> Vec<String> {
    let page = http.get("/metrics").await;
    let page = String::from_utf8_lossy(&page.body).into_owned();
    page.lines().filter(|line| line.starts_with(begins)).map(str::to_owned).collect()
}

#[tokio::test]
async fn reads_are_counted() {
    let place = Place::of_folders();
    let host = place.serve();
    let http = Http::new(&host);
    host.publish("execute").await;
    got(&http, "open/cases/1.in").await;
    refused(&http, "open/cases/2.in").await;
    names(&http, "open").await;
    let counted = metrics(&http, "assay_storage_").await.join("\n");
    for line in [
        r#"assay_storage_calls_total{kind="folder",call="fetch",outcome="ok"} 1"#,
        r#"assay_storage_calls_total{kind="folder",call="fetch",outcome="not_found"} "#,
        r#"assay_storage_calls_total{kind="folder",call="list",outcome="ok"} 1"#,
        r#"assay_storage_bytes_total{kind="folder"} 8"#,
    ] {
        assert!(counted.contains(line), "{line}\n{counted}");
    }
}

/// The answers to this process, which is no worker but has a worker's ticket and lease.
fn stranger(socket: &Path, ticket: &str, lease: u64) -> [Option<Code>; 4] {
    // Its connection ends with the runtime.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let endpoint = Endpoint::from_shared(format!("unix://{}", socket.display()));
        let channel = endpoint.expect("a path").connect().await.expect("connects");
        let mut client = HostClient::new(channel);
        let (name, known_version) = ("open/cases/1.in".to_owned(), String::new());
        let fetch = StoredRequest { ticket: ticket.into(), lease, name, known_version };
        let fetched = client.fetch_stored(fetch).await.err();
        let list = ListRequest { ticket: ticket.into(), lease, folder: "open".into() };
        let listed = client.list_stored(list).await.err();
        let used = join(&mut client, ticket).await;
        let forged = join(&mut client, &format!("{ticket}0")).await;
        [fetched, listed, used, forged].map(|status| status.map(|status| status.code()))
    })
}

/// Tries to join as a worker of the pool `cpu`; returns the refusal.
async fn join(client: &mut HostClient<Channel>, ticket: &str) -> Option<Status> {
    let hello = Hello { ticket: ticket.into(), pool: "cpu".into(), ..Hello::default() };
    let message = FromWorker { hello: Some(hello), ..FromWorker::default() };
    client.work(tokio_stream::once(message)).await.err()
}

/// A worker whose stage asks for an object and lasts until its file is removed.
#[tokio::test]
async fn only_the_worker_that_holds_a_lease_reads_for_its_tenant() {
    let place = Place::of_folders();
    let sleepers = Sleepers::starting_in(Duration::ZERO);
    let mut arguments = place.arguments();
    arguments.extend(["--worker-program".into(), sleepers.program()]);
    let workers = vec!["cpu=1".into()];
    let host = Host::start(HostOptions { workers, arguments, ..HostOptions::default() });
    let http = Http::new(&host);
    host.publish("trivial").await;
    let file = place.path("asked");
    let response = format!("@{} open/cases/1.in", file.display());
    let call = json!({ "plugin": "trivial@prod", "response": response });
    let reward = tokio::spawn(async move { http.post("/v1/rewards", &call).await });
    let asked = tokio::task::spawn_blocking({
        let file = file.clone();
        move || poll(SOON, "the worker has asked", || fs::read_to_string(&file).ok())
    });
    let asked: Value = serde_json::from_str(&asked.await.expect("it has")).expect("JSON");
    let code = |name: &str| asked[name].as_i64();
    assert_eq!(code("with_own_lease"), Some(Code::Ok as i64), "{asked}");
    assert_eq!(code("with_another_lease"), Some(Code::PermissionDenied as i64));
    assert_eq!(code("with_another_ticket"), Some(Code::Unauthenticated as i64));
    assert_eq!(code("with_a_way_out"), Some(Code::NotFound as i64), "the host checks names, too");

    let ticket = asked["ticket"].as_str().expect("a text").to_owned();
    let lease = asked["lease"].as_u64().expect("a number");
    let socket = host.data().join("workers/socket");
    let codes = tokio::task::spawn_blocking(move || stranger(&socket, &ticket, lease));
    let codes = codes.await.expect("it is answered");
    let denied = Some(Code::PermissionDenied);
    let unknown = Some(Code::Unauthenticated);
    assert_eq!(
        codes,
        [denied, denied, denied, unknown],
        "the ticket is another process's, or nobody's"
    );

    fs::remove_file(&file).expect("the stage may end");
    let reward: Reward = reward.await.expect("no panic").json(200);
    assert_eq!(reward.outcome.reward(), Some(1.0), "{reward:?}");
    let after = tokio::task::spawn_blocking(move || {
        let after = file.with_extension("after");
        poll(SOON, "the worker is refused", || fs::read_to_string(&after).ok())
    });
    let code = (Code::PermissionDenied as i32).to_string();
    assert_eq!(after.await.expect("it is"), code, "its lease has ended");
}

#[test]
fn a_bad_file_or_option_ends_the_start_at_once() {
    let place = Place::new(|_| "[roots.judge]\nurl = 's3://b'\nurls = 'hush'\n".into());
    let data = place.path("data");
    for (arguments, expected) in [
        (place.arguments(), "storage root `judge`: there is no key `urls`"),
        (vec!["--storage".into(), "/nowhere/storage.toml".into()], "/nowhere/storage.toml"),
        (vec!["--toolchains".into(), "/nowhere/at/all".into()], "--toolchains"),
        (vec!["--weaker-sandbox".into(), "cgroups,seccomp".into()], "landlock"),
    ] {
        for verb in ["serve", "dev"] {
            let mut command = Command::new(program("assay"));
            command.arg(verb).args(&arguments).arg("--data").arg(&data);
            let mut started = Spawned::start(&mut command);
            let ended = started.wait(SOON);
            let told = started.stderr();
            assert!(!ended.success() && told.contains(expected), "{arguments:?}\n{told}");
            assert!(!told.contains("hush"), "{told}");
            assert!(!data.join("postgres").exists(), "it ended too late");
        }
    }
}

#[test]
fn dev_tells_of_each_root() {
    let place = Place::of_folders();
    let mut command = Command::new(program("assay"));
    command.args(["dev", "--once", "--listen", "127.0.0.1:0", "--workers", "cpu=1"]);
    command.args(place.arguments()).arg("--data").arg(place.path("data"));
    command.env_remove("ASSAY_STORAGE");
    let mut dev = Spawned::start(&mut command);
    let ended = dev.wait(SOON);
    let told = dev.stderr();
    assert!(ended.success(), "{told}");
    let shown = place.folder.path().display();
    for line in [
        format!("storage root `closed` is file://{shown}/closed, for other"),
        format!("storage root `open` is file://{shown}/open, for all tenants"),
    ] {
        assert!(told.contains(&line), "{line}\n{told}");
    }
}
