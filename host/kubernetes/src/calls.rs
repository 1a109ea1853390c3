//! The calls of Kubernetes: Pods of one namespace are made, deleted, listed and watched, and it is asked whose tokens are.

use std::time::Duration;

use anyhow::Context as _;
use assay_clock::now;
use assay_core::cause::deepest;
use assay_core::limits;
use assay_core::time::Micros;
use assay_fleet::{ProofRefusal, Start};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use k8s_openapi::api::authentication::v1::TokenReview;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Api, DeleteParams, ListParams, PostParams};
use kube::runtime::WatchStreamExt as _;
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Client, Config};
use tokio::sync::Semaphore;

use crate::join::PodJoin;
use crate::pods::{CreateRefusal, PodDeletion};
use crate::reading::{PodUid, plain};
use crate::settings::{KubernetesFile, KubernetesSettings};
use crate::token::{self, PodIdentity};

/// The words of a refusal because of a namespace's quota.
const QUOTA: &str = "exceeded quota";
const ANSWER_MAX: Duration = Duration::from_secs(limits::KUBERNETES_ANSWER_SECONDS_MAX);
/// The mean pause before a call is tried again.
const AGAIN: Micros = Micros::from_secs(limits::KUBERNETES_AGAIN_SECONDS);
const REVIEW_MAX: Duration = Duration::from_secs(limits::KUBERNETES_REVIEW_SECONDS_MAX);
/// The time without a byte after which a call is given up.
const SILENCE_MAX: Duration = Duration::from_secs(limits::KUBERNETES_SILENCE_SECONDS_MAX);
/// The time after which the server ends a watch, which then goes on where it was.
const WATCH_SECONDS: u32 = 290;

/// A way to the API server.
#[derive(Clone)]
pub struct KubernetesConnection {
    client: Client,
    /// The namespace of the client itself.
    namespace: String,
}

/// Finds the API server, as in a Pod of the cluster or by `KUBECONFIG`, and asks it for the Pods that it will watch.
pub async fn connect(namespace: Option<&str>) -> anyhow::Result<KubernetesConnection> {
    let mut config = Config::infer().await.context(
        "finding Kubernetes: run the server in a Pod with a service account, or name a file by KUBECONFIG",
    )?;
    config.connect_timeout = Some(ANSWER_MAX);
    // A list that nobody answers, which has no limit of its own, must not wait for ever.
    config.read_timeout = Some(SILENCE_MAX);
    config.reset_reader_on_write = true;
    // The launcher tries again itself, and says meanwhile what it waits for.
    config.default_retry = false;
    let namespace = namespace.unwrap_or(&config.default_namespace).to_owned();
    let client = Client::try_from(config).context("preparing calls of Kubernetes")?;
    Ok(KubernetesConnection { client, namespace })
}

impl KubernetesConnection {
    /// Asks for the Pods of the namespace, and whose token a text is that is none, if workers join by tokens; the error says
    /// why there is no answer.
    pub async fn check(&self, file: &KubernetesFile) -> anyhow::Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), &self.namespace);
        let one = ListParams::default().limit(1);
        let answer = tokio::time::timeout(ANSWER_MAX, pods.list(&one)).await;
        answer
            .map_err(|_| anyhow::anyhow!(late()))?
            .map_err(|error| anyhow::anyhow!(words(&error)))?;
        if file.join == PodJoin::Token {
            let question = token::question("none", "assay.dev".into());
            review(&self.client, &question).await?;
        }
        Ok(())
    }

    /// The namespace of the Pods.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

pub(crate) struct PodApi {
    settings: KubernetesSettings,
    pods: Api<Pod>,
    client: Client,
    /// The questions whose token one is that are under way.
    reviews: Semaphore,
}

impl PodApi {
    pub(crate) fn new(settings: KubernetesSettings, connection: KubernetesConnection) -> Self {
        let KubernetesConnection { client, namespace } = connection;
        let pods = Api::namespaced(client.clone(), &namespace);
        let reviews = Semaphore::new(limits::KUBERNETES_REVIEWS_MAX);
        Self { settings, pods, client, reviews }
    }

    pub(crate) fn settings(&self) -> &KubernetesSettings {
        &self.settings
    }

