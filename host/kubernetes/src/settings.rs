//! The operator's file of pools whose workers are Pods, and the Pod of one worker.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use assay_core::id::TicketId;
use assay_core::limits;
use assay_fleet::Start;
use k8s_openapi::api::core::v1::{
    Container, EnvVar, Pod, ProjectedVolumeSource, ServiceAccountTokenProjection, Volume,
    VolumeMount, VolumeProjection,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::join::PodJoin;

/// The container of a Pod that runs the worker.
const CONTAINER: &str = "worker";
const TICKET: &str = "ASSAY_WORKER_TICKET";
/// The volume of the Pod's token, the folder where the worker finds it, and its name there.
const TOKEN_VOLUME: &str = "assay-token";
const TOKEN_FOLDER: &str = "/var/run/secrets/assay.dev";
const TOKEN_FILE: &str = "token";
/// Labels by which a server knows its Pods.
const CLUSTER: &str = "assay.dev/cluster";
const POOL: &str = "assay.dev/pool";
const WORKER: &str = "assay.dev/worker";
/// The length of the value of a label in Kubernetes.
const LABEL_BYTES_MAX: usize = 63;
/// The time that a worker has to finish after SIGTERM, where the operator's Pod names none; autoscalers allow no more.
const GRACE_SECONDS: i64 = 600;

/// The operator's file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubernetesFile {
    /// The address at which Pods reach the server, `HOST:PORT`, if not the one on which it listens for workers.
    pub server: Option<String>,
    /// The namespace of the Pods, if not the server's own.
    pub namespace: Option<String>,
    /// The proof with which the workers join.
    #[serde(default)]
    pub join: PodJoin,
    pub pools: BTreeMap<String, KubernetesPool>,
}

/// The settings of one pool's Pods.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KubernetesPool {
    /// Options of `assay-worker serve`, such as `--gpus`, `1`.
    #[serde(default)]
    pub worker: Vec<String>,
    /// The Pod, of which the name, some labels and what the container `worker` runs are filled in.
    #[serde(deserialize_with = "whole")]
    pub pod: Pod,
}

/// The settings of all pools whose workers are Pods.
#[derive(Debug, Clone)]
pub struct KubernetesSettings {
    /// The address at which Pods reach the server, `HOST:PORT`.
    pub server: String,
    /// The digest of the server's authority, `sha256:HEX`.
    pub ca_pin: String,
    /// A short text that tells this server's Pods from those of other servers.
    pub cluster: String,
    pub join: PodJoin,
    pub pools: BTreeMap<Arc<str>, KubernetesPool>,
}

/// Reads a Pod; an error names a field that this release does not know and would leave out.
fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pod, D::Error> {
    let said = Value::deserialize(deserializer)?;
    let pod: Pod = serde_json::from_value(said.clone()).map_err(D::Error::custom)?;
    let known = serde_json::to_value(&pod).map_err(D::Error::custom)?;
    match left_out(&said, &known) {
        Some(field) => Err(D::Error::custom(format!("`pod{field}` is no field of a Pod"))),
        None => Ok(pod),
    }
}

/// The first field of `said` that `known` lacks.
fn left_out(said: &Value, known: &Value) -> Option<String> {
    match (said, known) {
        (Value::Object(said), known) => said.iter().find_map(|(key, value)| match known.get(key) {
            Some(known) => Some(format!(".{key}{}", left_out(value, known)?)),
            None if value.is_null() => None,
            None => Some(format!(".{key}")),
        }),
        (Value::Array(said), known) => said.iter().enumerate().find_map(|(at, value)| {
            let known = known.get(at).unwrap_or(&Value::Null);
            Some(format!("[{at}]{}", left_out(value, known)?))
        }),
        _ => None,
    }
}

