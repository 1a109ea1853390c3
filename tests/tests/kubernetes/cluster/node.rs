//! The only node of a cluster, with what Kubernetes has between it and the API server: it gives places to Pods, runs each
//! one as a process, and tells the API server what became of it. It is a client of the API server like any other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::PODS;
use super::access::{Access, token_spec};

/// An image that no registry has.
pub(crate) const MISSING_IMAGE: &str = "registry.test/missing:1";

pub(super) struct Node {
    access: Access,
    /// The folder of what Pods mount.
    folder: PathBuf,
    state: Mutex<NodeState>,
    /// Wakes it up: there is more room.
    wake: mpsc::UnboundedSender<Turn>,
}

#[derive(Default)]
struct NodeState {
    /// The Pods that there is room for.
    places: usize,
    pods: BTreeMap<String, Value>,
    /// The processes of Pods by uid, and how each is to end: within so many seconds.
    running: BTreeMap<String, watch::Sender<Option<u64>>>,
    /// The uids of all Pods that ever had a place: the watch may tell of earlier times.
    placed: BTreeSet<String>,
}

/// What the node does next.
enum Turn {
    Look,
    Ended { name: String, uid: String, code: i32, printed: String },
}

impl Node {
    pub(super) fn start(
        runtime: &Handle,
        access: Access,
        folder: PathBuf,
        places: usize,
    ) -> Arc<Self> {
        let (wake, turns) = mpsc::unbounded_channel();
        let state = NodeState { places, ..NodeState::default() };
        let node = Arc::new(Self { access, folder, state: Mutex::new(state), wake });
        runtime.spawn(Arc::clone(&node).run(turns));
        node
    }

    pub(super) fn set_places(&self, places: usize) {
        self.state().places = places;
        let _ = self.wake.send(Turn::Look);
    }

    /// Kills what a Pod runs.
    pub(super) fn kill(&self, name: &str) {
        let state = self.state();
        let end = state.pods.get(name).and_then(|pod| state.running.get(&uid(pod)));
        end.expect("it runs").send_replace(Some(0));
    }

    /// Kills what all Pods run.
    pub(super) fn stop(&self) {
        let mut state = self.state();
        state.places = 0;
        for end in state.running.values() {
            end.send_replace(Some(0));
        }
    }

    fn state(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().expect("whole")
    }

    async fn run(self: Arc<Self>, mut turns: mpsc::UnboundedReceiver<Turn>) {
        let pods: Api<Pod> = Api::namespaced(self.access.client.clone(), &self.access.namespace);
        let watch = watcher(pods, watcher::Config::default()).default_backoff();
        let mut watch = std::pin::pin!(watch);
        loop {
            tokio::select! {
                Some(event) = watch.next() => self.see(event),
                Some(turn) = turns.recv() => self.turn(turn).await,
            }
            self.look().await;
        }
    }

    fn see(&self, event: watcher::Result<Event<Pod>>) {
        let mut state = self.state();
        match event {
            Ok(Event::Init) => state.pods.clear(),
            Ok(Event::InitApply(pod) | Event::Apply(pod)) => {
                let pod = serde_json::to_value(pod).expect("is JSON");
                state.pods.insert(name(&pod), pod);
            }
            Ok(Event::Delete(pod)) => {
                let pod = serde_json::to_value(pod).expect("is JSON");
                state.pods.retain(|_, known| uid(known) != uid(&pod));
                if let Some(end) = state.running.get(&uid(&pod)) {
                    end.send_replace(Some(0));
                }
            }
            Ok(Event::InitDone) => {}
            Err(error) => eprintln!("the node's watch: {error}"),
        }
    }

    async fn turn(&self, turn: Turn) {
        let Turn::Ended { name, uid, code, printed } = turn else { return };
        self.state().running.remove(&uid);
        // Another one may have its name.
        let pod = self.access.pod(&name).await;
        if pod.is_none_or(|pod| self::uid(&pod) != uid) {
            return;
        }
        let (phase, reason) =
            if code == 0 { ("Succeeded", "Completed") } else { ("Failed", "Error") };
        let last: Vec<&str> = printed.lines().rev().take(3).collect();
        let ended = json!({ "exitCode": code, "reason": reason, "message": last.join("\n") });
        // One that is being deleted is taken out at the next look.
        let state = json!({ "terminated": ended });
        self.access.set_status(&name, &status(phase, &state)).await;
        self.refresh(&name).await;
    }

    /// Looks at all Pods: gives places to those without, and ends those that are being deleted.
    async fn look(self: &Arc<Self>) {
        let pods: Vec<(String, Value)> = self.state().pods.clone().into_iter().collect();
        for (name, pod) in pods {
            let uid = uid(&pod);
            let end = self.state().running.get(&uid).cloned();
            let is_placed = self.state().placed.contains(&uid);
            match (end, pod["metadata"].get("deletionTimestamp").is_some()) {
                (Some(end), true) => {
                    let grace = pod["metadata"]["deletionGracePeriodSeconds"].as_u64();
                    end.send_if_modified(|end| {
                        let sooner = end.is_none_or(|end| grace.unwrap_or(0) < end);
                        if sooner {
                            *end = Some(grace.unwrap_or(0));
                        }
                        sooner
                    });
                }
                (None, true) => self.access.remove(&name, &uid).await,
                (None, false) if !is_placed => self.place(&name, &pod).await,
                _ => {}
            }
        }
    }

