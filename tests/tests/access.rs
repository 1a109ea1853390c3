//! Who may do what: every route of the OpenAPI document, with every kind of key.

use std::collections::BTreeSet;

use assay_model::api::{Key, KeyList, PluginList, Reward, Scope, Tenant};
use assay_model::time::Micros;
use assay_tests::{Answer, Host, HostOptions, Http, Psql, until};
use reqwest::Method;
use serde_json::{Value, json};

/// What another tenant gets for an id that is not its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    NotFound,
    /// The call names nobody else's things: what comes has none of them either.
    Own,
}

/// One method of one path, with a body that would be taken.
struct Route {
    method: Method,
    path: &'static str,
    body: Value,
    scope: Scope,
    foreign: Foreign,
}

/// Every route that there is; one that the document has and this table has not fails the test.
fn routes() -> Vec<Route> {
    use Foreign::{NotFound, Own};
    use Scope::{Admin, BatchesRead, BatchesWrite, PluginsPromote, PluginsPublish};
    let announce = json!({ "plugin": "platform/trivial@prod", "run": "theirs" });
    let reward = json!({ "plugin": "trivial@prod", "response": "" });
    let promote = json!({ "version": "1.0.0" });
    let key = json!({ "scopes": ["batches:read"] });
    let none = || Value::Null;
    let item = json!([{ "key": "theirs", "response": "" }]);
    [
        (Method::POST, "/v1/batches", announce, BatchesWrite, NotFound),
        (Method::GET, "/v1/batches/{id}", none(), BatchesRead, NotFound),
        (Method::POST, "/v1/batches/{id}/requests", item, BatchesWrite, NotFound),
        (Method::POST, "/v1/batches/{id}/seal", json!({}), BatchesWrite, NotFound),
        (Method::POST, "/v1/batches/{id}/cancel", none(), BatchesWrite, NotFound),
        (Method::GET, "/v1/batches/{id}/results", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/batches/{id}/events", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/batches/{id}/profile", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/runs/{run}/history", none(), BatchesRead, NotFound),
        (Method::POST, "/v1/rewards", reward, BatchesWrite, NotFound),
        (Method::GET, "/v1/requests/{id}", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/requests/{id}/logs", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/requests/{id}/artifacts/{stage}", none(), BatchesRead, NotFound),
        (Method::GET, "/v1/plugins", none(), BatchesRead, Own),
        (Method::POST, "/v1/plugins", none(), PluginsPublish, Own),
        (Method::GET, "/v1/plugins/{name}", none(), BatchesRead, NotFound),
        (Method::PUT, "/v1/plugins/{name}/channels/{channel}", promote, PluginsPromote, NotFound),
        (
            Method::POST,
            "/v1/plugins/{name}/versions/{version}/yank",
            json!({ "reason": "theirs" }),
            PluginsPromote,
            NotFound,
        ),
        (Method::GET, "/v1/tenants", none(), Admin, Own),
        (Method::POST, "/v1/tenants", json!({ "name": "a-third" }), Admin, Own),
        (Method::GET, "/v1/keys", none(), Admin, Own),
        (Method::POST, "/v1/keys", key, Admin, Own),
        (Method::POST, "/v1/keys/{id}/revoke", none(), Admin, NotFound),
        (Method::GET, "/v1/capacity", none(), Admin, Own),
        (Method::PUT, "/v1/capacity/{pool}", json!({ "min": 0, "max": 2 }), Admin, Own),
        (Method::GET, "/metrics", none(), Admin, Own),
    ]
    .map(|(method, path, body, scope, foreign)| Route { method, path, body, scope, foreign })
    .into()
}

/// A tenant with a batch, a request and a plugin, and a server around it.
struct World {
    host: Host,
    http: Http,
    reward: Reward,
    first_key: String,
}

impl World {
    async fn start() -> Self {
        let host = Host::start(HostOptions::default());
        let http = Http::new(&host);
        let plugin = host.publish("trivial").await;
        let call = json!({ "plugin": plugin, "response": "" });
        let reward: Reward = http.post("/v1/rewards", &call).await.json(200);
        let keys: KeyList = http.get("/v1/keys").await.json(200);
        let first_key = keys.items[0].id.to_string();
        Self { host, http, reward, first_key }
    }

    async fn call(&self, http: &Http, route: &Route) -> Answer {
        let id = match route.path {
            path if path.starts_with("/v1/batches") => self.reward.id.batch.to_string(),
            path if path.starts_with("/v1/requests") => self.reward.id.to_string(),
            _ => self.first_key.clone(),
        };
        let path = route.path.replace("{id}", &id).replace("{stage}", "score");
        let path = path.replace("{name}", "trivial").replace("{version}", "1.0.0");
        let path = path.replace("{pool}", "cpu");
        let path = path.replace("{run}", "theirs");
        let request = http.request(route.method.clone(), &path.replace("{channel}", "prod"));
        let request = if route.body.is_null() { request } else { request.json(&route.body) };
        http.send(request).await
    }

    async fn key(&self, call: Value) -> Key {
        self.http.post("/v1/keys", &call).await.json(201)
    }
}

fn with(http: &Http, key: &Key) -> Http {
    http.with_key(key.secret.as_deref().expect("shown when it is made"))
}

fn soon() -> Micros {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Micros(u64::try_from(now.expect("after 1970").as_micros()).expect("before the year 500,000"))
}

#[tokio::test]
async fn every_route_asks_for_a_key_that_works() {
    let world = World::start().await;
    let document: Value = world.http.get("/openapi.json").await.json(200);
    let documented: BTreeSet<(String, String)> = document["paths"]
        .as_object()
        .expect("paths")
        .iter()
        .flat_map(|(path, item)| {
            let methods = item.as_object().expect("methods").keys();
            methods.map(|method| (path.clone(), method.to_uppercase())).collect::<Vec<_>>()
        })
        .collect();
    let table: BTreeSet<_> =
        routes().iter().map(|route| (route.path.into(), route.method.to_string())).collect();
    assert_eq!(documented, table, "the document and the table differ");

    let revoked = world.key(json!({ "scopes": Scope::ALL })).await;
    let http = with(&world.http, &revoked);
    let _: PluginList = http.get("/v1/plugins").await.json(200);
    let path = format!("/v1/keys/{}/revoke", revoked.id);
    assert!(world.http.post(&path, &json!({})).await.json::<Key>(200).revoked_at.is_some());
    let expired = world.key(json!({ "scopes": Scope::ALL, "expires_at": soon() })).await;
    let half = world.host.key.trim_end_matches(char::is_alphanumeric);
    let secret = format!("{half}{}", "0".repeat(64));
    let everyone = [
        ("no key", world.http.without_key()),
        ("an empty key", world.http.with_key("")),
        ("nonsense", world.http.with_key("nonsense")),
        ("an unknown key", world.http.with_key("assay_test_000000000000_00")),
        ("a wrong secret", world.http.with_key(&secret)),
        ("a revoked key", with(&world.http, &revoked)),
        ("an expired key", with(&world.http, &expired)),
    ];
    for (who, http) in &everyone {
        for route in routes() {
            let answer = world.call(http, &route).await;
            let problem = answer.problem(401, "unauthenticated");
            assert_eq!(answer.headers["www-authenticate"], "Bearer", "{who}");
            assert!(problem.hint.is_some_and(|hint| hint.contains("Bearer assay_")), "{who}");
        }
        let _ = http.get("/openapi.json").await.problem(401, "unauthenticated");
        for probe in ["/livez", "/readyz"] {
            assert_eq!(http.get(probe).await.status, 200, "{who}");
        }
    }
}

#[tokio::test]
async fn each_scope_opens_its_own_routes() {
    let world = World::start().await;
    for lacked in Scope::ALL {
        let others = Scope::ALL.into_iter().filter(|&scope| scope != lacked);
        let http = with(&world.http, &world.key(json!({ "scopes": Vec::from_iter(others) })).await);
        for route in routes() {
            if route.scope == lacked {
                let problem = world.call(&http, &route).await.problem(403, "scope_missing");
                assert!(problem.detail.contains(lacked.as_str()), "{problem:?}");
            } else if route.method == Method::GET {
                let answer = world.call(&http, &route).await;
                assert_ne!(answer.status, 403, "{}: {}", answer.call, answer.text());
            }
        }
    }
    let none = world.http.post("/v1/keys", &json!({ "scopes": [] })).await;
    assert!(none.problem(400, "bad_request").detail.contains("scope"));
    let odd = world.http.post("/v1/keys", &json!({ "scopes": ["batches:fly"] })).await;
    assert!(odd.problem(400, "bad_request").detail.contains("batches:fly"));
}

#[tokio::test]
async fn another_tenants_things_are_not_there() {
    let world = World::start().await;
    let tenant = json!({ "name": "other" });
    let tenant: Tenant = world.http.post("/v1/tenants", &tenant).await.json(201);
    let _ =
        world.http.post("/v1/tenants", &json!({ "name": "other" })).await.problem(409, "conflict");
    let _ =
        world.http.post("/v1/tenants", &json!({ "name": "A B" })).await.problem(400, "bad_request");
    let key = world.key(json!({ "tenant": tenant.name, "scopes": Scope::ALL })).await;
    assert_eq!(key.tenant, "other");
    let other = with(&world.http, &key);
    for route in routes() {
        let answer = world.call(&other, &route).await;
        match route.foreign {
            Foreign::NotFound => {
                let _ = answer.problem(404, "not_found");
            }
            Foreign::Own => {
                assert_ne!(answer.status, 404, "{}", answer.call);
                assert!(!answer.text().contains(&world.first_key), "{}", answer.text());
                assert!(!answer.text().contains("trivial"), "{}", answer.text());
            }
        }
    }
    let plugins: PluginList = other.get("/v1/plugins").await.json(200);
    assert!(plugins.items.is_empty());
    // Nothing of what was tried has changed anything.
    let plugins: PluginList = world.http.get("/v1/plugins").await.json(200);
    assert!(plugins.items.iter().all(|plugin| plugin.yanked.is_none()));
    let keys: KeyList = world.http.get("/v1/keys").await.json(200);
    assert!(keys.items.iter().all(|key| key.revoked_at.is_none()));
    let theirs: KeyList = world.http.get("/v1/keys?tenant=other").await.json(200);
    assert!(theirs.items.iter().all(|key| key.tenant == "other"));
    let _ = world.http.get("/v1/keys?tenant=nobody").await.problem(404, "not_found");
}

#[tokio::test]
async fn keys_are_kept_as_hashes_only() {
    let world = World::start().await;
    let key = world.key(json!({ "name": "ours", "scopes": ["batches:read"] })).await;
    let secret = key.secret.clone().expect("shown when it is made");
    let random = secret.rsplit('_').next().expect("its last part").to_owned();
    assert_eq!(random.len(), 64, "{secret}");
    let list = world.http.get("/v1/keys").await;
    let listed: KeyList = list.json(200);
    assert!(listed.items.iter().any(|listed| listed.prefix == key.prefix));
    assert!(listed.items.iter().all(|listed| listed.secret.is_none()));
    let rows = Psql::of_data(&world.host.data()).rows("select keys::text from keys").join("\n");
    assert!(rows.contains(&key.prefix), "the look into the database shows no keys");
    for told in [list.text(), rows, world.host.log()] {
        assert!(!told.contains(&random) && !told.contains(&world.host.key), "{told}");
    }

    // A key with an end works until then.
    let at = soon() + Micros::from_ms(1_500);
    let brief = world.key(json!({ "scopes": ["batches:read"], "expires_at": at })).await;
    let http = with(&world.http, &brief);
    let _: PluginList = http.get("/v1/plugins").await.json(200);
    until("the key expires", async || (http.get("/v1/plugins").await.status == 401).then_some(()))
        .await;
    assert!(soon() >= at);
}

#[tokio::test]
async fn every_answer_has_an_id_and_every_error_is_a_problem() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let get = |path: &str, id: &str| {
        http.send(http.request(Method::GET, path).header("request-id", id.to_owned()))
    };
    for path in ["/livez", "/v1/plugins", "/v1/nothing", "/v1/batches/x", "/openapi.json"] {
        assert_eq!(get(path, "mine-1").await.headers["request-id"], "mine-1", "{path}");
        let own = http.get(path).await.headers["request-id"].clone();
        assert_ne!(own, http.get(path).await.headers["request-id"], "{path}");
        // What would break a log line or a header is replaced.
        for odd in ["two words", "", &"x".repeat(129)] {
            assert_ne!(get(path, odd).await.headers["request-id"], odd, "{path}");
        }
    }
    for path in ["/", "/v1", "/v1/nothing", "/v1/batches/", "/v2/batches", "/v1/batches/a/b/c"] {
        let problem = http.get(path).await.problem(404, "not_found");
        assert!(problem.hint.is_some_and(|hint| hint.contains("/openapi.json")), "{path}");
    }
    for (method, path) in [
        (Method::DELETE, "/v1/batches"),
        (Method::GET, "/v1/rewards"),
        (Method::PATCH, "/v1/plugins/x"),
        (Method::POST, "/livez"),
    ] {
        let answer = http.send(http.request(method, path)).await;
        let _ = answer.problem(405, "method_not_allowed");
        assert!(answer.headers.contains_key("allow"), "{path}");
    }
    let lower = http.without_key().request(Method::GET, "/v1/plugins");
    let lower = lower.header("authorization", format!("bearer {}", host.key));
    assert_eq!(http.send(lower).await.status, 200);
}
