//! The permissions of every kind of key and every role, for every route of the OpenAPI document.

use std::collections::{BTreeMap, BTreeSet};

use assay_api::key::{Key, KeyList, Scope};
use assay_api::people::{Member, Role};
use assay_api::plugin::PluginList;
use assay_api::request::Reward;
use assay_api::tenant::Tenant;
use assay_core::time::Micros;
use assay_tests::{Answer, Browser, CSRF, Host, HostOptions, Http, until};
use reqwest::Method;
use serde_json::{Value, from_value, json};

/// The answer to a tenant that names an id of another tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Foreign {
    NotFound,
    /// The call names no id of anybody, and its answer has the caller's own data alone.
    Own,
    /// The data is the platform's, not a tenant's.
    Platform,
}

/// One method of one path, with a body that would be taken.
struct Route {
    method: Method,
    path: &'static str,
    body: Value,
    /// Any of them opens it.
    scopes: &'static [Scope],
    foreign: Foreign,
}

/// The routes that need no authentication, because people sign in by them.
const OPEN: [(&str, &str); 6] = [
    ("/v1/bootstrap", "POST"),
    ("/v1/invitations/accept", "POST"),
    ("/v1/session", "POST"),
    ("/v1/session/methods", "GET"),
    ("/v1/session/oidc", "GET"),
    ("/v1/session/oidc/callback", "GET"),
];

