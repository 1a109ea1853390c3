//! Releases: published, promoted, rolled back, yanked, while runs go on with what they began with.

use std::process::{Command, Stdio};
use std::time::Duration;

use assay_api::batch::Batch;
use assay_api::key::{Key, Scope};
use assay_api::plugin::PluginList;
use assay_tests::{Host, HostOptions, Http, poll, program, signal, until};
use nix::pty::openpty;
use nix::sys::termios::{LocalFlags, tcgetattr};
use serde_json::{Value, json};

use super::{AuthorFolder, CASE_EVEN, batch, explained};

const SOON: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_release_and_the_way_back() {
    let host = Host::start(HostOptions::default());
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    desk.project("p", "trivial");
    desk.write("p/cases/even.yaml", CASE_EVEN.replace("reward: 1", "reward: 0"));
    // A plugin that fails its own cases is not published.
    let refused = desk.assay(&["plugin", "publish", "p", "--channel", "prod"]);
    explained(&refused, "nothing was published");
    assert!(http.get("/v1/plugins").await.json::<PluginList>(200).items.is_empty());

    desk.write("p/cases/even.yaml", CASE_EVEN);
    let first = desk.json(&["plugin", "publish", "p", "--channel", "prod"], 0);
    let (first, whoever) = (&first[0], &first[0]["published_by"]);
    assert_eq!((&first["channels"], &first["changed"]), (&json!(["prod"]), &json!(true)));
    assert!(whoever.is_string(), "{first:#}");
    let again = desk.assay(&["plugin", "publish", "p", "--channel", "prod"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert!(again.stdout.contains("nothing changed"), "{again:#?}");
    assert_eq!(desk.json(&["plugin", "publish", "p"], 0)[0]["changed"], false);

    let long = batch(&http, "long", "trivial@prod", &["ab"]).await;
    assert_eq!(long.mean_reward, Some(1.0));
    desk.set_component("p", "trivial_next");
    let next = desk.json(&["plugin", "publish", "p", "--skip-cases", "--channel", "prod"], 0);
    assert_eq!(next[0]["version"], "1.1.0");
    // A run keeps what it began with, through a promotion and the way back.
    let same = batch(&http, "long", "trivial@prod", &["ab"]).await;
    assert_eq!((same.plugin_digest, same.mean_reward), (long.plugin_digest, Some(1.0)));
    let new = batch(&http, "new", "trivial@prod", &["ab"]).await;
    assert_eq!((new.plugin.as_str(), new.mean_reward), ("trivial@1.1.0", Some(0.0)));

    let back = desk.assay(&["plugin", "rollback", "trivial", "--channel", "prod"]);
    assert_eq!(back.code, Some(0), "{back:#?}");
    assert!(back.stdout.contains("trivial@prod is 1.0.0 again"), "{back:#?}");
    for (run, plugin) in [("new", &new), ("long", &long)] {
        let same: Batch = batch(&http, run, "trivial@prod", &["ab"]).await;
        assert_eq!(same.plugin_digest, plugin.plugin_digest, "{run}");
    }
    let newest = batch(&http, "newest", "trivial@prod", &["ab"]).await;
    assert_eq!(newest.plugin_digest, long.plugin_digest);
    explained(&desk.assay(&["plugin", "rollback", "trivial", "--channel", "prod"]), "no earlier");
    explained(&desk.assay(&["plugin", "rollback", "trivial", "--channel", "odd"]), "no such");
    audited(&http).await;
    what_is_yanked_is_passed_over(&desk);
}

/// The acts, the latest first.
async fn audited(http: &Http) {
    let audit: Value = http.get("/v1/audit").await.json(200);
    let acts = audit["items"].as_array().expect("acts").iter();
    let act = acts.clone().find(|act| act["action"] == "plugin.rollback").expect("is audited");
    assert_eq!(act["subject"], "trivial@prod");
    assert_eq!(
        (&act["before"]["version"], &act["after"]["version"]),
        (&json!("1.1.0"), &json!("1.0.0"))
    );
}

fn what_is_yanked_is_passed_over(desk: &AuthorFolder) {
    // With 1.0.0 yanked, nothing but what it points to is left to go back to.
    for version in ["trivial@1.1.0", "trivial@1.0.0", "trivial@1.1.0", "trivial@1.1.0"] {
        let _ = desk.json(&["plugin", "promote", version, "--channel", "beta"], 0);
    }
    let yanked = desk.json(&["plugin", "yank", "trivial@1.0.0", "--reason", "wrong"], 0);
    assert_eq!(yanked[0]["yanked"], "wrong");
    explained(&desk.assay(&["plugin", "rollback", "trivial", "--channel", "beta"]), "not yanked");
    let versions = desk.assay(&["plugin", "versions", "trivial"]);
    assert!(versions.stdout.contains("yanked: wrong"), "{versions:#?}");
}

#[tokio::test]
async fn a_key_is_kept_for_its_server_alone() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let desk = AuthorFolder::new(None);
    explained(&desk.assay(&["whoami"]), "assay login");
    let wrong = ["login", "--url", &host.url, "--key", "assay_test_000000000000_00"];
    explained(&desk.assay(&wrong), "unauthenticated");
    assert!(!desk.path("config").exists(), "nothing is kept that does not work");
    let good = desk.assay(&["login", "--url", &host.url, "--key", &host.key]);
    assert_eq!(good.code, Some(0), "{good:#?}");
    assert!(!good.stdout.contains(&host.key));
    let file = desk.path("config/assay/credentials.json");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("is there").permissions());
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(desk.json(&["whoami"], 0)["tenant"], "platform");
    assert_eq!(desk.json(&["whoami", "--url", &host.url], 0)["tenant"], "platform");
    // Another server never sees it.
    explained(&desk.assay(&["whoami", "--url", "http://127.0.0.1:9"]), "no API key");
    assert_eq!(desk.assay(&["logout"]).code, Some(0));
    explained(&desk.assay(&["whoami"]), "assay login");
}

