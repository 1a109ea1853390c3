//! Signing in by an OpenID provider that the test runs.

use std::io::Write as _;

use assay_api::people::{Member, PersonList, Role, Session, SignInMethods};
use assay_tests::{Answer, Browser, checkout};
use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Url};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use super::provider::{Bend, CLIENT, Provider, SECRET};
use super::{PASSWORD, World};

const START: &str = "/v1/session/oidc";

/// With a tenant `team`, where those go whom nobody invited, unless `more` says nothing of it.
async fn world(provider: &Provider, more: &str) -> World {
    let mut file = NamedTempFile::new().expect("a file");
    let url = provider.url();
    let text = format!(
        "issuer = \"{url}\"\nclient_id = \"{CLIENT}\"\nclient_secret = \"{SECRET}\"\n\
         email_domains = [\"example.com\"]\n{more}\n"
    );
    file.write_all(text.as_bytes()).expect("writes");
    let path = file.path().to_str().expect("text").to_owned();
    let world = World::start(&["--oidc", &path]).await;
    world.tenant("team").await;
    world
}

const WELCOME: &str = "tenant = \"team\"\nrole = \"trainer\"";

fn location(answer: &Answer) -> Url {
    let to = answer.headers["location"].to_str().expect("ASCII");
    Url::parse(to).unwrap_or_else(|error| panic!("{to}: {error}"))
}

/// To the provider and back, up to the call that ends it.
async fn begin(browser: &mut Browser) -> String {
    begin_for(browser, "").await
}

/// Likewise, with the query of the page that asks.
async fn begin_for(browser: &mut Browser, query: &str) -> String {
    let started = browser.get(&format!("{START}{query}")).await;
    assert_eq!(started.status, 302, "{}", started.text());
    let cookie = started.headers["set-cookie"].to_str().expect("ASCII");
    assert!(cookie.contains("; HttpOnly; SameSite=Lax; Path=/v1/session/oidc;"), "{cookie}");
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().expect("a client");
    let at_provider = client.get(location(&started)).send().await.expect("the provider answers");
    assert!(at_provider.status().is_redirection(), "{at_provider:?}");
    let back = at_provider.headers()["location"].to_str().expect("ASCII").to_owned();
    back.strip_prefix(&browser.url).expect("back to the server").to_owned()
}

async fn sign_in(browser: &mut Browser) -> Answer {
    let callback = begin(browser).await;
    browser.get(&callback).await
}

async fn sign_in_for(browser: &mut Browser, query: &str) -> Answer {
    let callback = begin_for(browser, query).await;
    browser.get(&callback).await
}

/// Where a browser that opens this address as a page is led to; `None` where no dashboard was built.
async fn page_after(browser: &mut Browser, path: &str) -> Option<HeaderValue> {
    if !checkout().join("web/dist/index.html").is_file() {
        return None;
    }
    let request = browser.request(Method::GET, path).header(ACCEPT, "text/html,*/*;q=0.8");
    let answer = browser.send(request).await;
    assert_eq!(answer.status, 303, "{}", answer.text());
    Some(answer.headers["location"].clone())
}

async fn session(browser: &mut Browser) -> Session {
    let session: Session = browser.get("/v1/session").await.json(200);
    browser.csrf.clone_from(&session.csrf);
    session
}

#[tokio::test]
async fn who_the_provider_knows_signs_in() {
    let provider = Provider::start().await;
    let world = world(&provider, WELCOME).await;
    let mut browser = Browser::new(&world.host);
    let methods: SignInMethods = browser.get("/v1/session/methods").await.json(200);
    assert!(methods.oidc && !methods.bootstrap);
    let answer = sign_in(&mut browser).await;
    assert_eq!((answer.status, &answer.headers["location"]), (303, &"/".parse().expect("plain")));
    assert!(!browser.cookies.contains_key("assay_oidc"));
    let mine = session(&mut browser).await;
    assert_eq!((mine.tenant.as_str(), mine.role), ("team", Some(Role::Trainer)));
    let person = mine.person.expect("a person");
    assert_eq!((person.email.as_str(), person.name.as_str()), ("ada@example.com", "Ada"));

    // Again, as the same; also when the address has changed at the provider.
    provider.bend(|claims| claims["email"] = json!("countess@example.com"));
    let mut second = Browser::new(&world.host);
    assert_eq!(sign_in(&mut second).await.status, 303);
    assert_eq!(session(&mut second).await.person.expect("a person").id, person.id);
    // There is no password to sign in with.
    let call = json!({ "email": "ada@example.com", "password": PASSWORD });
    let _ = second.post("/v1/session", &call).await.problem(401, "sign_in_failed");
}

