//! Keys: rotated with an overlap, bound to plugins, told when they were used.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use assay_api::audit::AuditPage;
use assay_api::batch::{Batch, BatchState};
use assay_api::key::{Key, KeyList, Scope};
use assay_api::people::Session;
use assay_api::plugin::PluginList;
use assay_tests::{Answer, Host, Http, assay, component, item, until};
use reqwest::Method;
use serde_json::{Value, json};

use super::{World, start};

fn with(http: &Http, key: &Key) -> Http {
    http.with_key(key.secret.as_deref().expect("shown when it is made"))
}

async fn works(http: &Http) -> bool {
    let answer = http.get("/v1/plugins").await;
    assert!(matches!(answer.status, 200 | 401), "{}", answer.text());
    answer.status == 200
}

#[tokio::test]
async fn a_rotated_key_has_two_secrets_for_a_while() {
    let (host, http) = start(&[]);
    let database = host.psql();
    let key = json!({ "name": "theirs", "scopes": ["batches:read"] });
    let first: Key = http.post("/v1/keys", &key).await.json(201);
    let path = format!("/v1/keys/{}/rotate", first.id);
    let rotate = async |hours: Value| -> Key {
        http.post(&path, &json!({ "overlap_hours": hours })).await.json(200)
    };
    assert!(works(&with(&http, &first)).await);
    let second = rotate(json!(2)).await;
    assert_eq!((second.id, &second.prefix, &second.name), (first.id, &first.prefix, &first.name));
    assert_ne!(second.secret, first.secret);
    for key in [&first, &second] {
        assert!(works(&with(&http, key)).await);
    }
    // Once more: the first is out, though its hours were not over.
    let third = rotate(json!(2)).await;
    assert!(!works(&with(&http, &first)).await);
    assert!(works(&with(&http, &second)).await && works(&with(&http, &third)).await);
    let listed: KeyList = http.get("/v1/keys").await.json(200);
    let listed = listed.items.into_iter().find(|key| key.id == first.id).expect("is listed");
    assert!(listed.previous_secret_until.is_some() && listed.secret.is_none());

    // The overlap ends by itself, also where the key was looked up a moment ago.
    let _ =
        database.rows("update keys set previous_until = now() where previous_until is not null");
    until("the old secret ends", async || (!works(&with(&http, &second)).await).then_some(()))
        .await;
    assert!(works(&with(&http, &third)).await);
    let fourth = rotate(json!(0)).await;
    assert!(!works(&with(&http, &third)).await && works(&with(&http, &fourth)).await);

    let too_long = http.post(&path, &json!({ "overlap_hours": 721 })).await;
    assert!(too_long.problem(400, "bad_request").detail.contains("720"));
    let revoke = format!("/v1/keys/{}/revoke", first.id);
    let _: Key = http.post(&revoke, &json!({})).await.json(200);
    assert!(!works(&with(&http, &fourth)).await);
    let _ = http.post(&path, &json!({})).await.problem(409, "conflict");
    let acts: AuditPage = http.get("/v1/audit?action=key.rotate").await.json(200);
    assert_eq!(acts.items.len(), 3);
    let rows = database.rows("select keys::text from keys").join("\n") + &host.log();
    let random = fourth.secret.as_deref().and_then(|key| key.rsplit('_').next()).expect("a secret");
    assert!(rows.contains(&first.prefix) && !rows.contains(random));
}

/// A call whose body is still to come: where it is written to, and the answer.
fn begun(host: &Host, key: &Key, path: &str, headers: &str) -> (TcpStream, BufReader<TcpStream>) {
    let address = host.url.trim_start_matches("http://");
    let secret = key.secret.as_deref().expect("shown when it is made");
    let mut stream = TcpStream::connect(address).expect("connects");
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {secret}\r\n{headers}\r\n\
         Expect: 100-continue\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("writes");
    let mut answer = BufReader::new(stream.try_clone().expect("another handle"));
    let mut line = String::new();
    answer.read_line(&mut line).expect("the server asks for the body");
    assert_eq!(line.trim_end(), "HTTP/1.1 100 Continue");
    (stream, answer)
}

