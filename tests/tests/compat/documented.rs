//! The calls of the protocols: the same ones in the OpenAPI document, the router and the guides, and errors that a
//! person can act on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};

use super::{World, check_no_number};

/// The paths of the document below `/compat/`, all of which are `POST`.
async fn documented(world: &World) -> Vec<String> {
    let document: Value = world.http.get("/openapi.json").await.json(200);
    let paths = document["paths"].as_object().expect("paths");
    let ours = paths.iter().filter(|(path, _)| path.starts_with("/compat/"));
    ours.map(|(path, item)| {
        assert!(item.get("post").is_some(), "{path}");
        path.clone()
    })
    .collect()
}

/// The addresses in the guides that begin with `/compat/`: protocol and the path after the run.
fn guided() -> BTreeSet<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/src/trainers");
    let mut found = BTreeSet::new();
    for guide in std::fs::read_dir(folder).expect("the guides") {
        let text = std::fs::read_to_string(guide.expect("a guide").path()).expect("a text");
        for after in text.split("/compat/").skip(1) {
            let end = |it: char| it.is_whitespace() || "\"'`)<>,".contains(it);
            let address = after.split(end).next().unwrap_or_default();
            let parts = address.split('/').filter(|part| !part.is_empty() && !part.contains("KEY"));
            let parts: Vec<&str> = parts.collect();
            let [protocol, plugin, _run, rest @ ..] = parts.as_slice() else { continue };
            if plugin.contains('@') {
                let rest: Vec<&str> = rest.iter().map(|it| without_options(it)).collect();
                found.insert(((*protocol).to_owned(), rest.join("/")));
            }
        }
    }
    found
}

fn without_options(part: &str) -> &str {
    part.split(['?', ';']).next().unwrap_or_default()
}

#[tokio::test]
async fn document_router_and_guides_have_the_same_calls() {
    let world = World::waiting().await;
    let documented = documented(&world).await;
    assert_eq!(documented.len(), 9, "{documented:?}");
    let mut rests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in &documented {
        // The router has it: the call is read, and is empty.
        let call = path.replace("{plugin}", "hello@prod").replace("{run}", "documented");
        let answer = world.http.post(&call, &json!({})).await;
        let _ = answer.problem(400, "bad_request");
        let mut parts = path.trim_start_matches("/compat/").splitn(4, '/');
        let protocol = parts.next().expect("a protocol").to_owned();
        let rest = parts.nth(2).unwrap_or_default().to_owned();
        rests.entry(protocol).or_default().insert(rest);
    }
    let guided = guided();
    for (protocol, rest) in &guided {
        let rests = rests.get(protocol).unwrap_or_else(|| panic!("no protocol {protocol}"));
        // Some trainers are given the address before the call's own name.
        let known = rests.contains(rest) || rest.is_empty();
        assert!(known, "a guide has {protocol}/.../{rest}, and the document has {rests:?}");
    }
    for (protocol, rests) in &rests {
        for rest in rests {
            let named = |rest: &str| guided.contains(&(protocol.clone(), rest.to_owned()));
            assert!(named(rest) || named(""), "no guide has {protocol}/.../{rest}");
        }
    }
}

#[tokio::test]
async fn an_error_of_a_body_names_the_field_and_what_it_expects() {
    let world = World::waiting().await;
    let text_or_messages = "expected a text, or a list of messages";
    let params = json!({ "input": 7 });
    for (path, body, field, expected) in [
        ("slime", json!({ "prompt": 7, "response": "" }), "prompt: ", text_or_messages),
        ("slime", json!({ "prompt": "" }), "", "missing field `response`"),
        (
            "openrlhf",
            json!({ "query": ["a"], "prompts": [{ "text": "a" }] }),
            "prompts[0]: ",
            text_or_messages,
        ),
        ("openrlhf", json!({ "query": ["a", 7] }), "query[1]: ", "expected a string"),
        ("llama-factory", json!({ "messages": [["a"]] }), "messages[0]: ", "expected a string"),
        ("roll", json!({ "prompt": {}, "response": "" }), "prompt: ", text_or_messages),
        ("roll", json!({ "response": "", "timeout": "5" }), "timeout: ", "expected f64"),
        (
            "nemo-gym",
            json!({ "responses_create_params": params, "response": {} }),
            "input: ",
            text_or_messages,
        ),
        (
            "sandbox-fusion",
            json!({ "code": "", "language": "c", "files": { "a": 7 } }),
            "files.a: ",
            "expected a string",
        ),
        ("open-instruct", json!({ "program": "", "tests": [7] }), "tests[0] ", "must be a text"),
    ] {
        let rest = match path {
            "roll" => "/submit_task",
            "nemo-gym" => "/verify",
            "sandbox-fusion" => "/run_code",
            "open-instruct" => "/test_program",
            _ => "",
        };
        let answer = world.post(&format!("{path}/hello@prod/errors{rest}"), &body).await;
        let detail = answer.problem(400, "bad_request").detail;
        assert!(detail.contains(field) && detail.contains(expected), "{path}: {detail}");
        assert!(!detail.contains("untagged"), "{path}: {detail}");
        check_no_number(&answer);
    }
}