#[tokio::test]
async fn the_page_that_asked_is_returned_to_in_its_tenant() {
    let provider = Provider::start().await;
    let world = world(&provider, WELCOME).await;
    world.tenant("a-team").await;
    let mut browser = Browser::new(&world.host);
    assert_eq!(sign_in(&mut browser).await.status, 303);
    let call = json!({ "tenant": "a-team", "email": "ada@example.com", "role": "viewer" });
    assert_eq!(world.http.post("/v1/members", &call).await.status, 201);
    for (query, page, tenant) in [
        ("", "/", "team"),
        ("?back=%2Fruns%3Fq%3Dx&tenant=a-team", "/runs?q=x", "a-team"),
        ("?back=%2Fruns&tenant=platform", "/runs", "team"),
        ("?back=%2F%2Fhost", "/", "team"),
        ("?back=%2F%5Chost", "/", "team"),
        ("?back=%2F%09%2Fhost", "/", "team"),
        ("?back=%2F..%2F%2Fhost", "/", "team"),
        ("?back=https%3A%2F%2Fhost%2F", "/", "team"),
    ] {
        let answer = sign_in_for(&mut browser, query).await;
        assert_eq!(
            (answer.status, &answer.headers["location"]),
            (303, &page.parse().expect("plain"))
        );
        assert_eq!(session(&mut browser).await.tenant, tenant, "{query}");
    }
    // A refused browser asks for the same page when it tries again.
    let denied = format!("{}&error=access_denied", begin_for(&mut browser, "?back=%2Fruns").await);
    if let Some(page) = page_after(&mut browser, &denied).await {
        assert_eq!(page, "/sign-in?problem=oidc_refused&back=%2Fruns");
    }
}

#[tokio::test]
async fn what_is_not_for_this_sign_in_is_refused() {
    let provider = Provider::start().await;
    let world = world(&provider, WELCOME).await;
    let mut browser = Browser::new(&world.host);
    let bends: [(Bend, &str, &str); 10] = [
        (|claims| claims["nonce"] = json!("other"), "oidc_token_invalid", "nonce"),
        (|claims| drop(remove(claims, "nonce")), "oidc_token_invalid", "nonce"),
        (|claims| claims["exp"] = json!(1_000_000), "oidc_token_invalid", "Expired"),
        (|claims| claims["aud"] = json!("other"), "oidc_token_invalid", "Audience"),
        (|claims| claims["aud"] = json!(["assay", "other"]), "oidc_token_invalid", "client"),
        (|claims| claims["azp"] = json!("other"), "oidc_token_invalid", "client"),
        (|claims| claims["iss"] = json!("http://other"), "oidc_token_invalid", "Issuer"),
        (|claims| claims["email_verified"] = json!(false), "oidc_refused", "not verified"),
        (|claims| drop(remove(claims, "email_verified")), "oidc_refused", "not verified"),
        (|claims| claims["email"] = json!("ada@example.com.evil"), "oidc_refused", "evil"),
    ];
    for (bend, code, says) in bends {
        provider.bend(bend);
        let problem = sign_in(&mut browser).await.problem(403, code);
        assert!(problem.detail.contains(says), "{problem:?}");
    }
    provider.use_another_key();
    let _ = sign_in(&mut browser).await.problem(403, "oidc_token_invalid");
    // The provider compares what began the sign-in with what ends it.
    provider.mix_challenges_up();
    let _ = sign_in(&mut browser).await.problem(403, "oidc_refused");
    assert!(!browser.cookies.contains_key("assay_session"));
    let people: PersonList = world.http.get("/v1/people").await.json(200);
    assert_eq!(people.items.len(), 1, "nobody came in");
}

fn remove(claims: &mut Value, name: &str) -> Option<Value> {
    claims.as_object_mut().expect("an object").remove(name)
}

