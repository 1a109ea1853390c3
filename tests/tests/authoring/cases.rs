//! Golden cases travel with an upload, and the server runs them before there is a version.

use assay_api::key::{Key, Scope};
use assay_api::plugin::{CaseCounts, GoldenCase, GoldenCaseList, GoldenCaseState};
use assay_api::plugin::{Plugin, PluginList};
use assay_core::limits;
use assay_tests::{Answer, Host, HostOptions, Http, checkout, component};
use serde_json::{Value, json};

use super::{AuthorFolder, CASE_EVEN, explained};

const BOUNDARY: &str = "the-boundary";

/// No worker of a pool is needed to run golden cases.
fn host() -> Host {
    Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() })
}

fn case(name: &str, response: &str, expect: &str) -> String {
    format!("name: {name}\nrequest: {{response: {response}}}\nexpect: {{{expect}}}\n")
}

/// Sends parts of a form, each with its name, file name and bytes.
async fn send(http: &Http, query: &str, parts: &[(&str, &str, &[u8])]) -> Answer {
    let mut form = Vec::new();
    for (name, file, bytes) in parts {
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"; \
             filename=\"{file}\"\r\n\r\n"
        );
        form.extend_from_slice(head.as_bytes());
        form.extend_from_slice(bytes);
        form.extend_from_slice(b"\r\n");
    }
    form.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    http.post_bytes(&format!("/v1/plugins{query}"), &kind, form).await
}

/// Uploads a guest with cases, each with its file name.
async fn upload(http: &Http, guest: &str, cases: &[(&str, &str)]) -> Answer {
    let component = component(guest);
    let mut parts: Vec<(&str, &str, &[u8])> = vec![("component", "p.wasm", &component)];
    parts.extend(cases.iter().map(|(file, text)| ("case", *file, text.as_bytes())));
    send(http, "", &parts).await
}

async fn cases_of(http: &Http, plugin: &Plugin) -> Vec<GoldenCase> {
    let path = format!("/v1/plugins/{}/versions/{}/cases", plugin.name, plugin.version);
    http.get(&path).await.json::<GoldenCaseList>(200).items
}

async fn nothing_is_published(http: &Http) {
    assert!(http.get("/v1/plugins").await.json::<PluginList>(200).items.is_empty());
}

async fn publication(http: &Http) -> Value {
    let audit: Value = http.get("/v1/audit").await.json(200);
    let mut acts = audit["items"].as_array().expect("acts").iter();
    acts.find(|act| act["action"] == "plugin.publish").expect("is audited").clone()
}

#[tokio::test]
async fn cases_that_pass_stand_with_their_version() {
    let host = host();
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    desk.project("p", "trivial");
    desk.write("p/cases/even.yaml", CASE_EVEN);
    desk.write("p/cases/more/odd.yml", case("odd", "abc", "outcome: scored, reward: 0"));
    let told = desk.assay(&["plugin", "publish", "p"]);
    assert_eq!(told.code, Some(0), "{told:#?}");
    assert!(told.stdout.contains("cases: 2 passed"), "{told:#?}");
    let versions = desk.assay(&["plugin", "versions", "trivial"]);
    assert!(versions.stdout.contains("cases: 2 passed"), "{versions:#?}");

    let list: PluginList = http.get("/v1/plugins/trivial").await.json(200);
    let plugin = &list.items[0];
    let counts = CaseCounts { passed: 2, ..CaseCounts::default() };
    assert_eq!(plugin.golden_cases, counts);
    let cases = cases_of(&http, plugin).await;
    let files: Vec<_> = cases.iter().map(|case| (case.file.as_str(), case.name.as_str())).collect();
    assert_eq!(files, [("even.yaml", "even"), ("more/odd.yml", "odd")]);
    for (case, reward) in cases.iter().zip(["1", "0"]) {
        assert_eq!(case.state, GoldenCaseState::Passed, "{case:?}");
        assert_eq!(case.expected, format!("scored, reward {reward}"), "{case:?}");
        assert!(case.actual.starts_with(&case.expected) && case.ran_ms > 0.0, "{case:?}");
    }
    assert_eq!(publication(&http).await["after"]["golden_cases"]["passed"], 2);
    let again = desk.json(&["plugin", "publish", "p"], 0);
    assert_eq!(again[0]["changed"], false);
    let _ = http.get("/v1/plugins/trivial/versions/9.9.9/cases").await.problem(404, "not_found");

    // A client that sends a component alone publishes as before.
    let plain = host.client().publish(component("trivial_next").into()).await.expect("publishes");
    assert_eq!(plain.golden_cases, CaseCounts::default());
    assert!(cases_of(&http, &plain).await.is_empty());
    let versions = desk.assay(&["plugin", "versions", "trivial"]);
    assert!(versions.stdout.contains("no golden cases"), "{versions:#?}");
}

