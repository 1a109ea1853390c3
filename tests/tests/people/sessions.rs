//! Sign-ins, the life of sessions, and the attempts of other sites to use them, which all fail.

use std::os::unix::fs::PermissionsExt as _;

use assay_api::audit::AuditPage;
use assay_api::key::Scope;
use assay_api::people::{Person, PersonList, Role, Session, SignInMethods};
use assay_tests::{Browser, CSRF, until};
use reqwest::Method;
use serde_json::{Value, json};

use super::{PASSWORD, World, bootstrap_token, start};

#[tokio::test]
async fn the_first_administrator_is_made_once() {
    let (mut host, http) = start(&[]);
    let file = host.data().join("bootstrap.token");
    let mode = std::fs::metadata(&file).expect("there is a token").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = bootstrap_token(&host).expect("a token");
    let (log, data) = (host.log(), host.data());
    assert!(log.contains(&*file.to_string_lossy()) && !log.contains(&token), "{log}");
    let open = http.without_key();
    let methods: SignInMethods = open.get("/v1/session/methods").await.json(200);
    assert_eq!(methods, SignInMethods { password: true, oidc: false, bootstrap: true });

    // Another start, another token.
    assert!(host.stop());
    host.restart();
    let mut browser = Browser::new(&host);
    let call = |token: &str, password: &str| json!({ "token": token, "email": "root@example.com", "password": password });
    let old = browser.post("/v1/bootstrap", &call(&token, PASSWORD)).await;
    let _ = old.problem(403, "bootstrap_token_wrong");
    let token = bootstrap_token(&host).expect("a token");
    let short = browser.post("/v1/bootstrap", &call(&token, "too short")).await;
    assert!(short.problem(400, "bad_request").detail.contains("12 characters"));
    let (answer, other) = tokio::join!(
        async { Browser::new(&host).post("/v1/bootstrap", &call(&token, PASSWORD)).await },
        async { Browser::new(&host).post("/v1/bootstrap", &call(&token, PASSWORD)).await },
    );
    let mut both = [answer, other];
    both.sort_by_key(|answer| answer.status);
    let session: Session = both[0].json(201);
    let _ = both[1].problem(409, "bootstrap_done");
    assert_eq!((session.tenant.as_str(), session.role), ("platform", Some(Role::Admin)));
    assert!(session.scopes.contains(&Scope::Platform));
    assert!(!data.join("bootstrap.token").exists());
    let session = browser.sign_in("ROOT@example.com", PASSWORD).await;
    assert_eq!(session.tenants.len(), 1);
    let methods: SignInMethods = browser.get("/v1/session/methods").await.json(200);
    assert!(!methods.bootstrap);

    // Another start offers it no more either.
    assert!(host.stop());
    host.restart();
    assert!(bootstrap_token(&host).is_none());
    browser.url = host.url.clone();
    let again = browser.get("/v1/session").await;
    assert_eq!(again.json::<Session>(200).csrf, session.csrf, "a session outlives the server");
    let audit: AuditPage = browser.get("/v1/audit?action=platform.bootstrap").await.json(200);
    assert_eq!(audit.items.len(), 1);
    assert_eq!(audit.items[0].actor.name, "root@example.com");
}

