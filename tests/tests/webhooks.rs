//! Webhooks: a real server tells receivers on ports of this machine of incidents, and of nothing else.

use assay_api::batch::BatchState;
use assay_api::operations::{IncidentKind, IncidentPage};
use assay_api::webhook::{
    DeliveryState, Webhook, WebhookDelivery, WebhookDeliveryList, WebhookList,
};
use assay_tests::{Host, HostOptions, Http, assay, item, until};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use ring::hmac;
use serde_json::{Value, json};

use crate::rubric::server::{Model, Question, Reply, status};

/// A server whose first tenant may call these ports.
async fn start(ports: &[u16]) -> (Host, Http) {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    grant(&host, ports).await;
    (host, http)
}

async fn grant(host: &Host, ports: &[u16]) {
    let hosts: Vec<_> =
        ports.iter().map(|port| format!("private:http://127.0.0.1:{port}")).collect();
    let patch = json!({ "grants": { "hosts": hosts } });
    let client = host.client();
    let tenants = client.tenants().await.expect("lists").items;
    client.set_tenant(&tenants[0].name, &patch).await.expect("grants");
}

async fn receiver(reply: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Model {
    Model::start(move |_, before| reply(before)).await
}

fn taken() -> Reply {
    status(204, "", "")
}

async fn add(http: &Http, port: u16, more: &Value) -> Webhook {
    let mut call = json!({ "name": "ops", "url": format!("http://127.0.0.1:{port}/secret-path") });
    let call_fields = call.as_object_mut().expect("an object");
    call_fields.extend(more.as_object().expect("an object").clone());
    http.post("/v1/webhooks", &call).await.json(201)
}

/// Ends requests of a run as errors, which is an incident.
async fn fail(host: &Host, plugin: &str, run: &str) {
    let client = host.client();
    let call = assay_api::batch::AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration: 1,
        expected_size: Some(1),
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    let batch = client.announce(&call).await.expect("announces");
    client.submit(batch.id, &[item("a", "panic", "4")]).await.expect("submits");
    until("the batch ends", async || {
        let batch = client.batch(batch.id).await.expect("is there");
        (batch.state == BatchState::Done).then_some(())
    })
    .await;
}

async fn deliveries(http: &Http, webhook: &Webhook) -> Vec<WebhookDelivery> {
    let path = format!("/v1/webhooks/{}/deliveries", webhook.id);
    http.get(&path).await.json::<WebhookDeliveryList>(200).items
}

async fn first(receiver: &Model) -> Question {
    until("a message comes", async || receiver.asked().first().cloned()).await
}

fn header(question: &Question, name: &str) -> String {
    let line = question.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("no {name} in {}", question.head)).to_owned()
}

#[tokio::test]
async fn an_incident_is_told_once_and_signed() {
    let receiver = receiver(|_| taken()).await;
    let (host, http) = start(&[receiver.port]).await;
    let plugin = host.publish("liar").await;
    fail(&host, &plugin, "before").await;
    let kinds = json!({ "kinds": ["requests_failed"] });
    let webhook = add(&http, receiver.port, &kinds).await;
    assert_eq!(webhook.to, format!("http://127.0.0.1:{}", receiver.port));
    fail(&host, &plugin, "told").await;
    let message = first(&receiver).await;
    assert!(message.head.starts_with("POST /secret-path HTTP/1.1"), "{}", message.head);
    assert_eq!(message.body["type"], "incident");
    let incident = &message.body["data"]["incident"];
    assert_eq!((&incident["kind"], &incident["run"]), (&json!("requests_failed"), &json!("told")));

    let secret = webhook.secret.expect("shown when it is made");
    let secret = STANDARD.decode(secret.strip_prefix("whsec_").expect("its mark")).expect("base64");
    let (id, at) = (header(&message, "webhook-id"), header(&message, "webhook-timestamp"));
    let tag = header(&message, "webhook-signature");
    let tag = STANDARD.decode(tag.strip_prefix("v1,").expect("a version")).expect("base64");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let signed = format!("{id}.{at}.{}", message.text);
    hmac::verify(&key, signed.as_bytes(), &tag).expect("it is signed");

    // The list shows neither the secret nor the path, and that it arrived.
    let listed = until("it is known to have arrived", async || {
        let list: WebhookList = http.get("/v1/webhooks").await.json(200);
        let latest = list.items[0].latest.clone()?;
        (latest.state == DeliveryState::Delivered).then_some(list)
    })
    .await;
    let text = json!(listed).to_string();
    assert!(!text.contains("secret-path") && !text.contains("whsec_"), "{text}");
    // The same again is not told within the hour; another run is.
    fail(&host, &plugin, "told").await;
    fail(&host, &plugin, "other").await;
    until("the other run is told", async || {
        let asked = receiver.asked();
        asked.iter().any(|it| it.body["data"]["incident"]["run"] == "other").then_some(())
    })
    .await;
    let runs: Vec<_> =
        receiver.asked().iter().map(|it| it.body["data"]["incident"]["run"].clone()).collect();
    assert_eq!(runs, ["told", "other"]);
}