/// The body of a call may take minutes, in which its key may lose its rights.
#[tokio::test]
async fn a_key_that_is_revoked_during_a_call_makes_no_key() {
    let (host, http) = start(&[]);
    let made: Key = http.post("/v1/keys", &json!({ "scopes": ["admin:*"] })).await.json(201);
    let body = r#"{ "name": "lasting", "scopes": ["admin:*"] }"#;
    let (mut stream, mut answer) = begun(
        &host,
        &made,
        "/v1/keys",
        &format!("Content-Type: application/json\r\nContent-Length: {}", body.len()),
    );
    stream.write_all(&body.as_bytes()[..10]).expect("writes");
    let revoke = format!("/v1/keys/{}/revoke", made.id);
    let _: Key = http.post(&revoke, &json!({})).await.json(200);
    stream.write_all(&body.as_bytes()[10..]).expect("writes");
    let mut answered = String::new();
    answer.read_to_string(&mut answered).expect("an answer");
    assert!(answered.trim_start().starts_with("HTTP/1.1 401 "), "{answered}");
    assert!(answered.contains("the key was revoked"), "{answered}");
    let listed: KeyList = http.get("/v1/keys").await.json(200);
    assert!(listed.items.iter().all(|key| key.name != "lasting"), "{listed:?}");
}

/// Lines may come for as long as a rollout takes.
#[tokio::test]
async fn a_key_that_is_revoked_ends_an_open_call_of_lines() {
    let (host, http) = start(&[]);
    host.publish("trivial").await;
    let made: Key = http.post("/v1/keys", &json!({ "scopes": ["batches:write"] })).await.json(201);
    let call = json!({ "plugin": "trivial@prod", "run": "r" });
    let batch: Batch = http.post("/v1/batches", &call).await.json(201);
    let path = format!("/v1/batches/{}", batch.id);
    let headers = "Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked";
    let (mut stream, mut answer) = begun(&host, &made, &format!("{path}/requests"), headers);
    let line = serde_json::to_string(&item("a", "", "null")).expect("is JSON") + "\n";
    stream.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).expect("writes");
    let revoke = format!("/v1/keys/{}/revoke", made.id);
    let _: Key = http.post(&revoke, &json!({})).await.json(200);
    let mut answered = String::new();
    answer.read_to_string(&mut answered).expect("an answer");
    assert!(answered.trim_start().starts_with("HTTP/1.1 401 "), "{answered}");
}

/// A new secret is shown to who asks for it: so it opens no more than that caller may.
#[tokio::test]
async fn who_administers_a_tenant_alone_rotates_no_key_of_the_platform() {
    let (_host, http) = start(&[]);
    let keys: KeyList = http.get("/v1/keys").await.json(200);
    let admin: Key = http.post("/v1/keys", &json!({ "scopes": ["admin:*"] })).await.json(201);
    let path = format!("/v1/keys/{}/rotate", keys.items[0].id);
    let refused = with(&http, &admin).post(&path, &json!({})).await;
    let _ = refused.problem(403, "scope_missing");
    assert!(works(&http).await);
}