impl KubernetesFile {
    /// Checks what Kubernetes would refuse only when the first worker starts. Errors name the pool and the field.
    pub fn check(&self) -> anyhow::Result<()> {
        if let Some(server) = &self.server {
            let port = server.rsplit_once(':').map(|(_, port)| port.parse::<u16>().is_ok());
            ensure!(port == Some(true), "`server` must be HOST:PORT");
        }
        ensure!(!self.pools.is_empty(), "it names no pool; add one below `pools`");
        let (count, max) = (self.pools.len(), limits::POOLS_MAX);
        ensure!(count <= max, "it names {count} pools, the limit is {max}");
        for (name, pool) in &self.pools {
            let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            let good =
                name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(known);
            ensure!(
                good && name.len() <= LABEL_BYTES_MAX && !name.ends_with('-'),
                "the pool `{name}` becomes a label in Kubernetes: at most {LABEL_BYTES_MAX} lower-case letters, digits \
                 and `-`"
            );
            pool.check().with_context(|| format!("pool `{name}`"))?;
        }
        Ok(())
    }
}

impl KubernetesPool {
    fn check(&self) -> anyhow::Result<()> {
        let spec = self.pod.spec.as_ref().context("`pod` has no `spec`")?;
        let worker = spec.containers.iter().find(|container| container.name == CONTAINER);
        let worker = worker.with_context(|| {
            format!(
                "`pod.spec.containers` needs one with the name `{CONTAINER}`, which runs the worker"
            )
        })?;
        ensure!(worker.image.is_some(), "the container `{CONTAINER}` has no `image`");
        ensure!(
            worker.args.is_none(),
            "the container `{CONTAINER}` has `args`: Assay fills them in; options of the worker stand in `worker`"
        );
        let restarts = spec.restart_policy.as_deref().unwrap_or("Never");
        ensure!(
            restarts == "Never",
            "`restartPolicy` must be Never: a worker joins once, and Assay starts others"
        );
        Ok(())
    }
}

impl KubernetesSettings {
    /// The labels of all Pods of this server.
    pub(crate) fn selector(&self) -> String {
        format!("{CLUSTER}={}", self.cluster)
    }

    /// The audience of the tokens with which Pods join this server, and no other one.
    pub(crate) fn audience(&self) -> String {
        format!("assay.dev/{}", self.cluster)
    }

    /// The name of a worker's Pod.
    pub(crate) fn name(&self, pool: &str, ticket: TicketId) -> String {
        format!("assay-{}-{pool}-{ticket}", self.cluster)
    }

    /// A worker's Pod; `None` if its pool has no settings. Its ticket is good for one worker.
    pub(crate) fn pod(&self, start: &Start) -> Option<Pod> {
        let pool = self.pools.get(&start.pool)?;
        let ticket = start.ticket.id;
        let mut pod = pool.pod.clone();
        pod.metadata.name = Some(self.name(&start.pool, ticket));
        pod.metadata.generate_name = None;
        pod.metadata.namespace = None;
        let labels = pod.metadata.labels.get_or_insert_default();
        labels.insert(CLUSTER.into(), self.cluster.clone());
        labels.insert(POOL.into(), start.pool.to_string());
        labels.insert(WORKER.into(), ticket.to_string());
        let spec = pod.spec.as_mut()?;
        spec.restart_policy = Some("Never".into());
        spec.termination_grace_period_seconds.get_or_insert(GRACE_SECONDS);
        let worker = spec.containers.iter_mut().find(|container| container.name == CONTAINER)?;
        self.fill(worker, start, &pool.worker);
        if self.join == PodJoin::Token {
            let volumes = spec.volumes.get_or_insert_default();
            volumes.retain(|volume| volume.name != TOKEN_VOLUME);
            volumes.push(token_volume(self.audience()));
        }
        Some(pod)
    }

