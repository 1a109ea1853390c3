//! The answers that browsers get: the dashboard's page and files, and the headers that restrict every
//! answer, whoever asks and whatever a tenant wrote into it.

use std::io::Write as _;
use std::path::Path;

use assay_tests::{Answer, Browser, Host, HostOptions, Http, checkout};
use reqwest::Method;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, IF_NONE_MATCH};
use serde_json::{Value, json};

const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const NOTHING: &str =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("none", |value| value.to_str().expect("ASCII"))
}

/// The headers that every answer has, page or not.
fn check_always(answer: &Answer) {
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(header(answer, name), value, "{}", answer.call);
    }
    assert!(header(answer, "permissions-policy").contains("camera=()"), "{}", answer.call);
    assert_ne!(header(answer, "request-id"), "none", "{}", answer.call);
}

/// An answer that is no page: it may do nothing and is kept nowhere.
fn check_plain(answer: &Answer) {
    check_always(answer);
    assert_eq!(header(answer, "content-security-policy"), NOTHING, "{}", answer.call);
    assert_eq!(header(answer, "cache-control"), "no-store", "{}", answer.call);
    assert!(!header(answer, "content-type").contains("html"), "{}", answer.call);
}

async fn ask(http: &Http, method: Method, path: &str, accept: &str) -> Answer {
    http.send(http.without_key().request(method, path).header(ACCEPT, accept)).await
}

/// Whether a dashboard was built; the server must have it then.
fn built() -> bool {
    let there = checkout().join("web/dist/index.html").is_file();
    if !there {
        // Past the capture of tests that pass.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the dashboard's files; it was not built (`make web`)"
        );
    }
    there
}

#[tokio::test]
async fn every_kind_of_answer_has_its_headers() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let hello = host.publish("assay_plugin_hello").await;
    let call = json!({ "plugin": hello, "response": "Answer: 42", "label": "42" });
    let reward = http.post("/v1/rewards", &call).await;
    check_plain(&reward);
    let id = reward.json::<Value>(200)["id"].as_str().expect("an id").to_owned();
    let batch = id.split('.').next().expect("its first part").to_owned();
    for path in [
        "/livez".into(),
        "/readyz".into(),
        "/metrics".into(),
        "/openapi.json".into(),
        "/v1/plugins".into(),
        format!("/v1/requests/{id}"),
        format!("/v1/requests/{id}/logs"),
        format!("/v1/requests/{id}/artifacts/extract"),
        format!("/v1/batches/{batch}/results"),
        format!("/v1/batches/{batch}/events"),
    ] {
        let answer = http.get(&path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        check_plain(&answer);
    }
    let refused = [
        (http.get("/v1/nothing").await, 404),
        (http.get("/v1/requests/x").await, 404),
        (http.without_key().get("/v1/plugins").await, 401),
        (http.send(http.request(Method::PATCH, "/v1/plugins")).await, 405),
        (http.post_bytes("/v1/rewards", "application/json", "{").await, 400),
        (http.get("/v1/plugins/%ff").await, 400),
        (http.post_bytes("/v1/plugins", "application/wasm", "no component").await, 422),
        (http.post("/v1/session", &json!({ "email": "a@b.example", "password": "x" })).await, 401),
    ];
    for (answer, status) in refused {
        assert_eq!(answer.status, status, "{}: {}", answer.call, answer.text());
        assert_eq!(header(&answer, "content-type"), "application/problem+json", "{}", answer.call);
        assert_eq!(header(&answer, "strict-transport-security"), "none");
        check_plain(&answer);
    }
}