/// Every other route that there is; one that the document has and this table has not fails the test.
fn routes() -> Vec<Route> {
    use Foreign::{NotFound, Own};
    const READ: &[Scope] = &[Scope::BatchesRead];
    const WRITE: &[Scope] = &[Scope::BatchesWrite];
    const PUBLISH: &[Scope] = &[Scope::PluginsPublish];
    const PROMOTE: &[Scope] = &[Scope::PluginsPromote];
    const ADMINS: &[Scope] = &[Scope::Admin, Scope::Platform];
    const PLATFORM: &[Scope] = &[Scope::Platform];
    const ANY: &[Scope] = &Scope::ALL;
    let announce = json!({ "plugin": "platform/trivial@prod", "run": "theirs" });
    let reward = json!({ "plugin": "trivial@prod", "response": "" });
    let promote = json!({ "version": "1.0.0" });
    let key = json!({ "scopes": ["batches:read"] });
    let member = json!({ "email": "theirs@example.com", "role": "viewer" });
    let password = json!({ "current": "", "new": "correct horse battery" });
    let webhook = json!({ "name": "theirs", "url": "https://hooks.example/x" });
    let none = || Value::Null;
    let item = json!([{ "key": "theirs", "response": "" }]);
    [
        (Method::POST, "/v1/batches", announce, WRITE, NotFound),
        (Method::GET, "/v1/batches/{id}", none(), READ, NotFound),
        (Method::POST, "/v1/batches/{id}/requests", item, WRITE, NotFound),
        (Method::PATCH, "/v1/batches/{id}", json!({ "outstanding": 1 }), WRITE, NotFound),
        (Method::POST, "/v1/batches/{id}/seal", json!({}), WRITE, NotFound),
        (Method::POST, "/v1/batches/{id}/cancel", none(), WRITE, NotFound),
        (Method::GET, "/v1/batches/{id}/results", none(), READ, NotFound),
        (Method::GET, "/v1/batches/{id}/events", none(), READ, NotFound),
        (Method::GET, "/v1/batches/{id}/profile", none(), READ, NotFound),
        (Method::GET, "/v1/batches", none(), READ, Own),
        (Method::GET, "/v1/batches/{id}/requests", none(), READ, NotFound),
        (Method::GET, "/v1/batches/{id}/timeline", none(), READ, NotFound),
        (Method::GET, "/v1/batches/{id}/logs", none(), READ, NotFound),
        (Method::GET, "/v1/runs", none(), READ, Own),
        (Method::GET, "/v1/runs/{run}", none(), READ, NotFound),
        (Method::GET, "/v1/runs/{run}/history", none(), READ, NotFound),
        (Method::GET, "/v1/runs/{run}/logs", none(), READ, NotFound),
        (Method::GET, "/v1/plugins/{name}/versions/{version}/stats", none(), READ, NotFound),
        (Method::GET, "/v1/plugins/{name}/versions/{version}/cases", none(), READ, NotFound),
        (Method::POST, "/v1/rewards", reward, WRITE, NotFound),
        (Method::GET, "/v1/requests/{id}", none(), READ, NotFound),
        (Method::GET, "/v1/requests/{id}/logs", none(), READ, NotFound),
        (Method::GET, "/v1/requests/{id}/artifacts/{stage}", none(), READ, NotFound),
        (Method::GET, "/v1/plugins", none(), READ, Own),
        (Method::POST, "/v1/plugins", none(), PUBLISH, Own),
        (Method::GET, "/v1/plugins/{name}", none(), READ, NotFound),
        (Method::GET, "/v1/plugins/{name}/channels", none(), READ, NotFound),
        (Method::PUT, "/v1/plugins/{name}/channels/{channel}", promote, PROMOTE, NotFound),
        (Method::POST, "/v1/plugins/{name}/channels/{channel}/rollback", none(), PROMOTE, NotFound),
        (Method::GET, "/v1/plugins/{name}/versions/{version}/component", none(), PUBLISH, NotFound),
        (
            Method::POST,
            "/v1/plugins/{name}/versions/{version}/yank",
            json!({ "reason": "theirs" }),
            PROMOTE,
            NotFound,
        ),
        (Method::GET, "/v1/tenants", none(), ADMINS, Own),
        (Method::POST, "/v1/tenants", json!({ "name": "a-third" }), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/tenants/{name}", none(), ADMINS, NotFound),
        (Method::PATCH, "/v1/tenants/{name}", json!({}), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/tenants/{name}/usage", none(), ADMINS, NotFound),
        (Method::GET, "/v1/audit", none(), ADMINS, Own),
        (Method::GET, "/v1/keys", none(), ADMINS, Own),
        (Method::POST, "/v1/keys", key, ADMINS, Own),
        (Method::POST, "/v1/keys/{id}/revoke", none(), ADMINS, NotFound),
        (Method::POST, "/v1/keys/{id}/rotate", none(), ADMINS, NotFound),
        (Method::GET, "/v1/people", none(), PLATFORM, Foreign::Platform),
        (Method::PATCH, "/v1/people/{person}", json!({}), PLATFORM, Foreign::Platform),
        (Method::POST, "/v1/people/{person}/invitation", none(), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/members", none(), ADMINS, Own),
        (Method::POST, "/v1/members", member, ADMINS, Own),
        (Method::PATCH, "/v1/members/{person}", json!({ "role": "admin" }), ADMINS, NotFound),
        (Method::DELETE, "/v1/members/{person}", none(), ADMINS, NotFound),
        (Method::GET, "/v1/session", none(), ANY, Own),
        (Method::POST, "/v1/session/password", password, ANY, Own),
        (Method::POST, "/v1/session/tenant", json!({ "tenant": "platform" }), ANY, Own),
        (Method::DELETE, "/v1/session", none(), ANY, Own),
        (Method::GET, "/v1/session/keys", none(), ANY, Own),
        (Method::POST, "/v1/session/keys", json!({ "scopes": ["batches:read"] }), ANY, Own),
        (Method::POST, "/v1/session/keys/{id}/revoke", none(), ANY, Own),
        (Method::GET, "/v1/capacity", none(), PLATFORM, Foreign::Platform),
        (
            Method::PUT,
            "/v1/capacity/{pool}",
            json!({ "min": 0, "max": 2 }),
            PLATFORM,
            Foreign::Platform,
        ),
        (Method::GET, "/v1/capacity/history", none(), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/queue", none(), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/workers", none(), PLATFORM, Foreign::Platform),
        (Method::POST, "/v1/workers/{id}/drain", none(), PLATFORM, Foreign::Platform),
        (Method::POST, "/v1/workers/tokens", json!({ "pool": "cpu" }), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/workers/remote", none(), PLATFORM, Foreign::Platform),
        (Method::DELETE, "/v1/workers/remote/{id}", none(), PLATFORM, Foreign::Platform),
        (Method::GET, "/v1/overview", none(), READ, Own),
        (Method::GET, "/v1/runs/{run}/samples", none(), READ, NotFound),
        (Method::GET, "/v1/runs/{run}/solve-rates", none(), READ, NotFound),
        (Method::GET, "/v1/samples", none(), READ, NotFound),
        (Method::GET, "/v1/incidents", none(), READ, Own),
        (Method::POST, "/v1/incidents/{id}/acknowledge", json!({}), WRITE, NotFound),
        (Method::POST, "/v1/incidents/{id}/reopen", none(), WRITE, NotFound),
        (Method::GET, "/v1/webhooks", none(), ADMINS, Own),
        (Method::POST, "/v1/webhooks", webhook, ADMINS, Own),
        (Method::DELETE, "/v1/webhooks/{id}", none(), ADMINS, NotFound),
        (Method::POST, "/v1/webhooks/{id}/test", none(), ADMINS, NotFound),
        (Method::GET, "/v1/webhooks/{id}/deliveries", none(), ADMINS, NotFound),
        (Method::GET, "/v1/live", none(), READ, Own),
        (Method::POST, "/v1/requests/{id}/replay", json!({}), WRITE, NotFound),
        (Method::POST, "/v1/simulations", json!({ "run": "theirs" }), READ, NotFound),
        (Method::GET, "/metrics", none(), PLATFORM, Foreign::Platform),
    ]
    .map(|(method, path, body, scopes, foreign)| Route { method, path, body, scopes, foreign })
    .into()
}

/// A tenant with a batch, a request and a plugin, and a server around it.
struct World {
    host: Host,
    http: Http,
    reward: Reward,
    first_key: String,
    /// A member of its tenant.
    person: String,
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
        let member = json!({ "email": "ours@example.com", "role": "viewer" });
        let member: Member = http.post("/v1/members", &member).await.json(201);
        let person = member.person.to_string();
        Self { host, http, reward, first_key, person }
    }

    fn path(&self, route: &Route) -> String {
        let id = match route.path {
            path if path.starts_with("/v1/batches") => self.reward.id.batch.to_string(),
            path if path.starts_with("/v1/requests") => self.reward.id.to_string(),
            _ => self.first_key.clone(),
        };
        let path = route.path.replace("{id}", &id).replace("{stage}", "score");
        let name = if path.starts_with("/v1/tenants") { "platform" } else { "trivial" };
        let path = path.replace("{name}", name).replace("{version}", "1.0.0");
        let path = path.replace("{pool}", "cpu").replace("{person}", &self.person);
        // It asks for one run, batch or version.
        let path = path.replace("/v1/samples", "/v1/samples?run={run}");
        let path = path.replace("/solve-rates", "/solve-rates?group=a");
        path.replace("{run}", "theirs").replace("{channel}", "prod")
    }

    async fn call(&self, http: &Http, route: &Route) -> Answer {
        let request = http.request(route.method.clone(), &self.path(route));
        let request = if route.body.is_null() { request } else { request.json(&route.body) };
        http.send(request).await
    }

    /// Somebody with this role in a tenant, signed in.
    async fn browser(&self, tenant: &str, role: Role) -> Browser {
        let email = format!("{}@{tenant}.example", role.as_str());
        let call = json!({ "tenant": tenant, "email": email, "role": role });
        let member: Member = self.http.post("/v1/members", &call).await.json(201);
        let mut browser = Browser::new(&self.host);
        let invitation = member.invitation.expect("is new").token;
        browser.accept(&invitation, "correct horse battery").await;
        browser
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
    now.expect("after 1970").into()
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
        // The tests of the protocols have calls as their clients make them.
        .filter(|(path, _)| !path.starts_with("/compat/"))
        .collect();
    let open = OPEN.map(|(path, method)| (path.to_owned(), method.to_owned()));
    let table: BTreeSet<_> = routes()
        .iter()
        .map(|route| (route.path.into(), route.method.to_string()))
        .chain(open)
        .collect();
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

/// One operation of the OpenAPI document, with the ways to authenticate of which a call needs one.
struct Documented {
    method: Method,
    path: String,
    ways: Vec<BTreeMap<String, Vec<String>>>,
}

impl Documented {
    fn all(document: &Value) -> Vec<Self> {
        let root = &document["security"];
        let paths = document["paths"].as_object().expect("paths");
        let operations = paths.iter().flat_map(|(path, item)| {
            item.as_object().expect("methods").iter().map(move |(method, operation)| {
                let ways = operation.get("security").unwrap_or(root).clone();
                let method = method.to_uppercase().parse().expect("a method");
                Self { method, path: path.clone(), ways: from_value(ways).expect("requirements") }
            })
        });
        operations.collect()
    }

    fn is_open(&self) -> bool {
        self.ways.iter().any(BTreeMap::is_empty)
    }

    /// The scopes of which a caller by `scheme` needs one, each way's own; an empty way needs none.
    fn scopes(&self, scheme: &str) -> Vec<Vec<String>> {
        self.ways.iter().filter_map(|way| way.get(scheme).cloned()).collect()
    }

    /// Whether a key with this scope alone may call.
    fn takes(&self, scope: Scope) -> bool {
        let taken = |needed: &Vec<String>| needed.iter().all(|needed| needed == scope.as_str());
        self.scopes("key").iter().any(taken)
    }

    /// Calls it in a way that changes nothing and ends at once: on things that do not exist, with a query
    /// and a body that cannot be read.
    async fn call(&self, http: &Http) -> Answer {
        let words = self.path.split('/').map(|word| if word.starts_with('{') { "-" } else { word });
        let path = format!("{}?all=-&limit=-", words.collect::<Vec<_>>().join("/"));
        http.send(http.request(self.method.clone(), &path).body("-")).await
    }
}

/// The authentication and the scope that a route documents are those that it asks for, and it asks for
/// them before it looks at anything else of the call.
#[tokio::test]
async fn each_documented_security_is_what_the_route_enforces() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let document: Value = http.get("/openapi.json").await.json(200);
    let documented = Documented::all(&document);
    for operation in &documented {
        let answer = operation.call(&http.without_key()).await;
        let code = answer.json::<Value>(answer.status)["code"].clone();
        assert_eq!(code != "unauthenticated", operation.is_open(), "{}", answer.call);
    }
    for scope in Scope::ALL {
        let key: Key = http.post("/v1/keys", &json!({ "scopes": [scope] })).await.json(201);
        let http = with(&http, &key);
        for operation in documented.iter().filter(|operation| !operation.is_open()) {
            let answer = operation.call(&http).await;
            if operation.scopes("key").is_empty() {
                let _ = answer.problem(403, "session_missing");
            } else if operation.takes(scope) {
                assert_ne!(answer.status, 403, "{}: {}", answer.call, answer.text());
            } else {
                let _ = answer.problem(403, "scope_missing");
            }
        }
    }
    for operation in &documented {
        let (key, session) = (operation.scopes("key"), operation.scopes("session"));
        assert!(key.is_empty() || key == session, "{} {}", operation.method, operation.path);
    }
}

#[tokio::test]
async fn each_scope_opens_its_own_routes() {
    let world = World::start().await;
    for scope in Scope::ALL {
        let http = with(&world.http, &world.key(json!({ "scopes": [scope] })).await);
        for route in routes() {
            if !route.scopes.contains(&scope) {
                let problem = world.call(&http, &route).await.problem(403, "scope_missing");
                let named =
                    route.scopes.iter().any(|scope| problem.detail.contains(scope.as_str()));
                assert!(named, "{problem:?}");
            } else if route.path == "/v1/session/keys" {
                // Keys of people need a session, whatever the scopes.
                let _ = world.call(&http, &route).await.problem(403, "session_missing");
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

/// By cookie: each role gets as far as its scopes reach, and nowhere without the session's token.
#[tokio::test]
async fn each_role_opens_its_own_routes_by_cookie() {
    let world = World::start().await;
    let _: Tenant = world.http.post("/v1/tenants", &json!({ "name": "other" })).await.json(201);
    for tenant in ["platform", "other"] {
        for role in Role::ALL {
            let scopes = role.scopes(tenant);
            let mut browser = world.browser(tenant, role).await;
            for route in routes() {
                let path = world.path(&route);
                let may = route.scopes.iter().any(|scope| scopes.contains(scope));
                if !route.method.is_safe() {
                    let forged = browser.plain(route.method.clone(), &path).json(&route.body);
                    let _ = browser.send(forged).await.problem(403, "csrf");
                    let forged = browser.plain(route.method.clone(), &path).json(&route.body);
                    let forged = forged.header(CSRF, "0".repeat(64));
                    let _ = browser.send(forged).await.problem(403, "csrf");
                }
                // Changes that a role may make are tried elsewhere: here nothing changes.
                if may && !route.method.is_safe() {
                    continue;
                }
                let request = browser.request(route.method.clone(), &path);
                let request =
                    if route.body.is_null() { request } else { request.json(&route.body) };
                let answer = browser.send(request).await;
                if !may {
                    let _ = answer.problem(403, "scope_missing");
                } else if tenant == "other" && route.foreign == Foreign::NotFound {
                    let _ = answer.problem(404, "not_found");
                } else {
                    let refused = [401, 403].contains(&answer.status);
                    assert!(!refused, "{}: {}", answer.call, answer.text());
                }
            }
        }
    }
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
    let own = Scope::ALL.into_iter().filter(|&scope| scope != Scope::Platform);
    let key = json!({ "tenant": tenant.name, "scopes": Vec::from_iter(own) });
    let key = world.key(key).await;
    assert_eq!(key.tenant, "other");
    let other = with(&world.http, &key);
    for route in routes() {
        let answer = world.call(&other, &route).await;
        match route.foreign {
            Foreign::NotFound => {
                let _ = answer.problem(404, "not_found");
            }
            Foreign::Platform => {
                let _ = answer.problem(403, "scope_missing");
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
    let rows = world.host.psql().rows("select keys::text from keys").join("\n");
    assert!(rows.contains(&key.prefix), "the look into the database shows no keys");
    for told in [list.text(), rows, world.host.log()] {
        assert!(!told.contains(&random) && !told.contains(&world.host.key), "{told}");
    }

    // A key with an end works until then; a machine that stalls may use it too late.
    let mut worked = false;
    for life_ms in [1_500, 6_000, 24_000] {
        let at = soon() + Micros::from_ms(life_ms);
        let brief = world.key(json!({ "scopes": ["batches:read"], "expires_at": at })).await;
        let http = with(&world.http, &brief);
        let status = http.get("/v1/plugins").await.status;
        worked = status == 200;
        assert!(worked || (status == 401 && soon() >= at), "{status}");
        let gone = async || (http.get("/v1/plugins").await.status == 401).then_some(());
        until("the key expires", gone).await;
        assert!(soon() >= at);
        if worked {
            break;
        }
    }
    assert!(worked, "no key was in time");
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
        // An id that would break a log line or a header is replaced.
        for odd in ["two words", "", &"x".repeat(129)] {
            assert_ne!(get(path, odd).await.headers["request-id"], odd, "{path}");
        }
    }
    for path in ["/v1", "/v1/nothing", "/v1/batches/", "/v2/batches", "/v1/batches/a/b/c"] {
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
