//! People: the first administrator, invitations, sessions and what guards them, roles, an OpenID
//! provider; and what keys learned beside them.

mod keys;
mod members;
mod oidc;
mod provider;
mod sessions;

use assay_api::key::Key;
use assay_api::people::{Member, Session};
use assay_tests::{Browser, Host, HostOptions, Http, Psql};
use serde_json::json;

const PASSWORD: &str = "correct horse battery";

/// A server without workers and its first administrator.
struct World {
    host: Host,
    /// The interface, called with the first key.
    http: Http,
    /// The browser of the first administrator.
    admin: Browser,
}

impl World {
    async fn start(arguments: &[&str]) -> Self {
        let (host, http) = start(arguments);
        let mut admin = Browser::new(&host);
        let call = json!({
            "token": bootstrap_token(&host).expect("there is a token"),
            "email": "Root@Example.com",
            "name": "Root",
            "password": PASSWORD,
        });
        let answer = admin.post("/v1/bootstrap", &call).await;
        let session = admin.signed_in(&answer);
        assert_eq!(session.person.expect("a person").email, "root@example.com");
        Self { host, http, admin }
    }

    /// Somebody new, signed in.
    async fn member(&self, tenant: &str, email: &str, role: &str) -> (Browser, Session, Member) {
        let call = json!({ "tenant": tenant, "email": email, "role": role });
        let member: Member = self.http.post("/v1/members", &call).await.json(201);
        let token = &member.invitation.as_ref().expect("is new").token;
        let mut browser = Browser::new(&self.host);
        let session = browser.accept(token, PASSWORD).await;
        (browser, session, member)
    }

    /// The interface, called with a personal key of who is signed in, which was in use a moment ago.
    async fn personal(&self, browser: &mut Browser) -> Http {
        let call = json!({ "scopes": ["batches:read"] });
        let key: Key = browser.post("/v1/session/keys", &call).await.json(201);
        let http = self.http.with_key(&key.secret.expect("shown when it is made"));
        assert_eq!(http.get("/v1/batches").await.status, 200);
        http
    }

    async fn tenant(&self, name: &str) {
        let answer = self.http.post("/v1/tenants", &json!({ "name": name })).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
    }

    fn database(&self) -> Psql {
        self.host.psql()
    }
}

fn start(arguments: &[&str]) -> (Host, Http) {
    let host = Host::start(HostOptions {
        workers: vec!["cpu=0".into()],
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        ..HostOptions::default()
    });
    let http = Http::new(&host);
    (host, http)
}

fn bootstrap_token(host: &Host) -> Option<String> {
    let token = std::fs::read_to_string(host.data().join("bootstrap.token")).ok()?;
    Some(token.trim().to_owned())
}
