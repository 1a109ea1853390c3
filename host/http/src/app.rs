//! The state that handlers share: the parts of the server, and the state of this interface itself.

use std::sync::Arc;

use assay_api::sample::SamplesPrepared;
use assay_core::limits;
use assay_dispatch::Dispatch;
use assay_dispatch::fair_semaphore::FairSemaphore;
use assay_link::RemoteWorkers;
use assay_registry::Registry;
use assay_storage::Roots;
use assay_store::{Store, StoreError};
use metrics_exporter_prometheus::PrometheusHandle;
use reqwest::Url;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::auth::KeyCache;
use crate::auth::bootstrap::FirstAdmin;
use crate::auth::sign_in::{SignIn, SignInConfig};
use crate::auto_batches::AutoBatches;
use crate::live::{Feeds, Streams};
use crate::told::ToldSamples;

/// The searches in the lines of logs at the same time, fewer than the database has connections for calls.
const LOG_SEARCHES_MAX: usize = 4;

/// The state that all handlers share.
pub struct App {
    pub store: Store,
    pub dispatch: Dispatch,
    pub registry: Arc<Registry>,
    /// `None` if no worker of another machine may join.
    pub remote_workers: Option<RemoteWorkers>,
    pub keys: KeyCache,
    pub roots: Roots,
    pub metrics: PrometheusHandle,
    /// Notified when a tenant's retention was changed.
    pub retention_changed: Arc<Notify>,
    looked_at: watch::Sender<Option<Instant>>,
    /// The part of each ended batch that is prepared for lists of samples.
    pub samples: SamplesPrepared,
    pub(crate) traced_part: Option<f64>,
    pub(crate) sign_in: SignIn,
    pub(crate) feeds: Arc<Feeds>,
    pub(crate) streams: Streams,
    pub(crate) auto_batches: Arc<AutoBatches>,
    /// Samples of trainers that are known to have got no reward.
    pub(crate) told: ToldSamples,
    /// Samples whose trainer asks for the result later, followed until it gives up.
    pub(crate) followed: FairSemaphore,
    pub(crate) simulations: FairSemaphore,
    /// Part of the keys that are made here; it tells the keys of deployments apart.
    pub environment: String,
    /// True once the server stops.
    pub(crate) stopping: watch::Receiver<bool>,
    /// Calls whose whole body is held in memory.
    pub(crate) buffered: FairSemaphore,
    /// KiB of bodies that waiting calls of trainers repeat in their answers.
    pub(crate) repeated: FairSemaphore,
    pub(crate) uploads: FairSemaphore,
    /// Calls that wait for the end of a batch, or follow it.
    pub(crate) long_calls: FairSemaphore,
    /// Searches in the lines of logs, which may read all lines of many batches and find none.
    pub(crate) log_searches: FairSemaphore,
    /// Exports of samples, which read whole runs.
    pub(crate) sample_exports: FairSemaphore,
    /// Components and artifacts that are sent.
    pub(crate) downloads: FairSemaphore,
    /// Lists of samples, which may sort all samples of a run.
    pub(crate) sample_lists: FairSemaphore,
}

/// The parts of the server that handlers talk to.
pub struct Inside {
    pub store: Store,
    pub dispatch: Dispatch,
    pub registry: Arc<Registry>,
    /// `None` if no worker of another machine may join.
    pub remote_workers: Option<RemoteWorkers>,
    pub roots: Roots,
    pub metrics: PrometheusHandle,
    pub retention_changed: Arc<Notify>,
    /// The time of the last call of somebody who is signed in, or who reads samples or runs.
    pub looked_at: watch::Sender<Option<Instant>>,
    /// The part of each ended batch that is prepared for lists of samples.
    pub samples: SamplesPrepared,
    pub first_admin: Option<FirstAdmin>,
    /// The part of the requests without a caller's trace that is traced; `None` if none is traced at all.
    pub traced_part: Option<f64>,
}

/// The addresses and the sign-in of the server.
pub struct Front {
    /// The server's own address.
    pub url: Url,
    /// Part of the keys that are made here; it tells the keys of deployments apart.
    pub environment: String,
    pub sign_in: SignInConfig,
}

impl App {
    pub fn new(
        inside: Inside,
        front: Front,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Self> {
        let Inside {
            store,
            dispatch,
            registry,
            remote_workers,
            roots,
            metrics,
            retention_changed,
            looked_at,
            samples,
            first_admin,
            traced_part,
        } = inside;
        let Front { url, environment, sign_in } = front;
        Ok(Self {
            keys: KeyCache::new(store.clone(), environment.clone()),
            auto_batches: AutoBatches::new(dispatch.clone(), stopping.clone()),
            feeds: Feeds::new(dispatch.clone(), stopping.clone()),
            store,
            dispatch,
            registry,
            remote_workers,
            roots,
            metrics,
            retention_changed,
            looked_at,
            samples,
            traced_part,
            sign_in: SignIn::new(sign_in, &url, first_admin)?,
            streams: Streams::default(),
            told: ToldSamples::default(),
            followed: FairSemaphore::new(limits::COMPAT_FOLLOWED_MAX),
            simulations: FairSemaphore::new(limits::SIMULATIONS_MAX),
            environment,
            stopping,
            buffered: FairSemaphore::new(limits::BUFFERED_CALLS_MAX),
            repeated: FairSemaphore::new(limits::COMPAT_REPEATED_KIB_MAX),
            uploads: FairSemaphore::new(limits::UPLOADS_MAX),
            long_calls: FairSemaphore::new(limits::LONG_CALLS_MAX),
            log_searches: FairSemaphore::new(LOG_SEARCHES_MAX),
            sample_exports: FairSemaphore::new(limits::SAMPLE_EXPORTS_MAX),
            downloads: FairSemaphore::new(limits::DOWNLOADS_MAX),
            sample_lists: FairSemaphore::new(limits::SAMPLE_LISTS_MAX),
        })
    }

    /// Somebody uses the dashboard, or reads what is prepared of ended batches: it is prepared now, a little at a time.
    pub(crate) fn somebody_looks(&self) {
        self.looked_at.send_replace(Some(Instant::now()));
    }

    /// Resumes the auto batches that were open when the server stopped. Must be called before any
    /// call is served.
    pub async fn restore(&self) -> Result<(), StoreError> {
        self.auto_batches.restore(&self.store).await?;
        tokio::spawn(self.auto_batches.clone().restore_late(self.store.clone()));
        Ok(())
    }

    /// Resolves when the server stops: streams end then, and clients resume them.
    pub(crate) fn stopped(&self) -> impl Future<Output = ()> + use<> {
        let mut stopping = self.stopping.clone();
        async move {
            // A sender that is gone has stopped everything too.
            let _ = stopping.wait_for(|stopped| *stopped).await;
        }
    }
}

pub(crate) type AppState = axum::extract::State<Arc<App>>;
