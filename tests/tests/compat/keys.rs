//! Keys as trainers can give them, and whose things one gets with them.

use assay_api::key::Key;
use assay_api::tenant::Tenant;
use assay_tests::Answer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use serde_json::{Value, json};

use super::World;

fn rollout() -> Value {
    json!({ "prompt": "6 * 7?", "response": "Answer: 42", "label": "42" })
}

async fn with(world: &World, headers: &[(&str, String)], path: &str) -> Answer {
    let nobody = world.http.without_key();
    let mut request = nobody.request(Method::POST, path).json(&rollout());
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    nobody.send(request).await
}

#[tokio::test]
async fn a_key_comes_by_bearer_basic_path_or_rolls_header() {
    let world = World::start().await;
    let key = &world.host.key;
    let path = "/compat/slime/hello@prod/keys";
    let bearer = format!("Bearer {key}");
    let basic =
        |user: &str, key: &str| format!("Basic {}", STANDARD.encode(format!("{user}:{key}")));
    let by_path = format!("/compat/{key}/slime/hello@prod/keys");
    for answer in [
        with(&world, &[("authorization", bearer.clone())], path).await,
        with(&world, &[("authorization", basic("any", key))], path).await,
        with(&world, &[("authorization", basic("", key))], path).await,
        with(&world, &[("xrl-authorization", bearer.clone())], path).await,
        with(&world, &[], &by_path).await,
        with(&world, &[("authorization", bearer.clone())], &by_path).await,
    ] {
        assert_eq!(answer.json::<Value>(200), json!(1.0), "{}", answer.call);
    }
    // All of them are one call: also with a key in the path.
    assert_eq!(world.batch("keys").await.counts.submitted, 1);

    let _ = with(&world, &[], path).await.problem(401, "unauthenticated");
    let wrong = format!("{}zz", &key[..key.len() - 2]);
    for headers in [
        vec![("authorization", format!("Bearer {wrong}"))],
        vec![("authorization", basic("any", &wrong))],
        vec![("authorization", "Basic !".into())],
        vec![("xrl-authorization", wrong.clone())],
    ] {
        let _ = with(&world, &headers, path).await.problem(401, "unauthenticated");
    }
    let wrong_path = format!("/compat/{wrong}/slime/hello@prod/keys");
    let refused = with(&world, &[], &wrong_path).await;
    let _ = refused.problem(401, "unauthenticated");
    let mixed = with(&world, &[("authorization", bearer)], &wrong_path).await;
    let _ = mixed.problem(400, "credentials_mixed");
    // Elsewhere a password is no key: browsers send it by themselves.
    let request = world.http.without_key().request(Method::GET, "/v1/plugins");
    let basic = request.header("authorization", basic("any", key));
    let _ = world.http.send(basic).await.problem(401, "unauthenticated");

    // A key in a path is told nowhere.
    let lost = with(&world, &[], &format!("/compat/{key}/slime/hello@prod")).await;
    let _ = lost.problem(400, "bad_request");
    let unknown = with(&world, &[], &format!("/compat/{key}/trl/hello@prod/run")).await;
    let _ = unknown.problem(404, "not_found");
    let metrics = world.http.get("/metrics").await.text();
    for told in [lost.text(), unknown.text(), refused.text(), world.host.log(), metrics] {
        for secret in [key, &wrong] {
            assert!(!told.contains(secret.as_str()), "{told}");
        }
    }
}

#[tokio::test]
async fn another_tenants_plugins_and_scopes_that_are_missing_are_refused() {
    let world = World::start().await;
    let tenant = json!({ "name": "other" });
    let _: Tenant = world.http.post("/v1/tenants", &tenant).await.json(201);
    let key = async |call: Value| -> Key { world.http.post("/v1/keys", &call).await.json(201) };
    let other = key(json!({ "tenant": "other", "scopes": ["batches:write"] })).await;
    let reader = key(json!({ "scopes": ["batches:read"] })).await;
    let narrow = key(json!({ "scopes": ["batches:write"], "plugins": ["liar"] })).await;
    let call = async |key: &Key, plugin: &str| {
        let key = key.secret.clone().expect("shown when it is made");
        let path = format!("/compat/{key}/slime/{plugin}/theirs");
        world.http.without_key().post(&path, &rollout()).await
    };
    let _ = call(&other, "hello@prod").await.problem(404, "not_found");
    let _ = call(&other, "platform/hello@prod").await.problem(404, "not_found");
    let _ = call(&reader, "hello@prod").await.problem(403, "scope_missing");
    let _ = call(&narrow, "hello@prod").await.problem(403, "plugin_not_allowed");
    assert!(world.batches("theirs").await.is_empty());
    // Also where a burst is open already.
    let ours = world.post("slime/hello@prod/theirs", &rollout()).await;
    assert_eq!(ours.json::<f64>(200), 1.0);
    let _ = call(&narrow, "hello@prod").await.problem(403, "plugin_not_allowed");
    let _ = call(&other, "hello@prod").await.problem(404, "not_found");
    let tenant = world.post("slime/platform/hello@prod/theirs", &rollout()).await;
    assert_eq!(tenant.json::<f64>(200), 1.0);
    // A run keeps its plugin.
    let _ = world.post("slime/liar@prod/theirs", &rollout()).await.problem(409, "run_pinned");
}

/// People try an address with a GET before a run: what a call for a reward would refuse, it refuses.
#[tokio::test]
async fn a_probe_is_refused_where_a_call_would_be() {
    let world = World::start().await;
    let call = json!({ "scopes": ["batches:write"], "plugins": ["hello"] });
    let key: Key = world.http.post("/v1/keys", &call).await.json(201);
    let theirs = world.http.with_key(key.secret.as_deref().expect("shown when it is made"));
    for protocol in
        ["slime", "nemo-gym", "openrlhf", "sandbox-fusion", "llama-factory", "open-instruct"]
    {
        let probe = |plugin: &str| format!("/compat/{protocol}/{plugin}/probed");
        assert_eq!(theirs.get(&probe("hello@prod")).await.status, 200, "{protocol}");
        let _ = theirs.get(&probe("liar@prod")).await.problem(403, "plugin_not_allowed");
        for absent in ["absent@prod", "hello@absent"] {
            assert_eq!(world.http.get(&probe(absent)).await.status, 404, "{protocol} {absent}");
        }
    }
}