    async fn place(self: &Arc<Self>, name: &str, pod: &Value) {
        let is_full = {
            let state = self.state();
            state.running.len() >= state.places
        };
        if is_full {
            let why = json!([{
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                "message": "0/1 nodes are available: 1 Insufficient cpu."
            }]);
            if pod["status"]["conditions"][0]["reason"] != "Unschedulable" {
                self.access.set_status(name, &json!({ "conditions": why })).await;
                self.refresh(name).await;
            }
            return;
        }
        if !self.access.bind(name).await {
            return;
        }
        self.state().placed.insert(uid(pod));
        let container = &pod["spec"]["containers"][0];
        if container["image"] == MISSING_IMAGE {
            let waiting =
                json!({ "waiting": { "reason": "ImagePullBackOff", "message": "not found" } });
            self.access.set_status(name, &status("Pending", &waiting)).await;
            return self.refresh(name).await;
        }
        let (end, asked) = watch::channel(None);
        self.state().running.insert(uid(pod), end);
        let child = self.process(pod).await;
        self.access.set_status(name, &status("Running", &json!({ "running": {} }))).await;
        self.refresh(name).await;
        tokio::spawn(live(name.to_owned(), uid(pod), child, asked, self.wake.clone()));
    }

    /// Knows what it changed before the watch tells of it.
    async fn refresh(&self, name: &str) {
        if let Some(pod) = self.access.pod(name).await {
            self.state().pods.insert(name.to_owned(), pod);
        }
    }

    /// Starts the process of a Pod's first container. Where it mounts tokens, it finds them in a folder of its own.
    async fn process(&self, pod: &Value) -> Child {
        let container = &pod["spec"]["containers"][0];
        let folder = self.folder.join(uid(pod));
        let mounts = self.mount_tokens(pod, &folder).await;
        let texts = |value: &Value| -> Vec<String> {
            let list = value.as_array().into_iter().flatten();
            let list = list.map(|text| text.as_str().expect("a text").to_owned());
            let folder = folder.to_str().expect("a plain path");
            list.map(|text| mounts.iter().fold(text, |it, mount| it.replace(mount, folder)))
                .collect()
        };
        let command = texts(&container["command"]);
        let mut process = Command::new(&command[0]);
        process.args(&command[1..]).args(texts(&container["args"])).env_clear();
        process.env("PATH", "/usr/bin:/bin");
        for variable in container["env"].as_array().into_iter().flatten() {
            let text = |key: &str| variable[key].as_str().expect("a text");
            process.env(text("name"), text("value"));
        }
        process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        process.kill_on_drop(true).spawn().expect("the program of the container runs")
    }

    /// Writes the tokens that a Pod mounts into the folder; returns where it mounts them.
    async fn mount_tokens(&self, pod: &Value, folder: &std::path::Path) -> Vec<String> {
        let mut paths = Vec::new();
        for volume in pod["spec"]["volumes"].as_array().into_iter().flatten() {
            let token = &volume["projected"]["sources"][0]["serviceAccountToken"];
            let Some(audience) = token["audience"].as_str() else { continue };
            let text = self.access.token(PODS, &token_spec(audience, Some(pod))).await;
            std::fs::create_dir_all(folder).expect("a folder");
            let file = folder.join(token["path"].as_str().expect("a path"));
            std::fs::write(file, text).expect("writes");
            let mounts = pod["spec"]["containers"][0]["volumeMounts"].as_array();
            let mounts = mounts.into_iter().flatten().filter(|it| it["name"] == volume["name"]);
            paths.extend(mounts.map(|it| it["mountPath"].as_str().expect("a path").to_owned()));
        }
        paths
    }
}

/// Waits for the end of what a Pod runs.
async fn live(
    name: String,
    uid: String,
    mut child: Child,
    mut asked: watch::Receiver<Option<u64>>,
    tell: mpsc::UnboundedSender<Turn>,
) {
    let mut stderr = child.stderr.take().expect("it is piped");
    let reading = tokio::spawn(async move {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text).await;
        String::from_utf8_lossy(&text).into_owned()
    });
    let pid = child.id().expect("it runs").to_string();
    let stopped = async {
        let mut told = false;
        while let Some(grace) =
            asked.wait_for(Option::is_some).await.ok().and_then(|grace| *grace).filter(|it| *it > 0)
        {
            if !std::mem::replace(&mut told, true) {
                let _ = Command::new("kill").args(["-TERM", &pid]).status().await;
            }
            asked.mark_unchanged();
            // A shorter time may come.
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(grace)) => return,
                _ = asked.changed() => {}
            }
        }
    };
    let ended = tokio::select! {
        ended = child.wait() => ended,
        () = stopped => {
            let _ = child.start_kill();
            child.wait().await
        }
    };
    let code = ended.ok().and_then(|status| status.code()).unwrap_or(137);
    let printed = reading.await.unwrap_or_default();
    let _ = tell.send(Turn::Ended { name, uid, code, printed });
}

fn status(phase: &str, state: &Value) -> Value {
    let container = json!({
        "name": "worker", "image": "a", "imageID": "", "ready": true, "restartCount": 0, "state": state
    });
    json!({ "phase": phase, "containerStatuses": [container] })
}

fn name(pod: &Value) -> String {
    pod["metadata"]["name"].as_str().expect("a name").to_owned()
}

fn uid(pod: &Value) -> String {
    pod["metadata"]["uid"].as_str().expect("a uid").to_owned()
}