/// Where the prompt for a key is broken off.
#[test]
fn a_terminal_shows_again_what_is_typed() {
    for name in ["INT", "TERM"] {
        let terminal = openpty(None, None).expect("a terminal");
        let shows = || {
            let settings = tcgetattr(&terminal.slave).expect("it has settings");
            settings.local_flags.contains(LocalFlags::ECHO)
        };
        let typed = terminal.slave.try_clone().expect("a copy");
        let mut login = Command::new(program("assay"))
            .args(["login", "--url", "http://127.0.0.1:9"])
            .env_remove("ASSAY_API_KEY")
            .stdin(typed)
            .stderr(Stdio::null())
            .spawn()
            .expect("assay runs");
        poll(SOON, "it asks for a key", || (!shows()).then_some(()));
        signal(login.id(), name);
        let ended = poll(SOON, "it ends", || login.try_wait().expect("it is our child"));
        assert!(!ended.success() && shows(), "{name}: {ended}");
    }
}

/// A run's lines come page by page, each once, and narrowed by verdict and level.
#[tokio::test]
async fn logs_of_a_run_are_found() {
    let host = Host::start(HostOptions::default());
    let (http, desk) = (Http::new(&host), AuthorFolder::new(Some(&host)));
    let plugin = host.publish("assay_plugin_hello").await;
    let mut batches = Vec::new();
    for _ in 0..2 {
        let responses = ["Answer: 42", "Answer: 41", "Answer: 42", "none"];
        batches.push(batch(&http, "talks", &plugin, &responses).await.id.to_string());
    }
    let all = until("its lines", async || {
        let lines: Value = http.get("/v1/runs/talks/logs").await.json(200);
        (lines["items"].as_array().expect("lines").len() == 6).then_some(lines)
    })
    .await;
    let all = &all["items"];
    let ids = all.as_array().expect("lines").iter().map(|line| line["request"].as_str());
    let ids: Vec<_> = ids.map(|id| id.expect("an id").to_owned()).collect();
    let of = |id: &String| (0..3).map(|seq| format!("{id}.{seq}")).collect::<Vec<_>>();
    let expected: Vec<String> = batches.iter().rev().flat_map(of).collect();
    assert_eq!(ids, expected, "the newest batch first");

    let mut paged = Vec::new();
    let mut after = String::new();
    loop {
        let page: Value = http.get(&format!("/v1/runs/talks/logs?limit=2{after}")).await.json(200);
        paged.extend(page["items"].as_array().expect("lines").clone());
        match page["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(&Value::Array(paged), all, "each once, and no more");
    let wrong = desk.json(&["logs", "--run", "talks", "--verdict", "wrong"], 0);
    assert_eq!(wrong.as_array().map(Vec::len), Some(2), "{wrong:#}");
    let errors = desk.json(&["logs", "--run", "talks", "--level", "error"], 0);
    assert_eq!(errors, json!([]));
    let told = desk.assay(&["logs", "--run", "talks", "--limit", "1"]);
    assert!(told.stdout.contains("success  score info  comparing"), "{told:#?}");
    explained(&desk.assay(&["logs", "--run", "talks", "--level", "loud"]), "`loud`");
    explained(&desk.assay(&["logs", "--run", "silent"]), "no such run");
    for after in ["x", "1.2.3", &format!("{}.0", batches[0])] {
        let _ = http
            .get(&format!("/v1/runs/talks/logs?after={after}"))
            .await
            .problem(400, "bad_request");
    }
}

#[tokio::test]
async fn a_component_is_for_those_who_publish() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let _ = host.publish("trivial").await;
    let path = "/v1/plugins/trivial/versions/1.0.0/component";
    let answer = http.get(path).await;
    assert_eq!(
        (answer.status, answer.headers["content-type"].as_bytes()),
        (200, &b"application/wasm"[..])
    );
    assert_eq!(answer.body, assay_tests::component("trivial"));
    let _ =
        http.get("/v1/plugins/trivial/versions/9.9.9/component").await.problem(404, "not_found");
    let reader = json!({ "scopes": [Scope::BatchesRead, Scope::BatchesWrite] });
    let reader: Key = http.post("/v1/keys", &reader).await.json(201);
    let reader = http.with_key(&reader.secret.expect("shown once"));
    let _ = reader.get(path).await.problem(403, "scope_missing");
}