#[tokio::test]
async fn a_session_begins_and_ends() {
    let world = World::start(&[]).await;
    let mut browser = Browser::new(&world.host);
    for (email, password) in [
        ("root@example.com", "wrong horse battery"),
        ("nobody@example.com", PASSWORD),
        ("root@example.com", ""),
        ("nonsense", PASSWORD),
        ("root@example.com", &*"x".repeat(1_025)),
    ] {
        let call = json!({ "email": email, "password": password });
        let problem = browser.post("/v1/session", &call).await.problem(401, "sign_in_failed");
        assert_eq!(problem.detail, "the address or the password is wrong");
    }
    assert!(browser.cookies.is_empty());
    let call = json!({ "email": "root@example.com", "password": PASSWORD });
    let answer = browser.post("/v1/session", &call).await;
    let cookie = answer.headers["set-cookie"].to_str().expect("ASCII").to_owned();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax; Path=/; Max-Age=604800"), "{cookie}");
    let session = browser.signed_in(&answer);
    let mine: Session = browser.get("/v1/session").await.json(200);
    assert_eq!(mine.csrf, session.csrf);
    assert_eq!(mine.person.expect("a person").name, "Root");
    // Neither the token nor the password is kept.
    let token = &browser.cookies["assay_session"];
    let rows = world.database().rows("select s::text || p::text from sessions s, people p");
    assert!(rows.join("").contains("$argon2id$") && rows.len() == 2, "{rows:?}");
    assert!(!rows.join("").contains(token) && !rows.join("").contains(PASSWORD));
    // A cookie and a key are two callers.
    let both = browser.plain(Method::GET, "/v1/session").bearer_auth(&world.host.key);
    let _ = browser.send(both).await.problem(400, "credentials_mixed");
    // A host beside this one may have set one of two cookies, whatever their order.
    let two = browser.plain(Method::GET, "/v1/session").header("cookie", "assay_session=b");
    let _ = browser.send(two).await.problem(401, "unauthenticated");

    let mut before = browser.clone();
    let ended = browser.send(browser.request(Method::DELETE, "/v1/session")).await;
    assert_eq!((ended.status, browser.cookies.len()), (204, 0));
    let _ = before.get("/v1/session").await.problem(401, "unauthenticated");
    let metrics = world.http.get("/metrics").await.text();
    let count = |result: &str| format!("assay_sign_ins_total{{result=\"{result}\"}}");
    assert!(metrics.contains(&format!("{} 5", count("failed"))), "{metrics}");
    assert!(metrics.contains(&format!("{} 2", count("ok"))), "{metrics}");
}

#[tokio::test]
async fn a_session_begins_in_the_tenant_that_is_asked_for() {
    let world = World::start(&[]).await;
    for tenant in ["a-team", "b-team", "c-team"] {
        world.tenant(tenant).await;
    }
    let (mut browser, ..) = world.member("b-team", "ada@example.com", "trainer").await;
    let call = json!({ "tenant": "a-team", "email": "ada@example.com", "role": "viewer" });
    assert_eq!(world.http.post("/v1/members", &call).await.status, 201);
    let asked = [
        (Some("a-team"), "a-team"),
        (Some("c-team"), "b-team"),
        (Some(""), "b-team"),
        // Another tenant that adds her later does not decide where she begins.
        (None, "b-team"),
    ];
    for (tenant, expected) in asked {
        let mut call = json!({ "email": "ada@example.com", "password": PASSWORD });
        if let Some(tenant) = tenant {
            call["tenant"] = json!(tenant);
        }
        let answer = browser.post("/v1/session", &call).await;
        assert_eq!(browser.signed_in(&answer).tenant, expected, "{tenant:?}");
    }
}

