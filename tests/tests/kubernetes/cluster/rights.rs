//! The rights that the project's own files give to the server.

use std::collections::BTreeSet;

use serde_json::Value;

/// The documents of these kinds, and the path of those that are of no namespace.
const OF_CLUSTER: [(&str, &str); 2] =
    [("ClusterRole", "clusterroles"), ("ClusterRoleBinding", "clusterrolebindings")];

fn read() -> Vec<Value> {
    let root = env!("CARGO_MANIFEST_DIR");
    let path = format!("{root}/../deploy/kubernetes/overlays/pods/rights.yaml");
    let text = std::fs::read_to_string(path).expect("the project has the file");
    let documents = text.split("\n---\n");
    documents.map(|one| serde_saphyr::from_str(one).expect("is YAML")).collect()
}

/// The roles and their bindings, for the service account of this namespace. Those of the cluster have names of their own.
pub(super) fn documents(namespace: &str) -> Vec<Value> {
    let mut documents = read();
    documents.retain(|it| it["kind"] != "ServiceAccount");
    for document in &mut documents {
        let of_cluster = |kind: &Value| OF_CLUSTER.iter().any(|(name, _)| kind == name);
        let own = |name: &mut Value| *name = own_name(name, namespace).into();
        if of_cluster(&document["kind"]) {
            own(&mut document["metadata"]["name"]);
        } else {
            document["metadata"]["namespace"] = namespace.into();
        }
        if document.get("roleRef").is_some_and(|role| of_cluster(&role["kind"])) {
            own(&mut document["roleRef"]["name"]);
        }
        for subject in
            document.get_mut("subjects").and_then(Value::as_array_mut).into_iter().flatten()
        {
            subject["namespace"] = namespace.into();
        }
    }
    documents
}

/// The paths of those documents that are of no namespace.
pub(super) fn names_in_cluster(namespace: &str) -> Vec<String> {
    let documents = read().into_iter();
    let paths = documents.filter_map(|document| {
        let (_, path) = OF_CLUSTER.iter().find(|(kind, _)| document["kind"] == *kind)?;
        let name = own_name(&document["metadata"]["name"], namespace);
        Some(format!("/apis/rbac.authorization.k8s.io/v1/{path}/{name}"))
    });
    paths.collect()
}

fn own_name(name: &Value, namespace: &str) -> String {
    format!("{}-{namespace}", name.as_str().expect("a name"))
}

/// Everything that the server may do, as calls: `list pods`, `create tokenreviews in the cluster`.
pub(crate) fn rights() -> BTreeSet<String> {
    let mut rights = BTreeSet::new();
    for document in read() {
        let place = if document["kind"] == "ClusterRole" { " in the cluster" } else { "" };
        let texts = |value: &Value| -> Vec<String> {
            let texts = value.as_array().into_iter().flatten();
            texts.map(|text| text.as_str().expect("a text").to_owned()).collect()
        };
        for rule in document.get("rules").and_then(Value::as_array).into_iter().flatten() {
            for resource in texts(&rule["resources"]) {
                let verbs = texts(&rule["verbs"]).into_iter();
                rights.extend(verbs.map(|verb| format!("{verb} {resource}{place}")));
            }
        }
    }
    rights
}
