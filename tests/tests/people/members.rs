//! The permissions of each role in its tenant, how long they last, and the entries that each act leaves in
//! the audit log.

use assay_api::audit::{AuditEntry, AuditPage};
use assay_api::key::Scope;
use assay_api::operations::IncidentPage;
use assay_api::people::{Member, MemberList, Membership, Role, Session};
use assay_tests::{Answer, Browser, assay};
use reqwest::Method;
use serde_json::{Value, json};

use super::{PASSWORD, World};

#[tokio::test]
async fn each_role_does_what_it_may() {
    let world = World::start(&[]).await;
    world.tenant("team").await;
    for (role, scopes) in [
        ("viewer", &[Scope::BatchesRead][..]),
        ("trainer", &[Scope::BatchesRead, Scope::BatchesWrite]),
        (
            "publisher",
            &[
                Scope::BatchesRead,
                Scope::BatchesWrite,
                Scope::PluginsPublish,
                Scope::PluginsPromote,
            ],
        ),
        (
            "admin",
            &[
                Scope::BatchesRead,
                Scope::BatchesWrite,
                Scope::PluginsPublish,
                Scope::PluginsPromote,
                Scope::Admin,
            ],
        ),
    ] {
        let email = format!("{role}@example.com");
        let (mut browser, session, _) = world.member("team", &email, role).await;
        assert_eq!(session.scopes, scopes);
        let may = |scope| scopes.contains(&scope);
        let announce = json!({ "plugin": "nothing@prod", "run": "run" });
        let promote = json!({ "version": "1.0.0" });
        for (method, path, body, allowed) in [
            (Method::GET, "/v1/plugins", None, true),
            (Method::POST, "/v1/batches", Some(&announce), may(Scope::BatchesWrite)),
            (
                Method::PUT,
                "/v1/plugins/nothing/channels/prod",
                Some(&promote),
                may(Scope::PluginsPromote),
            ),
            (Method::GET, "/v1/keys", None, may(Scope::Admin)),
            (Method::GET, "/v1/members", None, may(Scope::Admin)),
            (Method::GET, "/v1/people", None, false),
            (Method::GET, "/v1/capacity", None, false),
        ] {
            let request = browser.request(method, path);
            let request = if let Some(body) = body { request.json(body) } else { request };
            let answer = browser.send(request).await;
            assert_eq!(answer.status != 403, allowed, "{role}: {}: {}", answer.call, answer.text());
        }
    }
    // An administrator of a tenant sees no other, and makes none of the platform.
    let mut browser = Browser::new(&world.host);
    browser.sign_in("admin@example.com", PASSWORD).await;
    let _ = browser.get("/v1/members?tenant=platform").await.problem(404, "not_found");
    for (path, body) in [
        ("/v1/members", json!({ "tenant": "platform", "email": "x@y.z", "role": "viewer" })),
        ("/v1/keys", json!({ "tenant": "platform", "scopes": ["batches:read"] })),
    ] {
        let _ = browser.post(path, &body).await.problem(404, "not_found");
    }
    let key = json!({ "scopes": ["platform:*"] });
    let _ = browser.post("/v1/keys", &key).await.problem(403, "scope_missing");
    // A key of the platform's tenant that administers that one alone does not either.
    let key = json!({ "scopes": ["admin:*"] });
    let key: assay_api::key::Key = world.http.post("/v1/keys", &key).await.json(201);
    let http = world.http.with_key(&key.secret.expect("shown once"));
    let member = json!({ "email": "x@example.com", "role": "admin" });
    let _ = http.post("/v1/members", &member).await.problem(403, "scope_missing");
}