#[tokio::test]
async fn a_key_with_a_list_is_for_those_plugins_alone() {
    let (host, http) = start(&[]);
    for name in ["trivial", "two_pools"] {
        host.publish(name).await;
    }
    let plugins: PluginList = http.get("/v1/plugins").await.json(200);
    let other = plugins.items.iter().map(|plugin| plugin.name.clone());
    let other = other.into_iter().find(|name| name != "trivial").expect("two are there");
    let key = async |plugins: &[&str]| -> Key {
        let call = json!({ "scopes": ["batches:write", "batches:read"], "plugins": plugins });
        http.post("/v1/keys", &call).await.json(201)
    };
    let announce = async |http: &Http, plugin: &str| {
        let run = format!("run-{plugin}");
        http.post("/v1/batches", &json!({ "plugin": plugin, "run": run })).await
    };
    let by_name = with(&http, &key(&["trivial", "absent"]).await);
    let by_channel = with(&http, &key(&["trivial@prod"]).await);
    for http in [&by_name, &by_channel] {
        for plugin in ["trivial@prod", "platform/trivial@prod"] {
            assert_eq!(announce(http, plugin).await.status, 201);
        }
        let refused = announce(http, &format!("{other}@prod")).await;
        let problem = refused.problem(403, "plugin_not_allowed");
        assert!(problem.detail.contains("trivial") && problem.hint.is_some(), "{problem:?}");
        let reward = json!({ "plugin": format!("{other}@prod"), "response": "" });
        let _ = http.post("/v1/rewards", &reward).await.problem(403, "plugin_not_allowed");
    }
    let call = "trivial@1.0.0";
    assert_eq!(announce(&by_name, call).await.status, 201);
    let _ = announce(&by_channel, call).await.problem(403, "plugin_not_allowed");

    // Requests are not submitted to another plugin's batch either.
    let batch: Batch = announce(&http, &format!("{other}@prod")).await.json(201);
    let path = format!("/v1/batches/{}/requests", batch.id);
    let items = json!([item("a", "", "null")]);
    let _ = by_name.post(&path, &items).await.problem(403, "plugin_not_allowed");
    let batch: Batch = announce(&http, "trivial@prod").await.json(201);
    let path = format!("/v1/batches/{}/requests", batch.id);
    assert_eq!(by_channel.post(&path, &items).await.status, 200);

    for odd in [json!([]), json!(["A B"]), json!(["trivial@"]), json!(vec!["a"; 65])] {
        let call = json!({ "scopes": ["batches:write"], "plugins": odd });
        let _ = http.post("/v1/keys", &call).await.problem(400, "bad_request");
    }
}

/// Nor does such a key change what belongs to another plugin, whatever its scopes.
#[tokio::test]
async fn a_key_with_a_list_changes_nothing_of_other_plugins() {
    let (host, http) = start(&[]);
    let other = host.publish("two_pools").await;
    host.publish("trivial").await;
    let scopes = ["batches:write", "batches:read", "plugins:publish", "plugins:promote"];
    let call = json!({ "scopes": scopes, "plugins": ["trivial@prod"] });
    let key: Key = http.post("/v1/keys", &call).await.json(201);
    let theirs = with(&http, &key);
    let announce = async |plugin: &str| -> String {
        let call = json!({ "plugin": plugin, "run": format!("run-{plugin}") });
        let batch: Batch = http.post("/v1/batches", &call).await.json(201);
        format!("/v1/batches/{}", batch.id)
    };
    let change = async |method: Method, path: &str, body: &Value| {
        theirs.send(theirs.request(method, path).json(body)).await
    };
    let refused = |answer: &Answer| {
        let _ = answer.problem(403, "plugin_not_allowed");
    };

    let batch = announce(&other).await;
    refused(&theirs.post(&format!("{batch}/seal"), &json!({})).await);
    refused(&theirs.post(&format!("{batch}/cancel"), &json!({})).await);
    refused(&change(Method::PATCH, &batch, &json!({ "outstanding": 1 })).await);
    assert_eq!(http.get(&batch).await.json::<Batch>(200).state, BatchState::Announced);
    let plugin = format!("/v1/plugins/{}", other.trim_end_matches("@prod"));
    let version = json!({ "version": "1.0.0" });
    refused(&change(Method::PUT, &format!("{plugin}/channels/prod"), &version).await);
    refused(&theirs.post(&format!("{plugin}/channels/prod/rollback"), &json!({})).await);
    let yank = json!({ "reason": "bad" });
    refused(&theirs.post(&format!("{plugin}/versions/1.0.0/yank"), &yank).await);
    let wasm = "application/wasm";
    refused(&theirs.post_bytes("/v1/plugins", wasm, component("two_pools")).await);

    // Its own plugin's it does, as far as its channel goes.
    let batch = announce("trivial@prod").await;
    assert_eq!(change(Method::PATCH, &batch, &json!({ "outstanding": 1 })).await.status, 200);
    assert_eq!(theirs.post(&format!("{batch}/cancel"), &json!({})).await.status, 200);
    assert_eq!(theirs.post_bytes("/v1/plugins", wasm, component("trivial")).await.status, 200);
    let channel = async |name: &str| {
        change(Method::PUT, &format!("/v1/plugins/trivial/channels/{name}"), &version).await
    };
    assert_eq!(channel("prod").await.status, 200);
    refused(&channel("staging").await);
    refused(&theirs.post("/v1/plugins/trivial/versions/1.0.0/yank", &yank).await);
}

