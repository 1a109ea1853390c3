//! Tokens of service accounts, and whose they are.

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::{Shared, uid};

/// A token that was made.
pub(super) struct MadeToken {
    audiences: Vec<Value>,
    account: String,
    /// The Pod with which it ends, as the name and the uid.
    pod: Option<(String, Value)>,
}

pub(super) async fn make(
    State(inner): Shared,
    headers: HeaderMap,
    Path(account): Path<String>,
    body: Bytes,
) -> Response {
    if let Some(refused) = inner.refusal(&headers, "create serviceaccounts/token") {
        return refused;
    }
    let mut request: Value = serde_json::from_slice(&body).expect("JSON");
    let token = format!("made.{}", uid());
    let spec = &request["spec"];
    let pod = spec.get("boundObjectRef");
    let pod = pod.map(|pod| (pod["name"].as_str().expect("a name").to_owned(), pod["uid"].clone()));
    let audiences = spec["audiences"].as_array().cloned().unwrap_or_default();
    inner.state().tokens.insert(token.clone(), MadeToken { audiences, account, pod });
    request["status"] = json!({ "token": token, "expirationTimestamp": "2036-01-01T00:00:00Z" });
    (StatusCode::CREATED, axum::Json(request)).into_response()
}

pub(super) async fn review(State(inner): Shared, headers: HeaderMap, body: Bytes) -> Response {
    if let Some(refused) = inner.refusal(&headers, "create tokenreviews in the cluster") {
        return refused;
    }
    let mut review: Value = serde_json::from_slice(&body).expect("JSON");
    let wanted = review["spec"]["audiences"].as_array().cloned().unwrap_or_default();
    let token = review["spec"]["token"].as_str().expect("a token");
    let state = inner.state();
    let good = state.tokens.get(token).filter(|made| {
        let pod = made.pod.as_ref();
        let is_there = |(name, uid): &(String, Value)| {
            state.pods.get(name).is_some_and(|pod| pod["metadata"]["uid"] == *uid)
        };
        made.audiences.iter().any(|it| wanted.contains(it)) && pod.is_none_or(is_there)
    });
    review["status"] = match good {
        None => json!({ "authenticated": false, "error": "[invalid bearer token]" }),
        Some(made) => {
            let pod = made.pod.as_ref();
            let extra = pod.map(|(name, uid)| {
                json!({
                    "authentication.kubernetes.io/pod-name": [name],
                    "authentication.kubernetes.io/pod-uid": [uid]
                })
            });
            let name = format!("system:serviceaccount:assay:{}", made.account);
            let audiences: Vec<_> =
                made.audiences.iter().filter(|it| wanted.contains(it)).collect();
            json!({
                "authenticated": true, "audiences": audiences,
                "user": { "username": name, "extra": extra.unwrap_or_default() }
            })
        }
    };
    (StatusCode::CREATED, axum::Json(review)).into_response()
}
