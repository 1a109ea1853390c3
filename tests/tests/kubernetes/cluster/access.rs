//! Calls of an API server by its administrator, as JSON.

use axum::http::{Method, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::{Value, json};

/// A way to an API server, for one namespace; cheap to clone.
#[derive(Clone)]
pub(super) struct Access {
    pub(super) client: Client,
    /// The cluster's part of a kubeconfig.
    cluster: Value,
    pub(super) namespace: String,
}

/// What a token is asked for: its audience, and the Pod with which it ends.
pub(super) fn token_spec(audience: &str, pod: Option<&Value>) -> Value {
    let mut spec = json!({ "audiences": [audience], "expirationSeconds": 600 });
    if let Some(pod) = pod {
        let metadata = &pod["metadata"];
        spec["boundObjectRef"] = json!({
            "apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]
        });
    }
    spec
}

fn kubeconfig(cluster: &Value, user: &Value, namespace: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{ "name": "test", "cluster": cluster }],
        "contexts": [{ "name": "test", "context": { "cluster": "test", "user": "test", "namespace": namespace } }],
        "users": [{ "name": "test", "user": user }],
    })
}

impl Access {
    pub(super) async fn by_token(url: &str, token: &str) -> Self {
        let cluster = json!({ "server": url });
        let file = kubeconfig(&cluster, &json!({ "token": token }), "assay");
        let file = serde_json::from_value(file).expect("is a kubeconfig");
        Self::new(file, cluster, "assay".into()).await
    }

    /// By a kubeconfig, for a new namespace.
    pub(super) async fn by_file(path: &str) -> Self {
        let file = Kubeconfig::read_from(path).expect("a kubeconfig");
        let cluster = file.clusters.first().and_then(|named| named.cluster.as_ref());
        let cluster = serde_json::to_value(cluster.expect("it names a cluster")).expect("is JSON");
        let mut name = [0; 6];
        getrandom::fill(&mut name).expect("randomness");
        let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
        Self::new(file, cluster, format!("assay-test-{name}")).await
    }

    async fn new(file: Kubeconfig, cluster: Value, namespace: String) -> Self {
        assay_client::install_tls_provider();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(file, &options).await.expect("a kubeconfig");
        let client = Client::try_from(config).expect("a client");
        Self { client, cluster, namespace }
    }

    /// A kubeconfig for the one who has this token.
    pub(super) fn kubeconfig(&self, token: &str) -> Value {
        kubeconfig(&self.cluster, &json!({ "token": token }), &self.namespace)
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> kube::Result<Value> {
        let kind = if method == Method::PATCH {
            "application/merge-patch+json"
        } else {
            "application/json"
        };
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request::builder().method(method).uri(path).header("content-type", kind);
        self.client.request(request.body(body).expect("a request")).await
    }

    fn path(&self, rest: &str) -> String {
        format!("/api/v1/namespaces/{}/{rest}", self.namespace)
    }

    async fn must(&self, method: Method, path: &str, body: &Value) -> Value {
        let answered = self.call(method.clone(), path, body).await;
        answered.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    pub(super) async fn create(&self, kind: &str, object: &Value) -> Value {
        self.must(Method::POST, &self.path(kind), object).await
    }

    /// Creates what a document of the project's own says.
    pub(super) async fn create_document(&self, document: &Value) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let kind = format!("{}s", text(&document["kind"]).to_lowercase());
        let group = text(&document["apiVersion"]);
        let namespace = document["metadata"].get("namespace").map(text);
        let within = namespace.map(|it| format!("namespaces/{it}/")).unwrap_or_default();
        self.must(Method::POST, &format!("/apis/{group}/{within}{kind}"), document).await;
    }

    pub(super) async fn open_namespace(&self, accounts: &[&str]) {
        let named = |name: &str| json!({ "metadata": { "name": name } });
        self.must(Method::POST, "/api/v1/namespaces", &named(&self.namespace)).await;
        for account in accounts {
            self.create("serviceaccounts", &named(account)).await;
        }
    }

    /// Deletes the namespace and these other objects; without controllers its Pods are deleted one by one.
    pub(super) async fn close_namespace(&self, others: Vec<String>) {
        for pod in self.pods().await {
            self.delete(pod["metadata"]["name"].as_str().expect("a name"), 0).await;
        }
        let namespace = format!("/api/v1/namespaces/{}", self.namespace);
        for path in others.iter().chain([&namespace]) {
            let _ = self.call(Method::DELETE, path, &Value::Null).await;
        }
    }

    pub(super) async fn pods(&self) -> Vec<Value> {
        let list = self.must(Method::GET, &self.path("pods"), &Value::Null).await;
        list["items"].as_array().cloned().unwrap_or_default()
    }

    pub(super) async fn pod(&self, name: &str) -> Option<Value> {
        self.call(Method::GET, &self.path(&format!("pods/{name}")), &Value::Null).await.ok()
    }

    /// Deletes a Pod, if it is there.
    pub(super) async fn delete(&self, name: &str, grace: u64) {
        let options = json!({ "gracePeriodSeconds": grace });
        let _ = self.call(Method::DELETE, &self.path(&format!("pods/{name}")), &options).await;
    }

    /// Takes a Pod out, if it is still this one.
    pub(super) async fn remove(&self, name: &str, uid: &str) {
        let options = json!({ "gracePeriodSeconds": 0, "preconditions": { "uid": uid } });
        let _ = self.call(Method::DELETE, &self.path(&format!("pods/{name}")), &options).await;
    }

    /// Gives a Pod to the node; false if it is gone.
    pub(super) async fn bind(&self, name: &str) -> bool {
        let binding = json!({
            "apiVersion": "v1", "kind": "Binding", "metadata": { "name": name },
            "target": { "apiVersion": "v1", "kind": "Node", "name": "node" }
        });
        let path = self.path(&format!("pods/{name}/binding"));
        self.call(Method::POST, &path, &binding).await.is_ok()
    }

    /// Changes the status of a Pod, if it is there.
    pub(super) async fn set_status(&self, name: &str, status: &Value) {
        let path = self.path(&format!("pods/{name}/status"));
        let _ = self.call(Method::PATCH, &path, &json!({ "status": status })).await;
    }

    pub(super) async fn disrupt(&self, name: &str, reason: &str) {
        let pod = self.pod(name).await.expect("it is there");
        let mut conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.push(json!({
            "type": "DisruptionTarget", "status": "True", "reason": reason, "message": "by the test"
        }));
        self.set_status(name, &json!({ "conditions": conditions })).await;
    }

    /// A token of a service account.
    pub(super) async fn token(&self, account: &str, spec: &Value) -> String {
        let request = json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec
        });
        let path = self.path(&format!("serviceaccounts/{account}/token"));
        let made = self.must(Method::POST, &path, &request).await;
        made["status"]["token"].as_str().expect("a token").to_owned()
    }

    /// Bounds the Pods of the namespace. Nothing but admission counts them, without controllers.
    pub(super) async fn set_quota(&self, quota: usize) {
        let hard = json!({ "pods": quota.to_string() });
        let path = self.path("resourcequotas");
        let new = json!({ "metadata": { "name": "few" }, "spec": { "hard": hard } });
        if self.call(Method::POST, &path, &new).await.is_err() {
            let change = json!({ "spec": { "hard": hard } });
            self.must(Method::PATCH, &format!("{path}/few"), &change).await;
        }
        let used = self.pods().await.len().to_string();
        let status = json!({ "status": { "hard": hard, "used": { "pods": used } } });
        self.must(Method::PATCH, &format!("{path}/few/status"), &status).await;
    }
}