    fn fill(&self, worker: &mut Container, start: &Start, options: &[String]) {
        worker.command.get_or_insert_with(|| vec!["assay-worker".into()]);
        let own =
            ["join", "--server", &self.server, "--ca-pin", &self.ca_pin, "--pool", &start.pool];
        let mut own: Vec<String> = own.map(str::to_owned).into();
        worker.env.get_or_insert_default().retain(|variable| variable.name != TICKET);
        match self.join {
            PodJoin::Token => {
                own.extend(["--token-file".into(), format!("{TOKEN_FOLDER}/{TOKEN_FILE}")]);
                let mounts = worker.volume_mounts.get_or_insert_default();
                mounts.retain(|mount| mount.name != TOKEN_VOLUME);
                mounts.push(token_mount());
            }
            PodJoin::Ticket => {
                let value = Some(start.ticket.text());
                let ticket = EnvVar { name: TICKET.into(), value, ..EnvVar::default() };
                worker.env.get_or_insert_default().push(ticket);
            }
        }
        own.push("--".into());
        worker.args = Some(own.into_iter().chain(options.iter().cloned()).collect());
        // The last lines that it printed are then in its status: no right to read logs is needed.
        worker.termination_message_policy.get_or_insert_with(|| "FallbackToLogsOnError".into());
    }
}

/// The token of a Pod, as a volume: for this audience alone, and worth nothing once the Pod is gone.
fn token_volume(audience: String) -> Volume {
    let token = ServiceAccountTokenProjection {
        audience: Some(audience),
        expiration_seconds: Some(limits::KUBERNETES_TOKEN_SECONDS),
        path: TOKEN_FILE.into(),
        ..Default::default()
    };
    let source = VolumeProjection { service_account_token: Some(token), ..Default::default() };
    let projected = ProjectedVolumeSource { sources: Some(vec![source]), ..Default::default() };
    Volume { name: TOKEN_VOLUME.into(), projected: Some(projected), ..Default::default() }
}

fn token_mount() -> VolumeMount {
    VolumeMount {
        name: TOKEN_VOLUME.into(),
        mount_path: TOKEN_FOLDER.into(),
        read_only: Some(true),
        ..Default::default()
    }
}

/// The worker of a Pod of ours, with its pool.
pub(crate) fn worker(pod: &Pod) -> Option<(TicketId, Arc<str>)> {
    let labels = pod.metadata.labels.as_ref()?;
    Some((labels.get(WORKER)?.parse().ok()?, labels.get(POOL)?.as_str().into()))
}

#[cfg(test)]
pub(crate) mod tests {
    use assay_fleet::Ticket;
    use serde_json::json;

    use super::*;

    fn file(pod: &Value) -> KubernetesFile {
        let pools = json!({ "gpu-a": { "worker": ["--gpus", "1"], "pod": pod } });
        serde_json::from_value(json!({ "server": "assay:7701", "pools": pools }))
            .expect("is a file")
    }

    fn pod() -> Value {
        json!({
            "metadata": { "labels": { "team": "rl" }, "generateName": "x-" },
            "spec": {
                "runtimeClassName": "kata",
                "containers": [
                    { "name": "side", "image": "b" },
                    { "name": "worker", "image": "a", "env": [{ "name": TICKET, "value": "stale" }] },
                ],
            },
        })
    }

    pub(crate) fn settings() -> KubernetesSettings {
        let pools = file(&pod()).pools.into_iter().map(|(name, pool)| (name.into(), pool));
        KubernetesSettings {
            server: "assay:7701".into(),
            ca_pin: "sha256:ab".into(),
            cluster: "abcdef01".into(),
            join: PodJoin::Token,
            pools: pools.collect(),
        }
    }

