//! The state of a Pod, from what Kubernetes says of it.

use k8s_openapi::api::core::v1::{ContainerState, ContainerStateTerminated, Pod, PodStatus};

/// The bytes of a text of Kubernetes that are shown.
const SHOWN_BYTES_MAX: usize = 500;
/// The container that runs the worker.
const WORKER: &str = "worker";
/// Reasons for which a container waits and will not start by itself.
const STUCK: [&str; 6] = [
    "ImagePullBackOff",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
    "ErrImageNeverPull",
];

/// The state of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PodReading {
    /// It has no place yet, for this reason.
    Waiting(String),
    /// It has a node, and its worker has not started.
    Starting,
    /// Its worker runs.
    Running,
    /// Its worker cannot start, for this reason.
    Stuck(String),
    /// Its worker ended without an error.
    Succeeded,
    /// It ended, for this reason.
    Failed(String),
}

/// The identity of a Pod among all that ever had its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodUid(pub(crate) String);

/// A Pod as Kubernetes shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PodSighting {
    pub(crate) uid: PodUid,
    pub(crate) reading: PodReading,
    /// The reason why somebody will end it.
    pub(crate) leaves: Option<String>,
}

/// Reads a Pod.
pub(crate) fn see(pod: &Pod) -> PodSighting {
    let uid = PodUid(pod.metadata.uid.clone().unwrap_or_default());
    PodSighting { uid, reading: read(pod), leaves: leaves(pod) }
}

/// Why a Pod that has not ended will be ended, if it will.
fn leaves(pod: &Pod) -> Option<String> {
    if let Some(disrupted) = pod.status.as_ref().and_then(disruption) {
        return Some(disrupted);
    }
    pod.metadata.deletion_timestamp.as_ref().map(|_| "its Pod is being deleted".into())
}

/// The reason why Kubernetes takes a Pod away.
fn disruption(status: &PodStatus) -> Option<String> {
    let target = status.conditions.iter().flatten().find(|it| it.type_ == "DisruptionTarget");
    let target = target.filter(|it| it.status == "True")?;
    Some(words(target.reason.as_deref(), target.message.as_deref()))
}

fn read(pod: &Pod) -> PodReading {
    let Some(status) = &pod.status else { return PodReading::Waiting("it was just made".into()) };
    match status.phase.as_deref() {
        Some("Succeeded") => return PodReading::Succeeded,
        Some("Failed") => return PodReading::Failed(failure(status)),
        _ => {}
    }
    let states = states(status);
    let worker = states.iter().find(|(name, _)| name == WORKER);
    if let Some(ended) = worker.and_then(|(_, state)| state.terminated.as_ref()) {
        // Containers beside it may run on.
        let well = ended.exit_code == 0;
        return if well { PodReading::Succeeded } else { PodReading::Failed(failure(status)) };
    }
    let waiting = states.iter().filter_map(|(name, state)| Some((name, state.waiting.as_ref()?)));
    for (container, waiting) in waiting {
        let reason = waiting.reason.as_deref().unwrap_or_default();
        if STUCK.contains(&reason) {
            let why = words(Some(reason), waiting.message.as_deref());
            return PodReading::Stuck(format!("the container {container} does not start: {why}"));
        }
    }
    let condition = |kind: &str| status.conditions.iter().flatten().find(|it| it.type_ == kind);
    match condition("PodScheduled") {
        Some(scheduled) if scheduled.status == "False" => {
            let why = words(scheduled.reason.as_deref(), scheduled.message.as_deref());
            PodReading::Waiting(why)
        }
        None if status.phase.as_deref() == Some("Pending") => {
            PodReading::Waiting("it has no node yet".into())
        }
        _ if worker.is_some_and(|(_, state)| state.running.is_some()) => PodReading::Running,
        _ => PodReading::Starting,
    }
}

