//! OpenTelemetry: a receiver on a port of this machine gets the traces and metrics of a real server.

mod receiver;

use assay_api::batch::AnnounceBatch;
use assay_api::request::Reward;
use assay_api::result::ResultItem;
use assay_tests::{Answers, Host, HostOptions, Http, item, ndjson, until};
use reqwest::Method;
use serde_json::{Value, json};

use receiver::{Receiver, asked_host, attribute, hex};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn options(receiver: &Receiver, more: &[&str]) -> HostOptions {
    let own = ["--otlp-endpoint", &receiver.url, "--otlp-headers", "x-key=a%20secret"];
    let arguments = own.iter().chain(more).map(|&argument| argument.to_owned()).collect();
    HostOptions { arguments, ..HostOptions::default() }
}

/// Scores one request, as a caller with this header.
async fn reward(http: &Http, call: &Value, traceparent: Option<&str>) -> Reward {
    let request = http.request(Method::POST, "/v1/rewards").json(call);
    let request = match traceparent {
        Some(header) => request.header("traceparent", header),
        None => request,
    };
    http.send(request).await.json(200)
}

#[tokio::test]
async fn a_trainers_trace_goes_through_a_capability_to_the_commit() {
    let receiver = Receiver::start(|_| 200).await;
    let (port, asked) = asked_host().await;
    let host = Host::start(options(&receiver, &["--otlp-attributes", "team=rl"]));
    let client = host.client();
    let tenant = client.tenants().await.expect("lists").items.swap_remove(0);
    let hosts = [format!("private:http://127.0.0.1:{port}")];
    let patch = json!({ "grants": { "hosts": hosts } });
    client.set_tenant(&tenant.name, &patch).await.expect("grants");
    let plugin = host.publish("requester").await;

    let http = Http::new(&host);
    let task = json!({ "send": { "url": format!("http://127.0.0.1:{port}/") } });
    let call = json!({ "plugin": plugin, "response": "x", "label": task });
    let reward = reward(&http, &call, Some(&format!("00-{TRACE}-{PARENT}-01"))).await;
    assert_eq!(reward.trace_id.as_deref(), Some(TRACE));

    let names = ["request", "queue score", "stage score", "http", "commit"];
    let spans = until("the whole trace comes", async || {
        let spans = receiver.spans();
        names.iter().all(|name| spans.iter().any(|span| span.name == *name)).then_some(spans)
    })
    .await;
    // A guest polls for an answer; on a busy machine that is several waits.
    let others = spans.iter().filter(|span| span.name != "http").count();
    assert_eq!(others, names.len() - 1);
    let span = |name: &str| spans.iter().find(|span| span.name == name).expect("it is there");
    assert!(spans.iter().all(|span| hex(&span.trace_id) == TRACE));
    let request = span("request");
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(attribute(&request.attributes, "assay.request.id"), reward.id.to_string());
    assert_eq!(attribute(&request.attributes, "assay.plugin"), "requester@1.0.0");
    assert_eq!(attribute(&request.attributes, "assay.outcome"), "scored");
    for name in ["queue score", "stage score", "commit"] {
        assert_eq!(span(name).parent_span_id, request.span_id, "{name}");
    }
    let (stage, call) = (span("stage score"), span("http"));
    assert_eq!(call.parent_span_id, stage.span_id);
    for (inner, outer) in [(call, stage), (stage, request), (span("commit"), request)] {
        assert!(inner.start_time_unix_nano >= outer.start_time_unix_nano, "{inner:?} {outer:?}");
        assert!(inner.end_time_unix_nano <= outer.end_time_unix_nano, "{inner:?} {outer:?}");
    }
    // The host that the plugin asked continues the trace below the stage.
    let wanted = format!("00-{TRACE}-{}-01", hex(&stage.span_id));
    assert_eq!(asked.lock().expect("whole")[0]["traceparent"], wanted);

    let resource = receiver.resource();
    assert_eq!(attribute(&resource, "service.name"), "assay");
    assert_eq!(attribute(&resource, "service.instance.id"), host.url);
    assert_eq!(attribute(&resource, "team"), "rl");
    assert!(receiver.headers().iter().all(|headers| headers["x-key"] == "a secret"));
}