#[tokio::test]
async fn members_come_change_and_go() {
    let world = world_with_teams().await;
    let (mut ada, session, member) = world.member("team", "ada@example.com", "viewer").await;
    assert_eq!((session.tenant.as_str(), session.tenants.len()), ("team", 1));
    let again = json!({ "tenant": "team", "email": "ADA@example.com", "role": "admin" });
    let _ = world.http.post("/v1/members", &again).await.problem(409, "conflict");
    let also = json!({ "tenant": "other", "email": "ada@example.com", "role": "trainer" });
    let also: Member = world.http.post("/v1/members", &also).await.json(201);
    assert!(also.invitation.is_none() && also.person == member.person);

    // From one tenant to another, and to none that is not hers.
    let switch = |tenant: &str| json!({ "tenant": tenant });
    let session: Session = ada.post("/v1/session/tenant", &switch("other")).await.json(200);
    assert_eq!((session.tenant.as_str(), session.role), ("other", Some(Role::Trainer)));
    // A page that still shows the first one changes nothing in the second.
    let _ = ada.post("/v1/session/tenant", &switch("team")).await.problem(403, "csrf");
    ada.csrf = session.csrf;
    let expected = [("other", Role::Trainer), ("team", Role::Viewer)]
        .map(|(tenant, role)| Membership { tenant: tenant.into(), role });
    assert_eq!(session.tenants, expected);
    for tenant in ["platform", "nowhere"] {
        let refused = ada.post("/v1/session/tenant", &switch(tenant)).await;
        let _ = refused.problem(404, "not_found");
    }

    // A role holds at once.
    let path = format!("/v1/members/{}?tenant=other", member.person);
    let set = async |role: &str| {
        let request = world.http.request(Method::PATCH, &path).json(&json!({ "role": role }));
        world.http.send(request).await
    };
    assert_eq!(ada.get("/v1/keys").await.status, 403);
    assert_eq!(set("admin").await.json::<Member>(200).role, Role::Admin);
    assert_eq!(ada.get("/v1/keys").await.status, 200);
    let odd = set("king").await;
    assert!(odd.problem(400, "bad_request").detail.contains("king"));

    // Who is removed is out at once, and keeps what else there is.
    let answer = world.http.send(world.http.request(Method::DELETE, &path)).await;
    assert_eq!(answer.status, 204);
    let _ = ada.get("/v1/keys").await.problem(401, "unauthenticated");
    let _ = set("viewer").await.problem(404, "not_found");
    ada.cookies.clear();
    let session = ada.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(session.tenant, "team");
    let path = format!("/v1/members/{}?tenant=team", member.person);
    assert_eq!(world.http.send(world.http.request(Method::DELETE, &path)).await.status, 204);
    ada.cookies.clear();
    let call = json!({ "email": "ada@example.com", "password": PASSWORD });
    let _ = ada.post("/v1/session", &call).await.problem(403, "no_membership");

    let acts = audit(&world.http.get("/v1/audit?tenant=other").await);
    let key = json!("key");
    let expected = [
        ("member.remove", json!({ "role": "admin" }), Value::Null),
        ("member.role", json!({ "role": "trainer" }), json!({ "role": "admin" })),
        ("member.add", Value::Null, json!({ "role": "trainer", "invited": false })),
    ]
    .map(|(action, before, after)| json!([action, "ada@example.com", key.clone(), before, after]));
    assert_eq!(acts[..3], expected);
    let everything = world.http.get("/v1/audit").await.text();
    assert!(!everything.contains("argon2") && !everything.contains(PASSWORD));
}

async fn world_with_teams() -> World {
    let world = World::start(&[]).await;
    for tenant in ["team", "other"] {
        world.tenant(tenant).await;
    }
    world
}

fn audit(answer: &Answer) -> Vec<Value> {
    let page: AuditPage = answer.json(200);
    let acts = page
        .items
        .into_iter()
        .map(|act| json!([act.action, act.subject, act.actor.kind, act.before, act.after]));
    acts.collect()
}

async fn acts(browser: &mut Browser, query: &str) -> Vec<AuditEntry> {
    let page: AuditPage = browser.get(&format!("/v1/audit?{query}")).await.json(200);
    // A next page would tell that there are acts which are not shown.
    assert!(!page.items.is_empty() || page.next.is_none(), "{query}: {page:?}");
    page.items
}