#[tokio::test]
async fn a_case_that_fails_leaves_no_version_and_an_administrator_may_skip_it() {
    let host = host();
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    desk.project("p", "trivial");
    desk.write("p/cases/good.yaml", CASE_EVEN);
    desk.write("p/cases/wrong.yaml", case("wrong", "ab", "outcome: scored, reward: 0.5"));
    let refused = desk.assay(&["plugin", "publish", "p", "--no-test"]);
    explained(&refused, "1 of 2 golden cases failed");
    explained(
        &refused,
        "`wrong` in `wrong.yaml` expected scored, reward 0.5, and got scored, reward 1",
    );
    nothing_is_published(&http).await;

    let publisher = json!({ "scopes": [Scope::PluginsPublish, Scope::BatchesRead] });
    let publisher: Key = http.post("/v1/keys", &publisher).await.json(201);
    let publisher = http.with_key(&publisher.secret.expect("shown once"));
    let component = component("trivial");
    let wrong = case("wrong", "ab", "outcome: scored, reward: 0.5");
    let parts: &[(&str, &str, &[u8])] =
        &[("component", "p.wasm", &component), ("case", "wrong.yaml", wrong.as_bytes())];
    let problem = send(&publisher, "", parts).await.problem(422, "golden_case_failed");
    assert!(problem.hint.is_some_and(|hint| hint.contains("--skip-cases")));
    let _ = send(&publisher, "?skip_cases=true", parts).await.problem(403, "scope_missing");
    let _ = send(&publisher, "?skip_cases=maybe", parts).await.problem(400, "bad_request");
    nothing_is_published(&http).await;

    let skipped = desk.json(&["plugin", "publish", "p", "--skip-cases"], 0);
    assert_eq!(skipped[0]["golden_cases"], json!({ "passed": 0, "not_run": 0, "skipped": 2 }));
    let list: PluginList = publisher.get("/v1/plugins/trivial").await.json(200);
    let cases = cases_of(&publisher, &list.items[0]).await;
    assert!(cases.iter().all(|case| case.state == GoldenCaseState::Skipped), "{cases:?}");
    let act = publication(&http).await;
    assert_eq!(act["after"]["golden_cases"]["skipped"], 2, "{act:#}");
    let versions = desk.assay(&["plugin", "versions", "trivial"]);
    assert!(versions.stdout.contains("cases: 2 skipped"), "{versions:#?}");
}

/// The files below a folder.
fn files(folder: &std::path::Path) -> usize {
    let entries =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable"));
    entries.map(|it| if it.path().is_dir() { files(&it.path()) } else { 1 }).sum()
}

#[tokio::test]
async fn an_upload_whose_cases_fail_leaves_nothing() {
    let host = host();
    let http = Http::new(&host);
    let left = || {
        let compilations = host.psql().rows("select digest from compilations").len();
        let folders = ["objects", "scratch"].map(|folder| files(&host.data().join(folder)));
        (compilations, folders)
    };
    let before = left();
    let wrong = case("wrong", "ab", "outcome: scored, reward: 0.5");
    let refused = upload(&http, "trivial", &[("wrong.yaml", &wrong)]).await;
    let _ = refused.problem(422, "golden_case_failed");
    assert_eq!(left(), before);
    let _: Plugin = upload(&http, "trivial", &[("even.yaml", CASE_EVEN)]).await.json(201);
    let (compilations, [objects, scratch]) = before;
    // The component, its compiled form and the case.
    assert_eq!(left(), (compilations + 1, [objects + 3, scratch]));
}

#[tokio::test]
async fn a_case_that_no_schema_takes_is_an_error_of_the_upload() {
    let host = host();
    let http = Http::new(&host);
    let label = "name: a number\nrequest: {response: 'Answer: 4', label: 4}\n\
                 expect: {outcome: error, code: bad_request}\n";
    let problem = upload(&http, "assay_plugin_hello", &[("label.yaml", label)]).await;
    let problem = problem.problem(422, "golden_case_failed");
    assert!(problem.detail.contains("`label.yaml`: label must be of type string"), "{problem:?}");
    let settings = "name: a setting\nsettings: {tolerance: 7}\n\
                    request: {response: '4', label: '4'}\nexpect: {outcome: scored}\n";
    let problem = upload(&http, "assay_plugin_math", &[("settings.yaml", settings)]).await;
    let problem = problem.problem(422, "golden_case_failed");
    assert!(problem.detail.contains("`settings.yaml`: settings at `/tolerance`"), "{problem:?}");
    nothing_is_published(&http).await;
}