/// A trainer needs no administrator for a key, and the key is worth no more than its person.
#[tokio::test]
async fn people_make_keys_for_themselves_that_open_what_their_role_does() {
    let world = World::start(&[]).await;
    world.tenant("team").await;
    let (mut grace, _, member) = world.member("team", "grace@example.com", "publisher").await;
    let call = json!({ "name": "laptop", "scopes": ["batches:read", "plugins:promote"] });
    let key: Key = grace.post("/v1/session/keys", &call).await.json(201);
    assert_eq!((&*key.tenant, key.person.as_deref()), ("team", Some("grace@example.com")));
    let theirs = with(&world.http, &key);
    let session = async || theirs.get("/v1/session").await.json::<Session>(200);
    assert_eq!((&*session().await.tenant, session().await.person), ("team", None));
    let own: KeyList = grace.get("/v1/session/keys").await.json(200);
    assert!(own.items.len() == 1 && own.items[0].id == key.id && own.items[0].secret.is_none());

    // Nobody makes a key that may do more than they may, or that administers.
    for scope in ["admin:*", "platform:*"] {
        let refused = grace.post("/v1/session/keys", &json!({ "scopes": [scope] })).await;
        assert_eq!(refused.problem(400, "bad_request").field.as_deref(), Some("scopes"));
    }
    let (mut viewer, _, vera) = world.member("team", "vera@example.com", "viewer").await;
    let writes = json!({ "scopes": ["batches:write"] });
    let refused = viewer.post("/v1/session/keys", &writes).await;
    assert_eq!(refused.problem(403, "scope_missing").field.as_deref(), Some("scopes"));
    let odd = json!({ "scopes": ["batches:read"], "name": "a\nb" });
    let refused = viewer.post("/v1/session/keys", &odd).await;
    assert_eq!(refused.problem(400, "bad_request").field.as_deref(), Some("name"));
    // Another's key is neither seen nor revoked, and a key makes no keys.
    let none: KeyList = viewer.get("/v1/session/keys").await.json(200);
    assert!(none.items.is_empty());
    let revoke = format!("/v1/session/keys/{}/revoke", key.id);
    let _ = viewer.post(&revoke, &json!({})).await.problem(404, "not_found");
    let _ = theirs.post("/v1/session/keys", &call).await.problem(403, "session_missing");

    // A lower role takes scopes from the key at once, and a higher one gives it no more than its own.
    let path = format!("/v1/members/{}?tenant=team", member.person);
    let role = async |role: &str| {
        let request = world.http.request(Method::PATCH, &path).json(&json!({ "role": role }));
        assert_eq!(world.http.send(request).await.status, 200);
    };
    role("viewer").await;
    assert_eq!(session().await.scopes, [Scope::BatchesRead]);
    role("admin").await;
    assert_eq!(session().await.scopes, [Scope::BatchesRead, Scope::PluginsPromote]);
    // Administrators see whose it is, and do not get its secret.
    let all: KeyList = world.http.get("/v1/keys?tenant=team").await.json(200);
    assert_eq!(all.items[0].person.as_deref(), Some("grace@example.com"));
    let rotate = format!("/v1/keys/{}/rotate?tenant=team", key.id);
    let _ = world.http.post(&rotate, &json!({})).await.problem(409, "personal_key");
    // An invitation revokes the keys that were made before: somebody else may have had the password.
    let reads = json!({ "scopes": ["batches:read"] });
    let before: Key = viewer.post("/v1/session/keys", &reads).await.json(201);
    let before = with(&world.http, &before);
    assert!(works(&before).await);
    let again = format!("/v1/people/{}/invitation", vera.person);
    assert_eq!(world.http.post(&again, &json!({})).await.status, 201);
    assert!(!works(&before).await);
    let person = format!("/v1/people/{}", member.person);
    let disable = async |disabled: bool| {
        let request =
            world.http.request(Method::PATCH, &person).json(&json!({ "disabled": disabled }));
        assert_eq!(world.http.send(request).await.status, 200);
    };
    disable(true).await;
    assert!(!works(&theirs).await);
    disable(false).await;
    assert!(works(&theirs).await);
    let request = world.http.request(Method::DELETE, &path);
    assert_eq!(world.http.send(request).await.status, 204);
    let gone = theirs.get("/v1/plugins").await.problem(401, "unauthenticated");
    assert!(gone.detail.contains("member"), "{gone:?}");
}