/// Who acknowledged the latest incident, as it is shown.
async fn acknowledged_by(browser: &mut Browser, query: &str) -> String {
    let page: IncidentPage = browser.get(&format!("/v1/incidents?{query}")).await.json(200);
    page.items[0].acknowledged.clone().expect("it is acknowledged").by
}

#[tokio::test]
async fn a_tenant_does_not_learn_who_of_the_platform_acted() {
    let mut world = world_with_teams().await;
    let (mut ada, ..) = world.member("team", "ada@example.com", "admin").await;
    let (mut bob, _, member) = world.member("team", "bob@example.com", "admin").await;
    let call = json!({ "email": "eve@example.com", "role": "viewer" });
    assert_eq!(bob.post("/v1/members", &call).await.status, 201);
    let incident = world.database().rows(
        "insert into incidents (at, tenant_id, kind, count, detail) \
         select now(), id, 'batch_late', 1, '' from tenants where name = 'team' returning id",
    );
    let acknowledge = format!("/v1/incidents/{}/acknowledge", incident[0]);
    assert_eq!(bob.post(&acknowledge, &json!({})).await.status, 200);
    let path = format!("/v1/members/{}", member.person);
    assert_eq!(ada.send(ada.request(Method::DELETE, &path)).await.status, 204);
    let set = world.admin.request(Method::PATCH, "/v1/tenants/team").json(&json!({ "weight": 3 }));
    assert_eq!(world.admin.send(set).await.status, 200);

    // Its own people are named, and are when they have gone.
    for (email, action) in [("ada@example.com", "member.remove"), ("bob@example.com", "member.add")]
    {
        let found = acts(&mut ada, &format!("actor={email}")).await;
        let found: Vec<_> = found.iter().map(|act| (&*act.actor.name, &*act.action)).collect();
        assert_eq!(found, [(email, action)]);
    }
    assert_eq!(acknowledged_by(&mut ada, "").await, "bob@example.com");
    assert_eq!(world.admin.post(&acknowledge, &json!({})).await.status, 200);
    // Acts of earlier servers have no tenant of a person.
    for forget in
        ["select 1", "update audit set actor_tenant_id = null where actor_kind = 'person'"]
    {
        let _ = world.database().rows(forget);
        let seen = acknowledged_by(&mut ada, "").await;
        assert_eq!(seen, "an administrator of the platform");
        assert_eq!(acknowledged_by(&mut world.admin, "all=true").await, "root@example.com");
        let shown = acts(&mut ada, "action=weight.set").await;
        assert_eq!((&*shown[0].actor.kind, &shown[0].actor.id), ("platform", &None));
        assert!(!shown[0].actor.name.contains("root"), "{shown:?}");
        assert!(acts(&mut ada, "actor=root@example.com&limit=1").await.is_empty());
        let all = acts(&mut world.admin, "tenant=team&actor=root@example.com").await;
        assert_eq!((all.len(), &*all[0].actor.kind), (1, "person"));
        assert_eq!(acts(&mut ada, "actor=ada@example.com").await.len(), 1);
    }
}