/// The simulated device runs kernels, and nothing compiles them.
#[tokio::test]
async fn a_case_of_a_server_without_a_cuda_toolkit_is_not_run() {
    let host = Host::start(HostOptions {
        workers: vec!["cpu=0".into()],
        arguments: ["--gpu", "simulated"].map(str::to_owned).into(),
        ..HostOptions::default()
    });
    let http = Http::new(&host);
    let client = host.client();
    let tenants = client.tenants().await.expect("lists").items;
    let patch = json!({ "grants": { "gpu": true } });
    client.set_tenant(&tenants[0].name, &patch).await.expect("grants");
    let case = checkout().join("plugins/cuda/cases/no_time.yaml");
    let case = std::fs::read_to_string(case).expect("a case");
    let upload = upload(&http, "assay_plugin_cuda", &[("no_time.yaml", &case)]).await;
    let plugin: Plugin = upload.json(201);
    let cases = cases_of(&http, &plugin).await;
    assert_eq!(cases[0].state, GoldenCaseState::NotRun, "{cases:?}");
    assert!(cases[0].reason.contains("there is no CUDA toolkit"), "{cases:?}");
}

#[tokio::test]
async fn a_failure_of_the_machine_fails_no_case() {
    let host = host();
    let http = Http::new(&host);
    let good = case("good", "count", "outcome: scored, reward: 1");
    let down = case("down", "unavailable", "outcome: scored, reward: 1");
    let answer = upload(&http, "liar", &[("a.yaml", &good), ("b.yaml", &down)]).await;
    let problem = answer.problem(503, "cases_unavailable");
    assert!(
        problem.detail.contains("`b.yaml`") && problem.detail.contains("no GPU"),
        "{problem:?}"
    );
    assert!(answer.headers.contains_key("retry-after"));
    nothing_is_published(&http).await;
    // It passes where it is expected, as it does on an author's machine.
    let expected = case("down", "unavailable", "outcome: error, code: unavailable");
    let _: Plugin = upload(&http, "liar", &[("b.yaml", &expected)]).await.json(201);
}

#[tokio::test]
async fn a_case_without_its_grant_is_not_run_and_says_why() {
    let host = host();
    let http = Http::new(&host);
    let client = host.client();
    let tenants = client.tenants().await.expect("lists").items;
    let patch = json!({ "grants": { "hosts": ["https://granted.test"] } });
    client.set_tenant(&tenants[0].name, &patch).await.expect("grants");
    let asks = "name: asks\nrequest: {response: a, label: {send: {url: 'https://other.test/'}}}\n\
                expect: {outcome: scored, verdict: answered}\n";
    let waits = "name: waits\nrequest: {response: a, label: {sleep: {ms: 1}}}\n\
                 expect: {outcome: scored}\n";
    let cases = [("asks.yaml", asks), ("waits.yaml", waits)];
    let plugin: Plugin = upload(&http, "requester", &cases).await.json(201);
    let counts = CaseCounts { passed: 1, not_run: 1, skipped: 0 };
    assert_eq!(plugin.golden_cases, counts);
    let cases = cases_of(&http, &plugin).await;
    assert_eq!(cases[0].state, GoldenCaseState::NotRun, "{cases:?}");
    assert!(cases[0].reason.contains("was not granted https://other.test"), "{cases:?}");
}

#[tokio::test]
async fn storage_of_the_tenant_is_read_and_no_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("judge");
    std::fs::create_dir(&root).expect("makes it");
    std::fs::write(root.join("object"), "forty-two").expect("writes");
    let file = folder.path().join("storage.toml");
    let text = |name: &str, tenants: &str| {
        format!("[roots.{name}]\nurl = \"file://{}\"\ntenants = [{tenants}]\n", root.display())
    };
    std::fs::write(&file, text("mine", "\"*\"") + &text("theirs", "\"nobody\"")).expect("writes");
    let host = Host::start(HostOptions {
        workers: vec!["cpu=0".into()],
        arguments: vec!["--storage".into(), file.display().to_string()],
        ..HostOptions::default()
    });
    let http = Http::new(&host);
    let reads = |name: &str| {
        format!(
            "name: reads\nrequest: {{response: a, label: {{storage_get: {name}}}}}\n\
             expect: {{outcome: scored, verdict: no_such_verdict}}\n"
        )
    };
    let (mine, theirs) = (reads("mine/object"), reads("theirs/object"));
    let problem = upload(&http, "execute", &[("mine.yaml", &mine)]).await;
    let problem = problem.problem(422, "golden_case_failed");
    assert!(problem.detail.contains("forty-two"), "{problem:?}");
    let plugin: Plugin = upload(&http, "execute", &[("theirs.yaml", &theirs)]).await.json(201);
    let cases = cases_of(&http, &plugin).await;
    assert_eq!(cases[0].state, GoldenCaseState::NotRun, "{cases:?}");
    assert!(cases[0].reason.contains("not granted a storage root `theirs`"), "{cases:?}");
    assert!(!cases[0].actual.contains("forty-two"), "{cases:?}");
}