/// The states of all containers, by name.
fn states(status: &PodStatus) -> Vec<(String, ContainerState)> {
    let all = [&status.init_container_statuses, &status.container_statuses];
    let all = all.into_iter().flatten().flatten();
    all.filter_map(|it| Some((it.name.clone(), it.state.clone()?))).collect()
}

/// Why a Pod failed: what happened to the Pod, such as an eviction, else what its containers said.
fn failure(status: &PodStatus) -> String {
    if let Some(disrupted) = disruption(status) {
        return disrupted;
    }
    if status.reason.is_some() || status.message.is_some() {
        return words(status.reason.as_deref(), status.message.as_deref());
    }
    let ended =
        states(status).into_iter().filter_map(|(name, state)| Some((name, state.terminated?)));
    let failed =
        ended.filter(|(_, ended)| ended.exit_code != 0).map(|(name, it)| ending(&name, &it));
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { "Kubernetes does not say why".into() } else { failed.join("; ") }
}

fn ending(container: &str, ended: &ContainerStateTerminated) -> String {
    let why = match (ended.reason.as_deref(), ended.exit_code) {
        (Some("OOMKilled"), _) => "it needed more memory than its limit (OOMKilled)".into(),
        (reason, code) => format!("{} (status {code})", reason.unwrap_or("it ended")),
    };
    let printed = ended.message.as_deref().map(plain).filter(|text| !text.is_empty());
    let printed = printed.map(|text| format!("; it printed: {text}")).unwrap_or_default();
    format!("the container {container}: {why}{printed}")
}

fn words(reason: Option<&str>, message: Option<&str>) -> String {
    let parts = [reason, message].into_iter().flatten().map(plain).filter(|text| !text.is_empty());
    let text = parts.collect::<Vec<_>>().join(": ");
    if text.is_empty() { "Kubernetes does not say why".into() } else { text }
}

