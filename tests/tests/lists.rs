//! The lists of administration and of trouble: pages, searches, late batches, groups of incidents.

use std::collections::BTreeSet;

use assay_api::acknowledgement::Acknowledgement;
use assay_api::batch::AnnounceBatch;
use assay_api::key::{Key, KeyList};
use assay_api::operations::{Incident, IncidentKind, IncidentPage, Overview};
use assay_api::people::{MemberList, PersonList};
use assay_api::plugin::{Plugin, PluginChannelList, PluginList};
use assay_api::tenant::TenantList;
use assay_api::view::{BatchList, Timeline};
use assay_core::id::BatchId;
use assay_core::time::Micros;
use assay_tests::{Answers, Host, HostOptions, Http, assay, item, until};
use serde::Deserialize;
use serde_json::{Value, json};

/// Any of the lists, as far as paging needs it.
#[derive(Deserialize)]
struct AnyList {
    items: Vec<Value>,
    next: Option<String>,
}

/// The field of all items, read in pages of `limit`.
async fn paged(http: &Http, path: &str, limit: usize, field: &str) -> Vec<String> {
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let joint = if path.contains('?') { '&' } else { '?' };
        let page: AnyList = http.get(&format!("{path}{joint}limit={limit}{after}")).await.json(200);
        assert!(page.items.len() <= limit, "{path}");
        found.extend(page.items.iter().map(|item| item[field].as_str().expect("text").to_owned()));
        match page.next {
            Some(next) => after = format!("&after={next}"),
            None => return found,
        }
    }
}

#[tokio::test]
async fn tenants_people_members_keys_and_plugins_are_paged_and_searched() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    for at in 0..5 {
        let _: Value =
            http.post("/v1/tenants", &json!({ "name": format!("lab-{at}") })).await.json(201);
        let key = json!({ "tenant": "lab-0", "name": format!("Trainer {at}"), "scopes": ["batches:read"] });
        let _: Value = http.post("/v1/keys", &key).await.json(201);
        let email = format!("person{at}@example.com");
        let member = json!({ "tenant": "lab-0", "email": email, "name": "", "role": "viewer" });
        let _: Value = http.post("/v1/members", &member).await.json(201);
    }
    for plugin in ["trivial", "liar", "worker_load"] {
        host.publish(plugin).await;
    }
    for (path, field, least) in [
        ("/v1/tenants", "name", 5),
        ("/v1/keys?tenant=lab-0", "id", 5),
        ("/v1/members?tenant=lab-0", "email", 5),
        ("/v1/people", "email", 5),
        ("/v1/plugins", "name", 3),
    ] {
        let whole = paged(&http, path, 1_000, field).await;
        assert!(whole.len() >= least && whole.is_sorted(), "{path}: {whole:?}");
        assert_eq!(paged(&http, path, 2, field).await, whole, "{path}");
        let unlike: BTreeSet<_> = whole.iter().collect();
        assert_eq!(unlike.len(), whole.len(), "{path}");
    }
    let tenants: TenantList = http.get("/v1/tenants?q=LAB-3").await.json(200);
    assert!(matches!(&tenants.items[..], [one] if one.name == "lab-3"));
    let keys: KeyList = http.get("/v1/keys?tenant=lab-0&q=trainer%204").await.json(200);
    assert!(matches!(&keys.items[..], [one] if one.name == "Trainer 4"));
    let members: MemberList = http.get("/v1/members?tenant=lab-0&q=person2").await.json(200);
    assert!(matches!(&members.items[..], [one] if one.email == "person2@example.com"));
    let people: PersonList = http.get("/v1/people?q=person1").await.json(200);
    let [person] = &people.items[..] else { panic!("one: {people:?}") };
    assert_eq!(person.memberships[0].tenant, "lab-0");
    let plugins: PluginList = http.get("/v1/plugins?q=TRIV").await.json(200);
    assert!(matches!(&plugins.items[..], [one] if one.name == "trivial"));
}