#[tokio::test]
async fn forms_are_bounded_and_well_formed() {
    let host = host();
    let http = Http::new(&host);
    let component = component("trivial");
    let whole = ("component", "p.wasm", &component[..]);
    let even = ("case", "even.yaml", CASE_EVEN.as_bytes());
    let names: Vec<String> =
        (0..=limits::GOLDEN_CASES_MAX).map(|at| format!("{at}.yaml")).collect();
    let mut many = vec![whole];
    many.extend(names.iter().map(|name| ("case", name.as_str(), CASE_EVEN.as_bytes())));
    let large = vec![b' '; limits::GOLDEN_CASE_BYTES_MAX + 1];
    let full = vec![b' '; limits::GOLDEN_CASE_BYTES_MAX];
    let mut heavy = vec![whole];
    heavy.extend(names.iter().take(17).map(|name| ("case", name.as_str(), &full[..])));
    for (what, parts, status, code, words) in [
        ("many", many, 413, "too_large", "257 golden cases, the limit is 256"),
        ("large", vec![whole, ("case", "a", &large)], 413, "too_large", "`case`"),
        ("heavy", heavy, 413, "too_large", "bytes in all"),
        ("bytes", vec![whole, ("case", "a", &b"\xff\xfe"[..])], 400, "bad_request", "UTF-8"),
        ("no name", vec![whole, ("case", "", even.2)], 400, "bad_request", "1 to 256 bytes"),
        ("one name", vec![whole, even, even], 400, "bad_request", "`even.yaml`"),
        ("two", vec![whole, whole], 400, "bad_request", "one `component`"),
        ("none", vec![even], 400, "bad_request", "no part `component`"),
        ("other", vec![whole, ("x", "y", &b"z"[..])], 400, "bad_request", "a part `x`"),
    ] {
        let problem = send(&http, "", &parts).await.problem(status, code);
        assert!(problem.detail.contains(words), "{what}: {problem:?}");
    }
    for (kind, body) in [
        ("multipart/form-data", "x"),
        ("multipart/form-data; boundary=b", "x"),
        ("multipart/form-data; boundary=b", "--b\r\n\r\n"),
    ] {
        let _ = http.post_bytes("/v1/plugins", kind, body).await.problem(400, "bad_request");
    }
    nothing_is_published(&http).await;
}

#[tokio::test]
async fn hostile_cases_are_failures_like_others() {
    let host = host();
    let http = Http::new(&host);
    let bomb = {
        let mut text = "a: &a [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for (name, before) in ('b'..='z').zip('a'..) {
            let aliases = vec![format!("*{before}"); 9].join(", ");
            text.push_str(&format!("{name}: &{name} [{aliases}]\n"));
        }
        text
    };
    let deep = "[".repeat(100_000);
    let endless = case("spins", "spin", "outcome: scored");
    let greedy = case("greedy", "allocate", "outcome: scored");
    for (what, text) in [
        ("an alias bomb", bomb.as_str()),
        ("deep nesting", &deep),
        ("text", "it passes"),
        ("nothing", ""),
        (
            "unknown fields",
            "name: a\nrequest: {response: a}\nexpect: {outcome: scored}\nrun: /bin/sh\n",
        ),
        ("no expectation", "name: a\nrequest: {response: count}\n"),
        ("an endless stage", &endless),
        ("memory", &greedy),
    ] {
        let problem = upload(&http, "liar", &[("a.yaml", text)]).await;
        let problem = problem.problem(422, "golden_case_failed");
        assert!(problem.detail.contains("`a.yaml`"), "{what}: {problem:?}");
        assert!(problem.detail.len() < 8_192, "{what}: {problem:?}");
    }
    nothing_is_published(&http).await;
    // Names are text, whatever stands in them.
    let name = format!("name: \"\\0\\e[31m{}\"\n", "x".repeat(1_000));
    let text = name + "request: {response: count}\nexpect: {outcome: scored, reward: 1}\n";
    let file = "../../<b>';--.yaml";
    let plugin: Plugin = upload(&http, "liar", &[(file, &text)]).await.json(201);
    let cases = cases_of(&http, &plugin).await;
    assert_eq!(cases[0].file, file);
    assert!(cases[0].name.len() <= limits::GOLDEN_NAME_BYTES_MAX, "{cases:?}");
    assert!(!cases[0].name.contains(|c: char| c.is_control()), "{cases:?}");
}