#[tokio::test]
async fn what_is_muted_or_of_another_kind_is_not_told() {
    let receiver = receiver(|_| taken()).await;
    let (host, http) = start(&[receiver.port]).await;
    let plugin = host.publish("liar").await;
    fail(&host, &plugin, "muted").await;
    let path = "/v1/incidents?kind=requests_failed";
    let incident = until("the incident is written", async || {
        http.get(path).await.json::<IncidentPage>(200).items.into_iter().next()
    })
    .await;
    let path = format!("/v1/incidents/{}/acknowledge", incident.id);
    let _: Value = http.post(&path, &json!({ "mute_hours": 1 })).await.json(200);
    let late_only =
        add(&http, receiver.port, &json!({ "kinds": ["batch_late"], "name": "late" })).await;
    let failures = json!({ "kinds": ["requests_failed"], "form": "slack" });
    let webhook = add(&http, receiver.port, &failures).await;
    fail(&host, &plugin, "muted").await;
    fail(&host, &plugin, "heard <b>").await;
    let message = first(&receiver).await;
    let text = message.body["text"].as_str().expect("a line");
    assert!(text.starts_with("*requests failed* in platform, run heard &lt;b&gt;"), "{text}");
    let told = deliveries(&http, &webhook).await;
    assert_eq!(
        told.iter().map(|it| it.kind).collect::<Vec<_>>(),
        [Some(IncidentKind::RequestsFailed)]
    );
    assert!(deliveries(&http, &late_only).await.is_empty());
}

#[tokio::test]
async fn the_platforms_incidents_are_for_its_own_tenant() {
    let receiver = receiver(|_| taken()).await;
    let (host, http) = start(&[receiver.port]).await;
    let _: Value = http.post("/v1/tenants", &json!({ "name": "other" })).await.json(201);
    let hosts = [format!("private:http://127.0.0.1:{}", receiver.port)];
    let patch = json!({ "grants": { "hosts": hosts } });
    host.client().set_tenant("other", &patch).await.expect("grants");
    let call = json!({ "tenant": "other", "name": "all", "scopes": ["admin:*", "platform:*"] });
    let key: Value = http.post("/v1/keys", &call).await.json(201);
    let other = http.with_key(key["secret"].as_str().expect("a key"));
    let url = format!("http://127.0.0.1:{}/", receiver.port);
    let call = json!({ "name": "ops", "url": url, "platform": true });
    let refused = other.post("/v1/webhooks", &call).await.problem(403, "not_granted");
    assert!(refused.hint.expect("a hint").contains("the tenant `platform`"));
    assert!(add(&http, receiver.port, &json!({ "platform": true })).await.platform);
}