#[tokio::test]
async fn every_request_of_a_call_is_in_its_trace_and_results_say_so() {
    let receiver = Receiver::start(|_| 200).await;
    let host = Host::start(options(&receiver, &[]));
    let (client, http) = (host.client(), Http::new(&host));
    let plugin = host.publish("liar").await;
    let call = AnnounceBatch { expected_size: Some(3), ..announced(&plugin) };
    let batch = client.announce(&call).await.expect("announces");
    let items = [item("a", "xx", "null"), item("b", "panic", "null")];
    let submit = |items| {
        let path = format!("/v1/batches/{}/requests", batch.id);
        let request = http.request(Method::POST, &path).body(ndjson(items));
        request.header("content-type", "application/x-ndjson")
    };
    let header = format!("00-{TRACE}-{PARENT}-01");
    let traced = http.send(submit(&items).header("traceparent", header)).await;
    assert_eq!(traced.json::<Value>(200)["accepted"], 2);
    let others = [item("c", "xx", "null")];
    assert_eq!(http.send(submit(&others)).await.json::<Value>(200)["accepted"], 1);

    let path = format!("/v1/batches/{}/results", batch.id);
    let results = until("all results are there", async || {
        let page: Value = http.get_when_ended(&path).await.json(200);
        let items: Vec<ResultItem> = serde_json::from_value(page["items"].clone()).ok()?;
        (items.len() == 3).then_some(items)
    })
    .await;
    for result in &results {
        let wanted = (result.key != "c").then_some(TRACE);
        assert_eq!(result.trace_id.as_deref(), wanted, "{}", result.key);
    }
    // An error is the status of its request's span, and of the stage's.
    let failed = results.iter().find(|result| result.key == "b").expect("it is there");
    let code = failed.outcome.verdict();
    assert_eq!(failed.outcome.reward(), None, "{code}");
    until("the failure comes", async || {
        let spans = receiver.spans();
        let is_failed = |name: &str| {
            let named = spans.iter().filter(|span| span.name == name);
            named.filter_map(|span| span.status.as_ref()).any(|status| status.message == code)
        };
        (is_failed("request") && is_failed("stage prepare")).then_some(())
    })
    .await;
    let requests = receiver.spans().iter().filter(|span| span.name == "request").count();
    assert_eq!(requests, 2);
}

fn announced(plugin: &str) -> AnnounceBatch {
    AnnounceBatch {
        plugin: plugin.into(),
        run: "r".into(),
        iteration: 1,
        expected_size: None,
        group_size: None,
        max_extra_delay_ms: None,
        consumes: None,
        share_equal: Some(false),
        join: None,
        settings: None,
    }
}

#[tokio::test]
async fn a_call_in_a_trainers_own_protocol_is_traced_too() {
    let receiver = Receiver::start(|_| 200).await;
    let host = Host::start(options(&receiver, &[]));
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let call = json!({ "query": ["qxx", "qx"], "prompts": ["q", "q"], "labels": [] });
    let request = http.request(Method::POST, &format!("/compat/openrlhf/{plugin}/traced"));
    let header = format!("00-{TRACE}-{PARENT}-01");
    let answer = http.send(request.json(&call).header("traceparent", header)).await;
    assert_eq!(answer.json::<Value>(200)["rewards"].as_array().map(Vec::len), Some(2));
    let requests = until("both requests come", async || {
        let spans = receiver.spans().into_iter().filter(|span| span.name == "request");
        let requests: Vec<_> = spans.collect();
        (requests.len() == 2).then_some(requests)
    })
    .await;
    assert!(requests.iter().all(|span| hex(&span.parent_span_id) == PARENT));
    assert!(requests.iter().all(|span| attribute(&span.attributes, "assay.run") == "traced"));
}