/// Ends a batch late: one worker does one after the other what could be done at once.
async fn late_batch(host: &Host, plugin: &str, run: &str) -> BatchId {
    let client = host.client();
    let call = AnnounceBatch {
        plugin: plugin.into(),
        run: run.into(),
        iteration: 1,
        expected_size: Some(4),
        group_size: None,
        max_extra_delay_ms: Some(0),
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    };
    let batch = client.announce(&call).await.expect("announces").id;
    let items: Vec<_> = (0..4).map(|at| item(format!("r{at}"), "20000", "4")).collect();
    client.submit(batch, &items).await.expect("submits");
    Answers { batch, seen: Vec::new() }.finish(&client, &items).await;
    batch
}

#[tokio::test]
async fn late_batches_are_listed_alone_and_their_incidents_together() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let plugin = host.publish("worker_load").await;
    let mut late = Vec::new();
    for run in ["noisy", "noisy", "other"] {
        late.push(late_batch(&host, &plugin, run).await);
    }
    let reward = json!({ "plugin": plugin, "response": "1", "label": 4 });
    assert_eq!(http.post("/v1/rewards", &reward).await.status, 200);
    late.reverse();
    let list: BatchList = http.get("/v1/batches?late=true").await.json(200);
    let ids: Vec<_> = list.items.iter().map(|item| item.batch.id).collect();
    assert_eq!(ids, late);
    assert!(list.items.iter().all(|item| item.late));
    let page: BatchList = http.get("/v1/batches?late=true&limit=1").await.json(200);
    let after = page.next.expect("there is more");
    let page: BatchList =
        http.get(&format!("/v1/batches?late=true&run=noisy&after={after}")).await.json(200);
    assert_eq!(page.items.len(), 2);
    let timeline: Timeline = http.get(&format!("/v1/batches/{}/timeline", late[0])).await.json(200);
    assert_eq!((timeline.tolerance_ms, timeline.tolerated_end_ms), (0.0, timeline.earliest_end_ms));

    let grouped = until("the incidents are written", async || {
        let path = "/v1/incidents?kind=batch_late&grouped=true";
        let page: IncidentPage = http.get(path).await.json(200);
        (page.items.iter().map(|it| it.count).sum::<u32>() == 3).then_some(page)
    })
    .await;
    let told: Vec<_> =
        grouped.items.iter().map(|it| (it.run.as_deref(), it.count, it.batch)).collect();
    assert_eq!(told, [(Some("other"), 1, Some(late[0])), (Some("noisy"), 2, Some(late[1]))]);
    assert!(grouped.items.iter().all(|it| it.kind == IncidentKind::BatchLate));
}

/// Lets another batch of the run end late, and waits until it is told with `count` late ones in all.
async fn late_again(host: &Host, http: &Http, plugin: &str, run: &str, count: u32) -> IncidentPage {
    late_batch(host, plugin, run).await;
    until("the incident is written", async || {
        let page: IncidentPage =
            http.get("/v1/incidents?kind=batch_late&grouped=true").await.json(200);
        (page.items.iter().map(|it| it.count).sum::<u32>() == count).then_some(page)
    })
    .await
}