#[tokio::test]
async fn a_person_has_a_bounded_number_of_keys_and_revokes_them() {
    let world = World::start(&[]).await;
    let mut admin = world.admin;
    let call = json!({ "scopes": ["batches:read"] });
    let first: Key = admin.post("/v1/session/keys", &call).await.json(201);
    for _ in 1..assay_core::limits::PERSONAL_KEYS_MAX {
        assert_eq!(admin.post("/v1/session/keys", &call).await.status, 201);
    }
    let full = admin.post("/v1/session/keys", &call).await.problem(409, "conflict");
    assert!(full.detail.contains("revoke"), "{full:?}");
    let theirs = with(&world.http, &first);
    assert!(works(&theirs).await);
    let revoke = format!("/v1/session/keys/{}/revoke", first.id);
    let revoked: Key = admin.post(&revoke, &json!({})).await.json(200);
    assert!(revoked.revoked_at.is_some() && !works(&theirs).await);
    assert_eq!(admin.post("/v1/session/keys", &call).await.status, 201);
    let acts: AuditPage = world.http.get("/v1/audit?action=key.create&limit=1").await.json(200);
    assert_eq!(acts.items[0].actor.name, "root@example.com");
}

#[tokio::test]
async fn a_keys_last_use_is_told() {
    let (_host, http) = start(&[]);
    let key: Key = http.post("/v1/keys", &json!({ "scopes": ["batches:read"] })).await.json(201);
    assert!(key.last_used_at.is_none());
    let last_use = async || {
        let keys: KeyList = http.get("/v1/keys").await.json(200);
        let found = keys.items.into_iter().find(|listed| listed.id == key.id);
        found.expect("is listed").last_used_at
    };
    assert_eq!(last_use().await, None);
    assert!(works(&with(&http, &key)).await);
    let at = until("its use is noted", async || last_use().await).await;
    assert!(at >= key.created_at);
}

#[tokio::test]
async fn the_command_line_has_verbs_for_keys_of_any_tenant() {
    let world = World::start(&[]).await;
    world.tenant("team").await;
    let verb = |arguments: &[&str]| {
        let all = [&["key", "-o", "json", "--tenant", "team"], arguments].concat();
        assay(Some(&world.host), &all).json::<Vec<Key>>(0)
    };
    let made = verb(&[
        "create",
        "--name",
        "ci",
        "--scope",
        "batches:write",
        "--plugin",
        "math@prod",
        "--expires-at",
        "2099-01-01T00:00:00Z",
    ]);
    let key = &made[0];
    assert_eq!(
        (key.tenant.as_str(), key.plugins.as_deref()),
        ("team", Some(&["math@prod".to_owned()][..]))
    );
    assert!(key.expires_at.is_some() && key.secret.is_some());
    let id = key.id.to_string();
    let rotated = verb(&["rotate", &id, "--overlap-hours", "1"]);
    assert!(rotated[0].secret.is_some() && rotated[0].previous_secret_until.is_some());
    assert_eq!(verb(&["ls"]).len(), 1);
    assert!(verb(&["revoke", &id])[0].revoked_at.is_some());
}