#[tokio::test]
async fn a_receiver_that_fails_is_tried_again_by_the_next_server_too() {
    let receiver =
        receiver(|before| if before == 0 { status(500, "", "secret words") } else { taken() })
            .await;
    let (mut host, http) = start(&[receiver.port]).await;
    let webhook = add(&http, receiver.port, &json!({})).await;
    let path = format!("/v1/webhooks/{}/test", webhook.id);
    let _: WebhookDelivery = http.post(&path, &json!({})).await.json(202);
    let failed = until("the first try failed", async || {
        deliveries(&http, &webhook).await.into_iter().find(|it| it.tries == 1)
    })
    .await;
    assert_eq!(failed.state, DeliveryState::Waiting);
    assert_eq!(failed.error.as_deref(), Some("the receiver answered 500"));
    host.kill();
    host.restart();
    let http = Http::new(&host);
    let arrived = until("the second try arrives", async || {
        deliveries(&http, &webhook)
            .await
            .into_iter()
            .find(|it| it.state == DeliveryState::Delivered)
    })
    .await;
    assert_eq!((arrived.id, arrived.tries), (failed.id, 2));
    let ids: Vec<_> = receiver.asked().iter().map(|it| header(it, "webhook-id")).collect();
    assert_eq!(ids, [failed.id.to_string(), failed.id.to_string()]);
    assert_eq!(receiver.asked()[0].body["type"], "test");
}

#[tokio::test]
async fn only_what_was_granted_is_called() {
    // Where the first redirects to was not granted.
    let other = receiver(|_| taken()).await;
    let location = format!("location: http://127.0.0.1:{}/\r\n", other.port);
    let receiver = receiver(move |_| status(307, &location, "")).await;
    let (host, http) = start(&[receiver.port]).await;
    let call = json!({ "name": "a", "url": format!("http://127.0.0.1:{}/", other.port) });
    let _ = http.post("/v1/webhooks", &call).await.problem(403, "not_granted");
    let call = json!({ "name": "a", "url": "http://user@127.0.0.1/" });
    let _ = http.post("/v1/webhooks", &call).await.problem(400, "bad_request");
    let webhook = add(&http, receiver.port, &json!({})).await;
    let test = format!("/v1/webhooks/{}/test", webhook.id);
    let _: WebhookDelivery = http.post(&test, &json!({})).await.json(202);
    let latest = async |state| {
        until("the delivery is tried", async || {
            let latest = deliveries(&http, &webhook).await.into_iter().next()?;
            (latest.tries > 0 && latest.state == state).then_some(latest)
        })
        .await
    };
    let redirected = latest(DeliveryState::Waiting).await;
    assert_eq!(redirected.error.as_deref(), Some("the receiver answered 307"));
    assert!(other.asked().is_empty());

    // A grant that was taken back ends what is on its way.
    grant(&host, &[]).await;
    let _: WebhookDelivery = http.post(&test, &json!({})).await.json(202);
    let refused = latest(DeliveryState::Failed).await;
    assert!(refused.error.is_some_and(|error| error.contains("not granted")));
    let path = format!("/v1/webhooks/{}", webhook.id);
    assert_eq!(http.send(http.request(Method::DELETE, &path)).await.status, 204);
    let _ = http.get(&format!("{path}/deliveries")).await.problem(404, "not_found");
}

#[tokio::test]
async fn the_command_line_adds_tests_and_removes() {
    let receiver = receiver(|_| taken()).await;
    let (host, _) = start(&[receiver.port]).await;
    let url = format!("http://127.0.0.1:{}/x", receiver.port);
    let said = |arguments: &[&str]| {
        let arguments = [&["webhook"], arguments].concat();
        let ended = assay(Some(&host), &arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.stdout
    };
    let added = said(&["add", "ops", &url, "--kinds", "batch_late,requests_failed"]);
    assert!(added.contains("whsec_"), "{added}");
    assert!(said(&["test", "ops"]).contains("on its way"));
    first(&receiver).await;
    let listed = said(&["ls"]);
    assert!(listed.contains("batch_late,requests_failed"), "{listed}");
    assert!(said(&["deliveries", "ops"]).contains("test"));
    said(&["rm", "ops"]);
    assert_eq!(said(&["ls"]).lines().count(), 1);
}