#[tokio::test]
async fn what_a_tenant_wrote_is_never_a_page() {
    let host = Host::start(HostOptions::default());
    let http = Http::new(&host);
    let hello = host.publish("assay_plugin_hello").await;
    // The plugin hands on what follows the last `Answer:`.
    let page = "<script>document.title='taken'</script>";
    let call = json!({ "plugin": hello, "prompt": page, "response": format!("Answer: {page}"), "label": page });
    let reward: Value = http.post("/v1/rewards", &call).await.json(200);
    let id = reward["id"].as_str().expect("an id");
    let asked = async |path: &str| {
        let answer = http.send(http.request(Method::GET, path).header(ACCEPT, HTML)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        check_plain(&answer);
        answer
    };
    let artifact = asked(&format!("/v1/requests/{id}/artifacts/extract")).await;
    assert_eq!(artifact.text(), page);
    assert_eq!(header(&artifact, "content-type"), "application/octet-stream");
    assert_eq!(header(&artifact, "content-disposition"), "attachment");
    for path in [format!("/v1/requests/{id}"), format!("/v1/requests/{id}/logs")] {
        assert_eq!(header(&asked(&path).await, "content-type"), "application/json", "{path}");
    }
    let kept: assay_api::request::Request = asked(&format!("/v1/requests/{id}")).await.json(200);
    assert_eq!((kept.prompt.as_str(), kept.result.is_some()), (page, true));
    let results =
        asked(&format!("/v1/batches/{}/results", id.split('.').next().expect("one"))).await;
    assert_eq!(header(&results, "content-type"), "application/json");
}

#[tokio::test]
async fn the_page_is_served_for_every_route_of_the_client_and_for_nothing_else() {
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host);
    for (path, accept) in [
        ("/assets/gone-0.js", HTML),
        ("/assets/gone-0.js", "*/*"),
        ("/favicon.ico", "image/avif,image/webp,*/*;q=0.8"),
        ("/runs/x", "application/json"),
        ("/v1", HTML),
        ("/v1/nothing", HTML),
    ] {
        let answer = ask(&http, Method::GET, path, accept).await;
        let _ = answer.problem(404, "not_found");
        check_plain(&answer);
    }
    for method in [Method::POST, Method::PUT, Method::DELETE] {
        let _ = ask(&http, method, "/", HTML).await.problem(404, "not_found");
    }

    let page = ask(&http, Method::GET, "/", HTML).await;
    assert_eq!(page.status, 200);
    if !built() {
        assert!(page.text().contains("not part of this build"), "{}", page.text());
        check_plain(&page);
        assert!(host.log().contains("the dashboard is not part of this build"), "{}", host.log());
        return;
    }
    let mut nonces = Vec::new();
    for path in ["/", "/runs/my.run-1.5", "/batches/x?tab=requests", "/admin/tenants"] {
        let page = ask(&http, Method::GET, path, HTML).await;
        assert_eq!(page.status, 200, "{path}: the server was built before the dashboard");
        assert_eq!(header(&page, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header(&page, "cache-control"), "no-cache");
        check_always(&page);
        let policy = header(&page, "content-security-policy");
        let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next());
        let nonce = nonce.unwrap_or_else(|| panic!("{path}: {policy}"));
        assert!(page.text().contains(&format!("content=\"{nonce}\"")), "{path}");
        for part in ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"] {
            assert!(policy.contains(part) && !policy.contains("unsafe"), "{policy}");
        }
        nonces.push(nonce.to_owned());
        let head = ask(&http, Method::HEAD, path, HTML).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        check_always(&head);
    }
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "each answer has a nonce of its own");
}

#[tokio::test]
async fn files_are_kept_and_asked_about_by_their_hash() {
    if !built() {
        return;
    }
    let host = Host::start(HostOptions { workers: vec!["cpu=0".into()], ..HostOptions::default() });
    let http = Http::new(&host).without_key();
    let page = ask(&http, Method::GET, "/", HTML).await.text();
    let names: Vec<_> = page.split('"').filter(|text| text.starts_with("/assets/")).collect();
    assert!(names.iter().any(|name| has_end(name, "js")), "{page}");
    assert!(names.iter().any(|name| has_end(name, "css")), "{page}");
    for name in names {
        let plain = http.get(name).await;
        assert_eq!(plain.status, 200, "{name}");
        check_always(&plain);
        assert_eq!(header(&plain, "cache-control"), "public, max-age=31536000, immutable");
        let kind = if has_end(name, "js") { "text/javascript" } else { "text/css" };
        assert!(header(&plain, "content-type").starts_with(kind), "{name}");
        let head = http.send(http.request(Method::HEAD, name)).await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{name}");
        assert_eq!(header(&head, "etag"), header(&plain, "etag"));
        assert_eq!(header(&head, "content-length"), plain.body.len().to_string());

        // A few bytes get no smaller.
        if plain.body.len() < 256 {
            continue;
        }
        let get = |name: &str| http.request(Method::GET, name).header(ACCEPT_ENCODING, "gzip");
        let zipped = http.send(get(name)).await;
        assert_eq!(header(&zipped, "content-encoding"), "gzip", "{name}");
        assert!(zipped.body.len() < plain.body.len(), "{name}");
        assert_eq!(unzipped(&zipped.body), plain.body, "{name}");
        assert_ne!(header(&zipped, "etag"), header(&plain, "etag"), "{name}");
        let tag = header(&zipped, "etag");
        let again = http.send(get(name).header(IF_NONE_MATCH, tag)).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{name}");
        assert_eq!(header(&again, "etag"), tag);
        check_always(&again);
    }
}

fn has_end(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == extension)
}

fn unzipped(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(bytes);
    std::io::Read::read_to_end(&mut decoder, &mut plain).expect("is gzip");
    plain
}

#[tokio::test]
async fn only_a_server_behind_tls_asks_for_tls() {
    let arguments = vec!["--public-url".to_owned(), "https://assay.example.com".to_owned()];
    let workers = vec!["cpu=0".to_owned()];
    let host = Host::start(HostOptions { workers, arguments, ..HostOptions::default() });
    let mut browser = Browser::new(&host);
    for path in ["/livez", "/", "/v1/nothing"] {
        let answer = browser.get(path).await;
        assert_eq!(header(&answer, "strict-transport-security"), "max-age=31536000", "{path}");
    }
}
