//! Tokens of Pods: whose one is, as Kubernetes says.

use assay_fleet::ProofRefusal;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, TokenReviewStatus};

use crate::reading::{PodUid, plain};

const POD_NAME: &str = "authentication.kubernetes.io/pod-name";
const POD_UID: &str = "authentication.kubernetes.io/pod-uid";

/// The Pod that a token was given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodIdentity {
    pub(crate) name: String,
    pub(crate) uid: PodUid,
}

/// The question whose token this is, if it is for this audience.
pub(crate) fn question(token: &str, audience: String) -> TokenReview {
    let spec = TokenReviewSpec { token: token.into(), audiences: Some(vec![audience]) };
    TokenReview { spec, ..TokenReview::default() }
}

/// Reads the answer to [`question`].
pub(crate) fn answer(
    status: Option<TokenReviewStatus>,
    audience: &str,
) -> Result<PodIdentity, ProofRefusal> {
    let refused = |why: String| Err(ProofRefusal::Refused(why));
    let status = status.unwrap_or_default();
    if status.authenticated != Some(true) {
        let why = status.error.as_deref().map(plain).filter(|why| !why.is_empty());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        return refused(format!("Kubernetes does not know the token for {audience}{why}"));
    }
    // A server that knows no audiences leaves them out, and accepts tokens that were made for others.
    if !status.audiences.iter().flatten().any(|it| it == audience) {
        return refused(format!("Kubernetes does not say that the token is for {audience}"));
    }
    let mut extra = status.user.and_then(|user| user.extra).unwrap_or_default();
    let mut one = |key| extra.remove(key).and_then(|mut values| values.pop());
    match (one(POD_NAME), one(POD_UID)) {
        (Some(name), Some(uid)) => Ok(PodIdentity { name, uid: PodUid(uid) }),
        _ => refused("the token was not made for a Pod".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const AUDIENCE: &str = "assay.dev/abcdef01";

    fn answered(status: &Value) -> Result<PodIdentity, String> {
        let status = serde_json::from_value(status.clone()).expect("is a status");
        answer(status, AUDIENCE).map_err(|refused| refused.to_string())
    }

    fn good() -> Value {
        let extra = json!({ POD_NAME: ["assay-cpu-1"], POD_UID: ["3f1c"], "other": ["x"] });
        json!({ "authenticated": true, "audiences": [AUDIENCE], "user": { "extra": extra } })
    }

    #[test]
    fn a_token_is_that_of_the_pod_which_kubernetes_names() {
        let identity = PodIdentity { name: "assay-cpu-1".into(), uid: PodUid("3f1c".into()) };
        assert_eq!(answered(&good()), Ok(identity));
    }

    #[test]
    fn everything_else_is_refused() {
        let without = |path: &str, value: Value| {
            let mut status = good();
            *status.pointer_mut(path).expect("is there") = value;
            answered(&status).expect_err("is refused")
        };
        for (path, value, said) in [
            ("/authenticated", json!(false), "does not know the token"),
            ("/authenticated", Value::Null, "does not know the token"),
            ("/audiences", json!(["kubernetes"]), "does not say that the token is for"),
            ("/audiences", Value::Null, "does not say that the token is for"),
            ("/user/extra", json!({}), "was not made for a Pod"),
            ("/user/extra", json!({ POD_NAME: ["a"] }), "was not made for a Pod"),
            ("/user/extra", json!({ POD_NAME: ["a"], POD_UID: [] }), "was not made for a Pod"),
            ("/user", Value::Null, "was not made for a Pod"),
        ] {
            let refused = without(path, value);
            assert!(refused.contains(said), "{path}: {refused}");
        }
        let status = json!({ "error": "token\nexpired" });
        let refused = answered(&status).expect_err("is refused");
        assert!(refused.ends_with(&format!("for {AUDIENCE}: token expired")), "{refused}");
        assert!(answered(&Value::Null).is_err(), "no answer");
    }
}