#[tokio::test]
async fn callers_decide_and_others_are_traced_in_part() {
    let receiver = Receiver::start(|_| 200).await;
    let mut host = Host::start(options(&receiver, &["--traced-part", "1"]));
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let call = json!({ "plugin": plugin, "response": "xx" });
    let not_recorded = format!("00-{TRACE}-{PARENT}-00");
    assert_eq!(reward(&http, &call, Some(&not_recorded)).await.trace_id, None);
    assert_eq!(reward(&http, &call, Some("nonsense")).await.trace_id, None);
    let own = reward(&http, &call, None).await.trace_id.expect("all others are traced");
    let root = until("its trace comes", async || {
        let spans = receiver.spans();
        spans.into_iter().find(|span| span.name == "request")
    })
    .await;
    assert_eq!(hex(&root.trace_id), own);
    assert!(root.parent_span_id.is_empty());

    // Without a receiver nothing is traced, whatever callers say.
    host.stop();
    host.restart_with(&[]);
    let http = Http::new(&host);
    let recorded = format!("00-{TRACE}-{PARENT}-01");
    assert_eq!(reward(&http, &call, Some(&recorded)).await.trace_id, None);
}

#[tokio::test]
async fn metrics_are_those_of_the_page() {
    let receiver = Receiver::start(|_| 200).await;
    let host = Host::start(options(&receiver, &["--otlp-metrics-ms", "100"]));
    let plugin = host.publish("trivial").await;
    let (client, items) = (host.client(), [item("a", "xx", "null"), item("b", "x", "null")]);
    let mut answers = Answers::submit(&client, &plugin, &items).await;
    answers.finish(&client, &items).await;
    until("both are counted", async || {
        (receiver.counter("assay_requests_total", "outcome", "scored") == Some(2.0)).then_some(())
    })
    .await;
    let page = Http::new(&host).get("/metrics").await.text();
    let names = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names: Vec<_> = names.filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 20, "{page}");
    // Also those that a report before did not have yet.
    until("all of them come", async || {
        let sent = receiver.metric_names();
        let is_sent = |name: &&str| sent.contains(*name) || !page.contains(&format!("\n{name}"));
        names.iter().all(is_sent).then_some(())
    })
    .await;
    assert_eq!(receiver.counter("assay_requests_total", "outcome", "error"), Some(0.0));
}

#[tokio::test]
async fn a_receiver_in_trouble_costs_no_reward_and_is_counted() {
    // Refuses the first call for good, and the second one for now.
    let receiver = Receiver::start(|before| [400, 503].get(before).copied().unwrap_or(200)).await;
    let host = Host::start(options(&receiver, &[]));
    let http = Http::new(&host);
    let plugin = host.publish("trivial").await;
    let call = json!({ "plugin": plugin, "response": "xx", "share_equal": false });
    let header = format!("00-{TRACE}-{PARENT}-01");
    let count = async |result: &str| {
        let page = http.get("/metrics").await.text();
        let line = format!("assay_otlp_spans_total{{result=\"{result}\"}} ");
        let value = page.lines().find_map(|it| it.strip_prefix(&line)).expect("it is counted");
        value.parse::<u32>().expect("a number")
    };
    assert_eq!(reward(&http, &call, Some(&header)).await.outcome.reward(), Some(1.0));
    until("the loss is counted", async || (count("failed").await == 4).then_some(())).await;
    assert!(receiver.spans().is_empty());
    assert!(host.log().contains("traces and metrics are lost"), "{}", host.log());
    assert_eq!(reward(&http, &call, Some(&header)).await.outcome.reward(), Some(1.0));
    until("the second trace is sent", async || (count("sent").await == 4).then_some(())).await;
    assert_eq!((receiver.spans().len(), count("failed").await), (4, 4));
    assert!(host.log().contains("takes traces and metrics again"), "{}", host.log());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_left_is_sent_when_the_server_stops() {
    let receiver = Receiver::start(|_| 200).await;
    let mut host = Host::start(options(&receiver, &[]));
    let plugin = host.publish("trivial").await;
    let call = json!({ "plugin": plugin, "response": "xx" });
    let header = format!("00-{TRACE}-{PARENT}-01");
    assert!(reward(&Http::new(&host), &call, Some(&header)).await.trace_id.is_some());
    // Before the second for which spans are gathered is over, on most machines.
    assert!(host.stop());
    assert_eq!(receiver.spans().len(), 4);
}