    /// The Pod whose token this is.
    pub(crate) async fn identify(&self, token: &str) -> Result<PodIdentity, ProofRefusal> {
        if self.settings.join != PodJoin::Token {
            return Err(ProofRefusal::Refused("workers of this pool join by their tickets".into()));
        }
        let audience = self.settings.audience();
        let question = token::question(token, audience.clone());
        let asking = async {
            let _turn = self.reviews.acquire().await.expect("it is never closed");
            review(&self.client, &question).await
        };
        let answered = asking.await.map_err(ProofRefusal::from)?;
        token::answer(answered.status, &audience)
    }

    /// The Pods of this server, first all of them and then their changes. It resumes where it was cut off, and waits longer
    /// after each failure.
    pub(crate) fn watch(&self) -> BoxStream<'static, Result<Event<Pod>, watcher::Error>> {
        let config = watcher::Config::default().labels(&self.settings.selector());
        watcher(self.pods.clone(), config.timeout(WATCH_SECONDS)).default_backoff().boxed()
    }

    /// The same, a moment later.
    pub(crate) fn watch_anew(&self) -> BoxStream<'static, Result<Event<Pod>, watcher::Error>> {
        let pause = stream::once(assay_clock::sleep_until(now() + pause()));
        pause.filter_map(async |()| None).chain(self.watch()).boxed()
    }

    /// The uid of the Pod that was made; `None` if a call before made it.
    pub(crate) async fn create(&self, start: &Start) -> Result<Option<PodUid>, CreateRefusal> {
        let Some(pod) = self.settings.pod(start) else {
            let why = format!("the pool {} has no settings for Kubernetes", start.pool);
            return Err(CreateRefusal::ForGood(why));
        };
        let plain = PostParams::default();
        match tokio::time::timeout(ANSWER_MAX, self.pods.create(&plain, &pod)).await {
            Ok(Ok(made)) => Ok(made.metadata.uid.map(PodUid)),
            Ok(Err(error)) => refusal(&error).map(|()| None),
            // Perhaps it was made: to make it again is then refused as there already.
            Err(_) => Err(CreateRefusal::ForNow(late())),
        }
    }

    /// Whether the Pod is deleted, or was not there.
    pub(crate) async fn delete(&self, deletion: &PodDeletion) -> bool {
        let name = self.settings.name(&deletion.pool, deletion.ticket);
        let how = match deletion.grace {
            Some(seconds) => DeleteParams::default().grace_period(seconds),
            None => DeleteParams::default(),
        };
        let asked = self.pods.delete(&name, &how);
        let why = match tokio::time::timeout(ANSWER_MAX, asked).await {
            Ok(Ok(_)) => return true,
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => return true,
            Ok(Err(kube::Error::Api(status))) => plain(&status.message),
            Ok(Err(error)) => words(&error),
            Err(_) => late(),
        };
        tracing::warn!("the Pod {name} is not deleted yet: {why}");
        false
    }
}

/// Why Kubernetes did not say whose token one is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum ReviewRefusal {
    #[error(
        "Kubernetes does not let the server ask whose tokens are ({0}): its service account needs the right to create \
         tokenreviews in the cluster, as in deploy/kubernetes/overlays/pods/rights.yaml, or the file of --kubernetes \
         says `join: ticket`"
    )]
    Forbidden(String),
    #[error("Kubernetes cannot be asked whose token it is: {0}")]
    ForNow(String),
}

impl From<ReviewRefusal> for ProofRefusal {
    fn from(refusal: ReviewRefusal) -> Self {
        let why = refusal.to_string();
        match refusal {
            ReviewRefusal::Forbidden(_) => Self::Refused(why),
            ReviewRefusal::ForNow(_) => Self::Unchecked(why),
        }
    }
}

async fn review(client: &Client, question: &TokenReview) -> Result<TokenReview, ReviewRefusal> {
    let reviews: Api<TokenReview> = Api::all(client.clone());
    let plain_call = PostParams::default();
    match tokio::time::timeout(REVIEW_MAX, reviews.create(&plain_call, question)).await {
        Ok(Ok(answered)) => Ok(answered),
        Ok(Err(kube::Error::Api(status))) if status.code == 403 => {
            Err(ReviewRefusal::Forbidden(plain(&status.message)))
        }
        Ok(Err(error)) => Err(ReviewRefusal::ForNow(words(&error))),
        Err(_) => {
            let why = format!("it gave no answer in {} s", REVIEW_MAX.as_secs());
            Err(ReviewRefusal::ForNow(why))
        }
    }
}