#[tokio::test]
async fn sessions_grow_old() {
    let world = World::start(&[]).await;
    let database = world.database();
    for (age, expected) in [("11 hours", 200), ("13 hours", 401)] {
        let mut browser = Browser::new(&world.host);
        browser.sign_in("root@example.com", PASSWORD).await;
        let _ = database.rows(&format!(
            "update sessions set used_at = now() - interval '{age}', \
             created_at = now() - interval '{age}'"
        ));
        assert_eq!(browser.get("/v1/session").await.status, expected, "idle for {age}");
        if expected == 200 {
            // Its use was noted.
            let fresh = "select count(*) from sessions where used_at > now() - interval '1 hour'";
            assert_eq!(database.rows(fresh), ["1"]);
        }
    }
    let mut browser = Browser::new(&world.host);
    browser.sign_in("root@example.com", PASSWORD).await;
    let _ = database.rows(
        "update sessions set created_at = now() - interval '8 days', \
         expires_at = now() - interval '1 second', used_at = now()",
    );
    let _ = browser.get("/v1/session").await.problem(401, "unauthenticated");
    // The next sign-in sweeps what has ended.
    browser.sign_in("root@example.com", PASSWORD).await;
    assert_eq!(database.rows("select count(*) from sessions"), ["1"]);
    for nonsense in ["", "x", &"0".repeat(64), &"Z".repeat(64)] {
        browser.cookies.insert("assay_session".into(), nonsense.into());
        let _ = browser.get("/v1/session").await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn other_sites_cannot_use_a_session() {
    let World { host, mut admin, .. } = World::start(&[]).await;
    let csrf = admin.csrf.clone().expect("a token");
    let own = host.url.clone();
    let body = json!({ "name": "made" });
    let mut call = async |csrf: Option<&str>, origin: Option<&str>| {
        let mut request = admin.plain(Method::POST, "/v1/tenants").json(&body);
        if let Some(csrf) = csrf {
            request = request.header(CSRF, csrf);
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        admin.send(request).await
    };
    let missing = call(None, None).await.problem(403, "csrf");
    assert!(missing.detail.contains("missing"), "{missing:?}");
    for wrong in ["", "wrong", &"0".repeat(64)] {
        let _ = call(Some(wrong), None).await.problem(403, "csrf");
    }
    for foreign in ["http://evil.example", "null", "http://127.0.0.1"] {
        let _ = call(Some(&csrf), Some(foreign)).await.problem(403, "origin_foreign");
    }
    assert_eq!(call(Some(&csrf), Some(&own)).await.status, 201);
    // A call that only reads cannot be forged, and a key needs none of it.
    assert_eq!(admin.get("/v1/tenants").await.status, 200);
    let http = assay_tests::Http::new(&host);
    let by_key = http.request(Method::POST, "/v1/tenants").header("origin", "http://evil.example");
    assert_eq!(http.send(by_key.json(&json!({ "name": "by-key" }))).await.status, 201);

    // Signing somebody in is not another site's to do, either.
    let mut browser = Browser::new(&host);
    for path in ["/v1/session", "/v1/bootstrap", "/v1/invitations/accept"] {
        let foreign = browser.plain(Method::POST, path).header("origin", "http://evil.example");
        let _ = browser.send(foreign.json(&json!({}))).await.problem(403, "origin_foreign");
    }
}

#[tokio::test]
async fn behind_tls_cookies_are_secure_and_the_public_name_counts() {
    let world = World::start(&["--public-url", "https://assay.example.com"]).await;
    let mut browser = Browser::new(&world.host);
    let call = json!({ "email": "root@example.com", "password": PASSWORD });
    let mut from = async |origin: &str| {
        let request = browser.plain(Method::POST, "/v1/session").header("origin", origin);
        browser.send(request.json(&call)).await
    };
    let _ = from(&world.host.url).await.problem(403, "origin_foreign");
    let answer = from("https://assay.example.com").await;
    assert_eq!(answer.status, 201);
    let cookie = answer.headers["set-cookie"].to_str().expect("ASCII");
    assert!(
        cookie.starts_with("__Host-assay_session=") && cookie.ends_with("; Secure"),
        "{cookie}"
    );
    assert_eq!(browser.get("/v1/session").await.status, 200);
    // A host beside this one can set a cookie without the prefix.
    let token = browser.cookies.remove("__Host-assay_session").expect("a session");
    browser.cookies.insert("assay_session".into(), token);
    let _ = browser.get("/v1/session").await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn tries_are_counted_by_address_and_by_where_they_come_from() {
    let world = World::start(&["--proxy", "127.0.0.1"]).await;
    let mut browser = Browser::new(&world.host);
    let mut call = async |email: &str, password: &str, from: &str| {
        let call = json!({ "email": email, "password": password });
        let request = browser.plain(Method::POST, "/v1/session").json(&call);
        browser.send(request.header("x-forwarded-for", format!("6.6.6.6, {from}"))).await
    };
    for _ in 0..10 {
        let wrong = call("root@example.com", "wrong horse battery", "10.0.0.1").await;
        let _ = wrong.problem(401, "sign_in_failed");
    }
    // Right or wrong, but from there alone: nobody keeps another one out.
    let refused = call("root@example.com", PASSWORD, "10.0.0.1").await;
    let problem = refused.problem(429, "too_many_attempts");
    let seconds: u64 = refused.headers["retry-after"].to_str().expect("text").parse().expect("n");
    assert!((1..=30).contains(&seconds) && problem.hint.is_some());
    assert_eq!(call("root@example.com", PASSWORD, "10.0.0.2").await.status, 201);
    // Who is not tried can still sign in.
    world.member("platform", "ada@example.com", "viewer").await;
    assert_eq!(call("ada@example.com", PASSWORD, "10.0.0.1").await.status, 201);
    let mut limited = None;
    // The slower the machine, the later: a try is given back each second.
    for n in 0..1_000 {
        let password = "x".repeat(2_000);
        let answer = call(&format!("nobody{n}@example.com"), &password, "10.0.0.3").await;
        if answer.status == 429 {
            limited = Some(n);
            break;
        }
    }
    assert!(limited.is_some_and(|tries| tries >= 100), "{limited:?}");
    assert_eq!(call("ada@example.com", PASSWORD, "10.0.0.4").await.status, 201);
    assert!(world.http.get("/metrics").await.text().contains("result=\"limited\""));
}

/// The password is proved before the session begins, and may be changed in between.
#[tokio::test]
async fn no_session_begins_by_a_password_that_was_just_changed() {
    let world = World::start(&[]).await;
    let (mut ada, _, _) = world.member("platform", "ada@example.com", "viewer").await;
    ada.cookies.clear();
    // Changes the password once the sign-in waits for it, which has proved the old one by then.
    let change = "update people set password_hash = 'another' where email = 'ada@example.com';
        do $$ begin
            for i in 1..1000 loop
                exit when exists (select from pg_locks where not granted
                    and transactionid = pg_current_xact_id()::xid);
                perform pg_sleep(0.01);
            end loop;
        end $$";
    let database = world.database();
    let changed = tokio::task::spawn_blocking(move || database.rows(change));
    let database = world.database();
    let locked = "select 1 from pg_locks where relation = 'people'::regclass
        and mode = 'RowExclusiveLock' and database =
            (select oid from pg_database where datname = current_database())";
    until("the password is being changed", async || {
        (!database.rows(locked).is_empty()).then_some(())
    })
    .await;
    let call = json!({ "email": "ada@example.com", "password": PASSWORD });
    let _ = ada.post("/v1/session", &call).await.problem(401, "sign_in_failed");
    let _ = changed.await.expect("psql runs");
    let rows = database.rows(
        "select count(*) from sessions s join people p on p.id = s.person_id
        where p.email = 'ada@example.com' and s.created_at > p.created_at",
    );
    assert_eq!(rows, ["1"], "the session of the invitation alone");
}

#[tokio::test]
async fn a_password_is_changed_and_an_account_disabled() {
    let world = World::start(&[]).await;
    let (mut ada, session, member) = world.member("platform", "ada@example.com", "viewer").await;
    assert_eq!(session.role, Some(Role::Viewer));
    let mut second = Browser::new(&world.host);
    second.sign_in("ada@example.com", PASSWORD).await;
    let change = |current: &str| json!({ "current": current, "new": "battery horse correct" });
    let wrong = ada.post("/v1/session/password", &change("wrong horse battery")).await;
    let _ = wrong.problem(403, "password_wrong");
    let by_key = world.http.post("/v1/session/password", &change(PASSWORD)).await;
    let _ = by_key.problem(403, "session_missing");
    assert_eq!(ada.post("/v1/session/password", &change(PASSWORD)).await.status, 204);
    assert_eq!(ada.get("/v1/session").await.status, 200);
    let _ = second.get("/v1/session").await.problem(401, "unauthenticated");
    second.cookies.clear();
    second.sign_in("ada@example.com", "battery horse correct").await;

    let path = format!("/v1/people/{}", member.person);
    let set = async |body: Value| {
        let request = world.http.request(Method::PATCH, &path).json(&body);
        world.http.send(request).await
    };
    let ada_now: Person = set(json!({ "disabled": true, "name": "Ada" })).await.json(200);
    assert!(ada_now.disabled_at.is_some() && ada_now.name == "Ada");
    for browser in [&mut ada, &mut second] {
        let _ = browser.get("/v1/session").await.problem(401, "unauthenticated");
    }
    second.cookies.clear();
    let call = json!({ "email": "ada@example.com", "password": "battery horse correct" });
    let _ = second.post("/v1/session", &call).await.problem(401, "sign_in_failed");
    let _: Person = set(json!({ "disabled": false })).await.json(200);
    assert_eq!(second.post("/v1/session", &call).await.status, 201);

    // A lost password: another invitation, which ends the old one's use.
    let invite = format!("{path}/invitation");
    let invited: Person = world.http.post(&invite, &json!({})).await.json(201);
    second.cookies.clear();
    let _ = second.post("/v1/session", &call).await.problem(401, "sign_in_failed");
    let token = invited.invitation.expect("shown once").token;
    let people: PersonList = world.http.get("/v1/people").await.json(200);
    assert!(people.items.iter().all(|person| person.invitation.is_none()));
    second.accept(&token, PASSWORD).await;
    let again = Browser::new(&world.host)
        .post("/v1/invitations/accept", &json!({ "token": token, "password": PASSWORD }))
        .await;
    let _ = again.problem(404, "not_found");

    // The last administrator of the platform stays.
    let root = people.items.iter().find(|person| person.email == "root@example.com");
    let root = root.expect("the first administrator").id;
    let disable = world.http.request(Method::PATCH, &format!("/v1/people/{root}"));
    let answer = world.http.send(disable.json(&json!({ "disabled": true }))).await;
    assert!(answer.problem(409, "conflict").detail.contains("last administrator"));
}