#[tokio::test]
async fn a_sign_in_ends_once_and_in_its_own_browser() {
    let provider = Provider::start().await;
    let world = world(&provider, WELCOME).await;
    let mut browser = Browser::new(&world.host);
    let callback = begin(&mut browser).await;
    // Another browser, without the cookie: as if somebody had been sent the address.
    let mut other = Browser::new(&world.host);
    let _ = other.get(&callback).await.problem(400, "oidc_state_unknown");
    let _ = browser.get(&callback).await.problem(400, "oidc_state_unknown");
    for odd in ["?code=code-1", "?state=&code=code-1", "?state=nonsense&code=code-1", ""] {
        let answer = browser.get(&format!("{START}/callback{odd}")).await;
        let _ = answer.problem(400, "oidc_state_unknown");
    }
    // A browser is led to a page where there is a dashboard, also when the query cannot be read.
    for (odd, code) in
        [("state=nonsense", "oidc_state_unknown"), ("state=a&state=b", "bad_request")]
    {
        if let Some(page) = page_after(&mut browser, &format!("{START}/callback?{odd}")).await {
            assert_eq!(page, format!("/sign-in?problem={code}"));
        }
    }

    // A whole one; then its address again, and its code with another state.
    let callback = begin(&mut browser).await;
    let cookie = browser.cookies["assay_oidc"].clone();
    assert_eq!(browser.get(&callback).await.status, 303);
    browser.cookies.insert("assay_oidc".into(), cookie);
    let _ = browser.get(&callback).await.problem(400, "oidc_state_unknown");
    let code = callback.rsplit_once("&code=").expect("a code").1.to_owned();
    let next = begin(&mut browser).await;
    let state = next.rsplit_once("&code=").expect("a code").0.to_owned();
    let replayed = browser.get(&format!("{state}&code={code}")).await;
    let _ = replayed.problem(403, "oidc_refused");
    // The provider's words are repeated in plain letters alone.
    let next = begin(&mut browser).await;
    let state = next.rsplit_once("&code=").expect("a code").0.to_owned();
    let denied = browser.get(&format!("{state}&error=access_denied%0a<x>")).await;
    assert!(denied.problem(403, "oidc_refused").detail.contains("`access_denied<x>`"));
    let next = begin(&mut browser).await;
    let mixed = browser.get(&format!("{next}&iss=http%3A%2F%2Fother")).await;
    assert!(mixed.problem(403, "oidc_refused").detail.contains("another provider"));
}

#[tokio::test]
async fn without_a_welcome_only_who_was_invited_comes_in() {
    let provider = Provider::start().await;
    let world = world(&provider, "").await;
    let mut browser = Browser::new(&world.host);
    let refused = sign_in(&mut browser).await.problem(403, "oidc_refused");
    assert!(refused.detail.contains("invited"), "{refused:?}");

    // A tenant invited her, and its administrator took the invitation: she has the address, and
    // what was known before is worth nothing.
    let (mut admin, ..) = world.member("team", "admin@example.com", "admin").await;
    let call = json!({ "email": "ada@example.com", "role": "viewer" });
    let invited: Member = admin.post("/v1/members", &call).await.json(201);
    let mut thief = Browser::new(&world.host);
    thief.accept(&invited.invitation.expect("is new").token, PASSWORD).await;
    let key = world.personal(&mut thief).await;
    provider.be_good();
    assert_eq!(sign_in(&mut browser).await.status, 303);
    assert_eq!(session(&mut browser).await.tenant, "team");
    let _ = thief.get("/v1/session").await.problem(401, "unauthenticated");
    let _ = key.get("/v1/batches").await.problem(401, "unauthenticated");
    thief.cookies.clear();
    let call = json!({ "email": "ada@example.com", "password": PASSWORD });
    let _ = thief.post("/v1/session", &call).await.problem(401, "sign_in_failed");
    // Somebody else at the provider with her address is not her.
    provider.bend(|claims| claims["sub"] = json!("subject-2"));
    let _ = sign_in(&mut Browser::new(&world.host)).await.problem(409, "conflict");

    // Who is disabled, or a member no longer, stays out.
    provider.be_good();
    let path = format!("/v1/members/{}", invited.person);
    assert_eq!(admin.send(admin.request(Method::DELETE, &path)).await.status, 204);
    let out = sign_in(&mut Browser::new(&world.host)).await;
    let _ = out.problem(403, "no_membership");
    let mut browser = Browser::new(&world.host);
    let callback = begin(&mut browser).await;
    if let Some(page) = page_after(&mut browser, &callback).await {
        assert_eq!(page, "/sign-in?problem=no_membership");
    }
    let path = format!("/v1/people/{}", invited.person);
    let disable = world.http.request(Method::PATCH, &path).json(&json!({ "disabled": true }));
    assert_eq!(world.http.send(disable).await.status, 200);
    let _ = sign_in(&mut Browser::new(&world.host)).await.problem(403, "oidc_refused");

    // A server without a provider says so.
    let (host, http) = super::start(&[]);
    let _ = http.without_key().get(START).await.problem(404, "oidc_not_configured");
    let start = format!("{START}?back=%2Fruns");
    if let Some(page) = page_after(&mut Browser::new(&host), &start).await {
        assert_eq!(page, "/sign-in?problem=oidc_not_configured&back=%2Fruns");
    }
}