/// A text in one line, cut.
pub(crate) fn plain(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    if line.len() <= SHOWN_BYTES_MAX {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(SHOWN_BYTES_MAX)])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn reading(status: &Value) -> PodReading {
        read(&serde_json::from_value(json!({ "status": status })).expect("is a Pod"))
    }

    fn container(name: &str, state: &Value) -> Value {
        json!({
            "name": name, "state": state, "image": "a", "imageID": "", "ready": false, "restartCount": 0
        })
    }

    fn scheduled(status: &str, reason: &str, message: &str) -> Value {
        json!([{ "type": "PodScheduled", "status": status, "reason": reason, "message": message }])
    }

    #[test]
    fn a_pod_without_a_node_waits_and_says_why() {
        let waiting = |status: &Value| match reading(status) {
            PodReading::Waiting(why) => why,
            other => panic!("{other:?}"),
        };
        let message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.";
        let conditions = scheduled("False", "Unschedulable", message);
        let why = waiting(&json!({ "phase": "Pending", "conditions": conditions }));
        assert_eq!(why, format!("Unschedulable: {message}"));
        let conditions = scheduled("False", "SchedulingGated", "");
        let why = waiting(&json!({ "phase": "Pending", "conditions": conditions }));
        assert_eq!(why, "SchedulingGated");
        assert_eq!(waiting(&json!({ "phase": "Pending" })), "it has no node yet");
    }

    #[test]
    fn a_pod_with_a_node_starts_runs_or_is_stuck() {
        let with = |state: &Value| {
            let containers = json!([container("worker", state)]);
            let conditions = scheduled("True", "", "");
            let status = json!({ "phase": "Pending", "conditions": conditions, "containerStatuses": containers });
            reading(&status)
        };
        let waiting =
            |reason: &str| json!({ "waiting": { "reason": reason, "message": "no such\nimage" } });
        assert_eq!(with(&waiting("ContainerCreating")), PodReading::Starting);
        assert_eq!(with(&json!({ "running": {} })), PodReading::Running);
        for reason in STUCK {
            let why = format!("the container worker does not start: {reason}: no such image");
            assert_eq!(with(&waiting(reason)), PodReading::Stuck(why));
        }
    }

    #[test]
    fn a_pod_ends_with_its_worker_whatever_its_other_containers_do() {
        let with = |code: i32, message: &str| {
            let ended = json!({ "terminated": { "exitCode": code, "message": message } });
            let sidecar = container("sidecar", &json!({ "running": {} }));
            let containers = json!([sidecar, container("worker", &ended)]);
            reading(&json!({
                "phase": "Running", "conditions": scheduled("True", "", ""),
                "containerStatuses": containers
            }))
        };
        assert_eq!(with(0, ""), PodReading::Succeeded);
        let why = "the container worker: it ended (status 3); it printed: no such option";
        assert_eq!(with(3, "no such option"), PodReading::Failed(why.into()));
    }

    #[test]
    fn a_pod_that_will_be_ended_leaves_and_says_why() {
        let seen = |metadata: Value, status: Value| {
            let pod = json!({ "metadata": metadata, "status": status });
            let sighting = see(&serde_json::from_value(pod).expect("is a Pod"));
            (sighting.uid.0, sighting.leaves)
        };
        let running = || json!({ "phase": "Running" });
        assert_eq!(seen(json!({ "uid": "3f1c" }), running()), ("3f1c".into(), None));
        let deleted = json!({ "deletionTimestamp": "2026-01-01T00:00:00Z" });
        let why = seen(deleted.clone(), running()).1;
        assert_eq!(why.as_deref(), Some("its Pod is being deleted"));
        let target = |status: &str| {
            json!({ "phase": "Running", "conditions": [{
                "type": "DisruptionTarget", "status": status, "reason": "DeletionByTaintManager",
                "message": "Taint manager: deleting due to NoExecute taint"
            }] })
        };
        let why = "DeletionByTaintManager: Taint manager: deleting due to NoExecute taint";
        assert_eq!(seen(json!({}), target("True")).1.as_deref(), Some(why));
        assert_eq!(seen(deleted, target("True")).1.as_deref(), Some(why), "it says more");
        assert_eq!(seen(json!({}), target("False")).1, None, "it was not preempted after all");
    }

    #[test]
    fn an_end_says_what_happened_to_the_pod_or_its_container() {
        let failed = |status: Value| {
            let mut status = status;
            status["phase"] = json!("Failed");
            match reading(&status) {
                PodReading::Failed(why) => why,
                other => panic!("{other:?}"),
            }
        };
        let target = json!([{
            "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
            "message": "a pod of higher priority needs its place"
        }]);
        let why = failed(json!({ "conditions": target, "reason": "Other" }));
        assert_eq!(why, "PreemptionByScheduler: a pod of higher priority needs its place");
        let why = failed(
            json!({ "reason": "Evicted", "message": "The node was low on resource: memory." }),
        );
        assert_eq!(why, "Evicted: The node was low on resource: memory.");
        let ended = |code: i32, reason: &str, message: &str| {
            let state =
                json!({ "terminated": { "exitCode": code, "reason": reason, "message": message } });
            failed(json!({ "containerStatuses": [container("worker", &state)] }))
        };
        let why = ended(137, "OOMKilled", "");
        assert_eq!(why, "the container worker: it needed more memory than its limit (OOMKilled)");
        let why = ended(1, "Error", "the ticket\nis not known\n");
        assert_eq!(
            why,
            "the container worker: Error (status 1); it printed: the ticket is not known"
        );
        assert_eq!(failed(json!({})), "Kubernetes does not say why");
        assert_eq!(reading(&json!({ "phase": "Succeeded" })), PodReading::Succeeded);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let text = plain(&"é".repeat(SHOWN_BYTES_MAX));
        assert!(text.ends_with('…') && text.len() <= SHOWN_BYTES_MAX + 3);
    }
}