/// Whether a watch cannot begin where it was to resume, because the API server has forgotten the changes since.
pub(crate) fn is_expired(error: &watcher::Error) -> bool {
    let watcher::Error::WatchStartFailed(kube::Error::Api(status)) = error else { return false };
    status.code == 410
}

/// A pause before a call is tried again, a different one each time: what failed together is not tried again together.
pub(crate) fn pause() -> Micros {
    let drawn = getrandom::u32().expect("the operating system gives randomness");
    let part = f64::from(drawn) / f64::from(u32::MAX);
    AGAIN.scaled(0.5 + part)
}

/// Why a Pod was not made. One that is there already was made by a call whose answer was lost: names hold tickets.
fn refusal(error: &kube::Error) -> Result<(), CreateRefusal> {
    let kube::Error::Api(status) = error else { return Err(CreateRefusal::ForNow(words(error))) };
    let why = plain(&status.message);
    match status.code {
        409 if status.reason == "AlreadyExists" => Ok(()),
        403 if why.contains(QUOTA) => {
            // Without the Pod's name, so that several wait for one reason.
            let at = why.find(QUOTA).unwrap_or_default();
            Err(CreateRefusal::ForNow(why[at..].to_owned()))
        }
        409 | 429 | 500.. => Err(CreateRefusal::ForNow(why)),
        _ => Err(CreateRefusal::ForGood(why)),
    }
}

fn late() -> String {
    format!("it gave no answer in {} s", ANSWER_MAX.as_secs())
}

/// The words of Kubernetes, or the deepest cause for which it said nothing.
pub(crate) fn words(error: &(dyn std::error::Error + 'static)) -> String {
    plain(&deepest(error).to_string())
}

#[cfg(test)]
mod tests {
    use kube::core::Status;

    use super::*;

    fn refused(code: u16, reason: &str, message: &str) -> Result<(), CreateRefusal> {
        refusal(&kube::Error::Api(Status::failure(message, reason).with_code(code).boxed()))
    }

    #[test]
    fn pauses_differ_and_are_about_the_mean_one() {
        let pauses: Vec<u64> = (0..64).map(|_| pause().0).collect();
        let about = AGAIN.0 / 2..=AGAIN.0 * 3 / 2;
        assert!(pauses.iter().all(|it| about.contains(it)), "{pauses:?}");
        assert!(pauses.iter().any(|it| it.abs_diff(pauses[0]) > AGAIN.0 / 10), "{pauses:?}");
    }

    #[test]
    fn a_refusal_says_whether_it_may_be_tried_again() {
        assert_eq!(refused(409, "AlreadyExists", "pods \"a\" already exists"), Ok(()));
        let quota =
            "pods \"a\" is forbidden: exceeded quota: gpus, requested: 1, used: 4, limited: 4";
        for (code, reason, message) in [
            (403, "Forbidden", quota),
            (409, "Conflict", "the object has been modified"),
            (429, "TooManyRequests", "slow down"),
            (500, "InternalError", "etcd leader changed"),
            (503, "ServiceUnavailable", "apiserver is shutting down"),
        ] {
            let Err(CreateRefusal::ForNow(why)) = refused(code, reason, message) else {
                panic!("{message}")
            };
            assert!(message.ends_with(&why) && !why.contains("pods"), "{why}");
        }
        for (code, reason, message) in [
            (403, "Forbidden", "pods is forbidden: User \"assay\" cannot create resource"),
            (422, "Invalid", "Pod \"a\" is invalid: spec.containers[0].image: Required value"),
            (404, "NotFound", "namespaces \"assay\" not found"),
        ] {
            let Err(CreateRefusal::ForGood(why)) = refused(code, reason, message) else {
                panic!("{message}")
            };
            assert!(why.contains(message), "{why}");
        }
    }
}