/// A person who sends an invitation may also take it and choose its password, so no other tenant may rely
/// on that person.
#[tokio::test]
async fn a_tenant_vouches_for_whom_it_invites_to_itself_alone() {
    let world = world_with_teams().await;
    let (mut team, ..) = world.member("team", "team@example.com", "admin").await;
    let (mut other, ..) = world.member("other", "other@example.com", "admin").await;
    let call = json!({ "email": "victim@example.com", "role": "trainer" });
    let invited: Member = team.post("/v1/members", &call).await.json(201);
    assert!(invited.invited);
    // The administrator takes it.
    let mut thief = Browser::new(&world.host);
    thief.accept(&invited.invitation.expect("is new").token, PASSWORD).await;
    let key = world.personal(&mut thief).await;

    let refused = other.post("/v1/members", &call).await;
    assert!(refused.problem(409, "conflict").detail.contains("another tenant"));
    // The platform vouches anew: what was known before is worth nothing.
    let call = json!({ "tenant": "other", "email": "victim@example.com", "role": "trainer" });
    let vouched: Member = world.http.post("/v1/members", &call).await.json(201);
    let _ = thief.get("/v1/session").await.problem(401, "unauthenticated");
    let _ = key.get("/v1/batches").await.problem(401, "unauthenticated");
    thief.cookies.clear();
    let call = json!({ "email": "victim@example.com", "password": PASSWORD });
    let _ = thief.post("/v1/session", &call).await.problem(401, "sign_in_failed");
    let mut victim = Browser::new(&world.host);
    let token = vouched.invitation.expect("invited anew").token;
    let session = victim.accept(&token, "a password of my own").await;
    assert_eq!(session.tenants.len(), 2);

    // One's own people come and go; who has no password yet is invited again.
    let call = json!({ "email": "bob@example.com", "role": "viewer" });
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let bob: Member = team.post("/v1/members", &call).await.json(201);
        tokens.push(bob.invitation.expect("has no password").token);
        let path = format!("/v1/members/{}", bob.person);
        assert_eq!(team.send(team.request(Method::DELETE, &path)).await.status, 204);
    }
    let bob: Member = team.post("/v1/members", &call).await.json(201);
    let mut browser = Browser::new(&world.host);
    let old = json!({ "token": tokens[1], "password": PASSWORD });
    let _ = browser.post("/v1/invitations/accept", &old).await.problem(404, "not_found");
    browser.accept(&bob.invitation.expect("still none").token, PASSWORD).await;
    let path = format!("/v1/members/{}", bob.person);
    assert_eq!(team.send(team.request(Method::DELETE, &path)).await.status, 204);
    let bob: Member = team.post("/v1/members", &call).await.json(201);
    assert!(bob.invitation.is_none() && !bob.invited);

    // An invitation does not last.
    let call = json!({ "email": "late@example.com", "role": "viewer" });
    let late: Member = team.post("/v1/members", &call).await.json(201);
    let _ = world.database().rows("update invitations set expires_at = now()");
    let call = json!({ "token": late.invitation.expect("is new").token, "password": PASSWORD });
    let _ = browser.post("/v1/invitations/accept", &call).await.problem(404, "not_found");
}

#[tokio::test]
async fn the_command_line_has_verbs_for_people() {
    let world = world_with_teams().await;
    let member = |arguments: &[&str]| {
        let all = [&["member", "-o", "json", "--tenant", "team"], arguments].concat();
        assay(Some(&world.host), &all).json::<Vec<Member>>(0)
    };
    let added = member(&["add", "ada@example.com", "--role", "trainer", "--name", "Ada"]);
    let token = added[0].invitation.clone().expect("is new").token;
    let mut browser = Browser::new(&world.host);
    let session = browser.accept(&token, PASSWORD).await;
    assert_eq!(session.role, Some(Role::Trainer));
    assert_eq!(member(&["role", "Ada@example.com", "admin"])[0].role, Role::Admin);
    assert_eq!(member(&["ls"]).len(), 1);
    member(&["remove", "ada@example.com"]);
    assert!(member(&["ls"]).is_empty());
    let gone = assay(Some(&world.host), &["member", "remove", "ada@example.com"]);
    assert!(gone.code == Some(1) && gone.stderr.contains("is not a member"), "{gone:?}");
    let person = |verb: &str| {
        let ended = assay(Some(&world.host), &["person", verb, "ada@example.com"]);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    assert!(person("disable").contains("disabled"));
    assert!(person("enable").contains("active"));
    assert!(person("invite").contains("invitation until"));
    let who: Session = assay(Some(&world.host), &["whoami", "-o", "json"]).json(0);
    assert_eq!(
        (who.tenant.as_str(), who.key.expect("a key").name.as_str()),
        ("platform", "first key")
    );
    let members: MemberList = world.http.get("/v1/members").await.json(200);
    assert_eq!(members.items.len(), 1);
}
