use super::*;

const PAGE_TEXT: &[u8] =
    br#"<!doctype html><meta name="csp-nonce" content="" /><script src="/assets/a-1.js"></script>"#;

static BUILT: &[File] = &[
    File { path: "/index.html", digest: "00", bytes: PAGE_TEXT, gzip: Some(b"zipped page") },
    File { path: "/assets/a-1.js", digest: "11", bytes: b"run()", gzip: Some(b"zip") },
    File { path: "/assay.svg", digest: "22", bytes: b"<svg/>", gzip: None },
];

fn get(files: &'static [File], path: &str, pairs: &[(&'static str, &'static str)]) -> Response {
    call(files, &Method::GET, path, pairs)
}

fn call(
    files: &'static [File],
    method: &Method,
    path: &str,
    pairs: &[(&'static str, &'static str)],
) -> Response {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_static(value));
    }
    Dashboard::new(files).answer(method, path, &headers)
}

fn header_of(response: &Response, name: &str) -> String {
    let value = response.headers().get(name).map(|value| value.to_str().expect("ASCII"));
    value.unwrap_or("none").to_owned()
}

async fn text(response: Response) -> String {
    let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.expect("a small body");
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

#[tokio::test]
async fn every_page_has_a_nonce_of_its_own() {
    let mut nonces = std::collections::BTreeSet::new();
    for path in ["/", "/", "/runs/my.run-1.5", "/batches/x?tab=y", "/index.html"] {
        let response = get(BUILT, path, &[HTML]);
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(header_of(&response, "content-type"), "text/html; charset=utf-8");
        assert_eq!(header_of(&response, "cache-control"), "no-cache");
        assert_eq!(header_of(&response, "etag"), "none");
        let policy = header_of(&response, "content-security-policy");
        let nonce =
            policy.split_once("'nonce-").expect("has one").1.split_once('\'').expect("ends").0;
        assert_eq!(nonce.len(), 24, "{policy}");
        let page = text(response).await;
        assert!(page.contains(&format!(r#"name="csp-nonce" content="{nonce}" />"#)), "{page}");
        assert!(
            !policy.contains("unsafe") && policy.starts_with("default-src 'none';"),
            "{policy}"
        );
        nonces.insert(nonce.to_owned());
    }
    assert_eq!(nonces.len(), 5);
}

#[test]
fn what_is_missing_is_not_the_page() {
    for (path, accept) in [
        ("/assets/gone-2.js", "*/*"),
        ("/assets/gone-2.js", "text/html"),
        ("/favicon.ico", "image/avif,image/webp,*/*;q=0.8"),
        ("/runs/x", "application/json"),
        ("/v1", "text/html"),
        ("/v1/nothing", "text/html"),
    ] {
        assert_eq!(get(BUILT, path, &[("accept", accept)]).status(), 404, "{path} {accept}");
    }
    assert_eq!(get(BUILT, "/runs/x", &[]).status(), 404);
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        assert_eq!(call(BUILT, &method, "/", &[HTML]).status(), 404, "{method}");
    }
}

#[tokio::test]
async fn files_are_kept_by_their_hash_and_sent_compressed_where_that_is_taken() {
    let plain = get(BUILT, "/assets/a-1.js", &[]);
    assert_eq!(header_of(&plain, "content-type"), "text/javascript; charset=utf-8");
    assert_eq!(header_of(&plain, "cache-control"), "public, max-age=31536000, immutable");
    assert_eq!(header_of(&plain, "etag"), "\"11\"");
    assert_eq!(header_of(&plain, "vary"), "accept-encoding");
    assert_eq!(header_of(&plain, "content-encoding"), "none");
    assert_eq!(text(plain).await, "run()");
    for taken in ["gzip", "br, gzip;q=0.5", "deflate,GZIP; q=1"] {
        let zipped = get(BUILT, "/assets/a-1.js", &[("accept-encoding", taken)]);
        assert_eq!(header_of(&zipped, "content-encoding"), "gzip", "{taken}");
        assert_eq!(header_of(&zipped, "etag"), "\"11-gzip\"");
        assert_eq!(text(zipped).await, "zip");
    }
    for refused in ["gzip;q=0", "br", "identity", "xgzip", "gzip;q=x"] {
        let plain = get(BUILT, "/assets/a-1.js", &[("accept-encoding", refused)]);
        assert_eq!(header_of(&plain, "content-encoding"), "none", "{refused}");
    }
    let image = get(BUILT, "/assay.svg", &[("accept-encoding", "gzip")]);
    assert_eq!(header_of(&image, "cache-control"), "no-cache");
    assert_eq!(header_of(&image, "content-type"), "image/svg+xml");
    assert_eq!(header_of(&image, "content-security-policy"), crate::middleware::headers::NOTHING);
    assert_eq!(header_of(&image, "content-encoding"), "none");
}

#[tokio::test]
async fn what_a_browser_has_is_not_sent_again() {
    for known in ["\"22\"", "W/\"22\"", "\"x\", \"22\"", "*"] {
        let response = get(BUILT, "/assay.svg", &[("if-none-match", known)]);
        assert_eq!(response.status(), 304, "{known}");
        assert_eq!(header_of(&response, "etag"), "\"22\"");
        assert_eq!(text(response).await, "");
    }
    // One coding's tag is not the other's.
    for known in ["\"11\"", "\"2\"", "22", ""] {
        let pairs = [("if-none-match", known), ("accept-encoding", "gzip")];
        assert_eq!(get(BUILT, "/assets/a-1.js", &pairs).status(), 200, "{known}");
    }
}

#[tokio::test]
async fn a_build_without_the_dashboard_says_so() {
    for path in ["/", "/runs/x"] {
        let response = get(&[], path, &[HTML]);
        assert_eq!(response.status(), 200);
        assert_eq!(header_of(&response, "content-type"), "text/plain; charset=utf-8");
        let said = text(response).await;
        assert!(said.contains("not part of this build") && said.contains("`make web`"), "{said}");
    }
    assert_eq!(get(&[], "/assets/a-1.js", &[HTML]).status(), 404);
    assert_eq!(get(&[], "/runs/x", &[]).status(), 404);
}