    #[test]
    fn a_worker_is_the_operators_pod_with_what_only_the_server_knows() {
        let (settings, ticket) = (settings(), Ticket::generate());
        let start = Start { ticket: ticket.clone(), pool: "gpu-a".into() };
        let made = settings.pod(&start).expect("the pool has settings");
        assert_eq!(worker(&made), Some((ticket.id, "gpu-a".into())));
        let made = serde_json::to_value(made).expect("is JSON");
        let (metadata, spec) = (&made["metadata"], &made["spec"]);
        assert_eq!(metadata["name"], format!("assay-abcdef01-gpu-a-{}", ticket.id));
        assert_eq!(metadata["labels"]["team"], "rl");
        assert_eq!(metadata.get("generateName"), None);
        assert_eq!(
            (&spec["runtimeClassName"], &spec["restartPolicy"]),
            (&json!("kata"), &json!("Never"))
        );
        assert_eq!(spec["terminationGracePeriodSeconds"], 600);
        assert_eq!(spec["containers"][0], json!({ "name": "side", "image": "b" }));
        let container = &spec["containers"][1];
        let arguments = [
            "join",
            "--server",
            "assay:7701",
            "--ca-pin",
            "sha256:ab",
            "--pool",
            "gpu-a",
            "--token-file",
            "/var/run/secrets/assay.dev/token",
            "--",
            "--gpus",
            "1",
        ];
        assert_eq!(container["args"], json!(arguments));
        let mount = json!({
            "name": "assay-token", "mountPath": "/var/run/secrets/assay.dev", "readOnly": true
        });
        assert_eq!(container["volumeMounts"], json!([mount]));
        let token =
            json!({ "audience": "assay.dev/abcdef01", "expirationSeconds": 600, "path": "token" });
        let projected = json!({ "sources": [{ "serviceAccountToken": token }] });
        assert_eq!(spec["volumes"], json!([{ "name": "assay-token", "projected": projected }]));
        let all = spec.to_string();
        assert!(!all.contains("stale") && !all.contains(&ticket.text()), "{all}");
        let other = Start { ticket, pool: "cpu".into() };
        assert_eq!(settings.pod(&other), None);
    }

    #[test]
    fn a_worker_that_joins_by_its_ticket_has_no_token() {
        let settings = KubernetesSettings { join: PodJoin::Ticket, ..settings() };
        let ticket = Ticket::generate();
        let start = Start { ticket: ticket.clone(), pool: "gpu-a".into() };
        let made = settings.pod(&start).expect("the pool has settings");
        let spec = serde_json::to_value(made.spec).expect("is JSON");
        let container = &spec["containers"][1];
        assert_eq!(container["env"], json!([{ "name": TICKET, "value": ticket.text() }]));
        assert!(!spec.to_string().contains("token"), "{spec}");
    }

    #[test]
    fn a_field_that_would_be_left_out_is_refused_by_name() {
        let mut pod = pod();
        pod["spec"]["containers"][1]["imagePullPolcy"] = json!("Always");
        let pools = json!({ "cpu": { "pod": pod } });
        let file = serde_json::from_value::<KubernetesFile>(json!({ "pools": pools }));
        let error = file.expect_err("is refused").to_string();
        assert!(
            error.contains("`pod.spec.containers[1].imagePullPolcy` is no field of a Pod"),
            "{error}"
        );
    }

    #[test]
    fn errors_say_what_is_wrong_where() {
        let with = |change: &dyn Fn(&mut Value)| {
            let mut pod = pod();
            change(&mut pod);
            format!("{:#}", file(&pod).check().expect_err("is refused"))
        };
        file(&pod()).check().expect("is good");
        for (said, error) in [
            ("`gpu-a`: `pod` has no `spec`", with(&|pod| pod["spec"] = Value::Null)),
            (
                "needs one with the name `worker`",
                with(&|pod| pod["spec"]["containers"][1]["name"] = json!("w")),
            ),
            ("has no `image`", with(&|pod| pod["spec"]["containers"][1]["image"] = Value::Null)),
            ("has `args`", with(&|pod| pod["spec"]["containers"][1]["args"] = json!(["x"]))),
            ("must be Never", with(&|pod| pod["spec"]["restartPolicy"] = json!("Always"))),
        ] {
            assert!(error.contains(said), "{error}");
        }
        let named = |name: &str| {
            let pools = json!({ name: { "pod": pod() } });
            let file: KubernetesFile =
                serde_json::from_value(json!({ "pools": pools })).expect("is a file");
            file.check().is_ok()
        };
        assert!(named("gpu-h100") && !named("GPU") && !named("a_b") && !named("a-"));
    }
}
