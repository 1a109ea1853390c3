//! Watches of Pods, from a version on.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::{Inner, refused};

/// Whether a Pod has the label `name=value` of a selector.
pub(super) fn is_selected(pod: &Value, selector: Option<&String>) -> bool {
    let Some((name, value)) = selector.and_then(|selector| selector.split_once('=')) else {
        return true;
    };
    pod["metadata"]["labels"][name] == value
}

/// A stream of changes since a version, with a bookmark behind them. Where `is_cut`, it ends at the next cut, and changes
/// may be forgotten.
pub(super) fn watch_from(
    inner: Arc<Inner>,
    version: u64,
    selector: Option<String>,
    is_cut: bool,
) -> Response {
    if is_cut && version < inner.state().forgotten {
        let message = format!("too old resource version: {version}");
        return refused(410, "Expired", &message);
    }
    let mut changed = inner.changed.subscribe();
    let (_, cuts) = *changed.borrow_and_update();
    let next = (inner, changed, version, selector);
    let stream = futures_util::stream::unfold(
        next,
        move |(inner, mut changed, last, selector)| async move {
            loop {
                let (_, now) = *changed.borrow_and_update();
                if is_cut && now != cuts {
                    return None;
                }
                let (new, version) = {
                    let state = inner.state();
                    let new = state.changes.iter().filter(|(version, ..)| *version > last);
                    let new = new.filter(|(.., pod)| is_selected(pod, selector.as_ref()));
                    let new = new.map(|(_, kind, pod)| json!({ "type": kind, "object": pod }));
                    (new.collect::<Vec<_>>(), state.version)
                };
                if !new.is_empty() {
                    let metadata = json!({ "resourceVersion": version.to_string() });
                    let bookmark = json!({
                        "type": "BOOKMARK",
                        "object": { "kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": { "containers": [] } }
                    });
                    let lines = new.iter().chain([&bookmark]).map(|event| format!("{event}\n"));
                    let lines = Ok::<_, Infallible>(Bytes::from(lines.collect::<String>()));
                    return Some((lines, (inner, changed, version, selector)));
                }
                if changed.changed().await.is_err() {
                    return None;
                }
            }
        },
    );
    Body::from_stream(stream).into_response()
}