#[tokio::test]
async fn an_acknowledged_incident_is_closed_until_it_happens_again_and_a_muted_one_stays_so() {
    let host = Host::start(HostOptions { workers: vec!["cpu=1".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    let plugin = host.publish("worker_load").await;
    let open = async || -> Vec<String> {
        let path = "/v1/incidents?kind=batch_late&grouped=true&open=true";
        let page: IncidentPage = http.get(path).await.json(200);
        let each: IncidentPage =
            http.get("/v1/incidents?kind=batch_late&open=true").await.json(200);
        let overview: Overview = http.get("/v1/overview").await.json(200);
        let runs = |items: &[Incident]| {
            items.iter().filter_map(|it| it.run.clone()).collect::<BTreeSet<_>>()
        };
        assert_eq!(runs(&page.items), runs(&each.items));
        assert!(runs(&overview.incidents).is_superset(&runs(&page.items)));
        assert!(overview.incidents.iter().all(|it| it.acknowledged.is_none()));
        runs(&page.items).into_iter().collect()
    };
    let _ = late_again(&host, &http, &plugin, "quiet", 1).await;
    let page = late_again(&host, &http, &plugin, "noisy", 2).await;
    let [noisy, quiet] = &page.items[..] else { panic!("two: {page:?}") };
    assert_eq!(open().await, ["noisy", "quiet"]);

    let command = |verb: &[&str]| assay(Some(&host), &[&["incident", "-o", "json"], verb].concat());
    let (noisy_id, quiet_id) = (noisy.id.to_string(), quiet.id.to_string());
    let seen: Acknowledgement = command(&["acknowledge", &noisy_id]).json(0);
    assert!(seen.until >= noisy.at && seen.at >= noisy.at);
    assert_eq!(open().await, ["quiet"]);
    let told: IncidentPage = command(&["ls", "--kind", "batch_late"]).json(0);
    let of = |run: &str| told.items.iter().find(|it| it.run.as_deref() == Some(run));
    assert_eq!(of("noisy").expect("listed").acknowledged, Some(seen));
    assert_eq!(of("quiet").expect("listed").acknowledged, None);

    // It happens again, and is open again; a muted one is not.
    let muted: Acknowledgement = command(&["acknowledge", &quiet_id, "--mute-hours", "2"]).json(0);
    assert!(muted.until.since(muted.at) >= Micros::from_secs(7_200));
    let _ = late_again(&host, &http, &plugin, "noisy", 3).await;
    let _ = late_again(&host, &http, &plugin, "quiet", 4).await;
    assert_eq!(open().await, ["noisy"]);
    assert_eq!(command(&["reopen", &quiet_id]).code, Some(0));
    assert_eq!(open().await, ["noisy", "quiet"]);

    let path = format!("/v1/incidents/{quiet_id}/acknowledge");
    let long = http.post(&path, &json!({ "mute_hours": 721 })).await.problem(400, "bad_request");
    assert_eq!(long.field.as_deref(), Some("mute_hours"));
    let absent = "/v1/incidents/999999/acknowledge";
    let _ = http.post(absent, &json!({})).await.problem(404, "not_found");
    // A tenant acknowledges no incident of another.
    let _ = http.post("/v1/tenants", &json!({ "name": "other" })).await;
    let call = json!({ "tenant": "other", "scopes": ["batches:write", "batches:read"] });
    let key: Key = http.post("/v1/keys", &call).await.json(201);
    let other = http.with_key(key.secret.as_deref().expect("shown when it is made"));
    let _ = other.post(&path, &json!({})).await.problem(404, "not_found");
    let reopen = format!("/v1/incidents/{quiet_id}/reopen");
    let _ = other.post(&reopen, &json!({})).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_channel_says_where_a_rollback_leads_and_a_run_cannot_pass_for_another() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let path = "/v1/plugins/trivial/channels";
    let channels: PluginChannelList = http.get(path).await.json(200);
    let [prod] = &channels.items[..] else { panic!("one: {channels:?}") };
    assert_eq!((prod.channel.as_str(), prod.rolls_back_to.as_deref()), ("prod", None));
    let back =
        async |body: Value| http.post("/v1/plugins/trivial/channels/prod/rollback", &body).await;
    let _ = back(json!({})).await.problem(409, "conflict");
    host.publish("trivial_next").await;
    let _ = back(json!({ "from": "1.0.0" })).await.problem(409, "conflict");
    assert_eq!(back(json!({ "from": "1.1.0" })).await.json::<Plugin>(200).version, "1.0.0");
    // A call whose answer was lost is repeated: it goes back no second time.
    let again = back(json!({ "from": "1.1.0" })).await.problem(409, "conflict");
    assert!(again.detail.contains("points to 1.0.0, and no longer to 1.1.0"), "{again:?}");
    let _ = http.get("/v1/plugins/nobodys/channels").await.problem(404, "not_found");

    for run in ["..", ".", "live-\u{202e}live", "a\nb"] {
        let call = json!({ "plugin": plugin, "run": run, "iteration": 1 });
        let _ = http.post("/v1/batches", &call).await.problem(400, "bad_request");
    }
}
