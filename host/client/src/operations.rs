//! The running service: what is live, its workers and incidents; replays and simulations.

use assay_api::acknowledgement::{AcknowledgeIncident, Acknowledgement};
use assay_api::operations::{
    IncidentFilter, IncidentPage, Overview, QueueList, Worker, WorkerList,
};
use assay_api::remote_workers::{CreateWorkerToken, RemoteWorkerList, WorkerToken};
use assay_api::request::{Replay, ReplayRequest};
use assay_api::simulation::{Simulation, SimulationRequest};
use assay_core::id::{RequestId, TicketId, WorkerId};
use reqwest::Method;

use crate::call::{Client, Repeat};
use crate::error::Error;
use crate::events::ServerEvents;

/// The tenants whose batches are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantFilter {
    Own,
    /// All tenants'; for the platform's administrators.
    All,
}

impl TenantFilter {
    fn query(self) -> [(&'static str, bool); 1] {
        [("all", self == Self::All)]
    }
}

impl Client {
    pub async fn overview(&self, whose: TenantFilter) -> Result<Overview, Error> {
        let request = self.request(Method::GET, &["overview"]).query(&whose.query());
        self.json(request, Repeat::Safe).await
    }

    /// Follows the live feed, after `last_event_id` if given: a `snapshot`, then `delta`s.
    pub async fn live(
        &self,
        whose: TenantFilter,
        last_event_id: Option<&str>,
    ) -> Result<ServerEvents, Error> {
        let request = self.request(Method::GET, &["live"]).query(&whose.query());
        self.follow(request, last_event_id).await
    }

    /// The latest first.
    pub async fn incidents(&self, filter: &IncidentFilter) -> Result<IncidentPage, Error> {
        self.json(self.request(Method::GET, &["incidents"]).query(filter), Repeat::Safe).await
    }

    /// Acknowledges an incident and those like it.
    pub async fn acknowledge_incident(
        &self,
        incident: i64,
        call: &AcknowledgeIncident,
    ) -> Result<Acknowledgement, Error> {
        let path = ["incidents", &incident.to_string(), "acknowledge"];
        self.json(self.request(Method::POST, &path).json(call), Repeat::Safe).await
    }

    /// Withdraws the acknowledgement of an incident.
    pub async fn reopen_incident(&self, incident: i64) -> Result<(), Error> {
        let path = ["incidents", &incident.to_string(), "reopen"];
        self.send(self.request(Method::POST, &path), Repeat::Safe).await.map(drop)
    }

    pub async fn workers(&self) -> Result<WorkerList, Error> {
        self.json(self.request(Method::GET, &["workers"]), Repeat::Safe).await
    }

    /// It finishes what it has in hand and ends.
    pub async fn drain_worker(&self, worker: WorkerId) -> Result<Worker, Error> {
        let request = self.request(Method::POST, &["workers", &worker.0.to_string(), "drain"]);
        self.json(request, Repeat::Safe).await
    }

    /// Makes a token with which one worker of another machine joins a pool.
    pub async fn create_worker_token(
        &self,
        call: &CreateWorkerToken,
    ) -> Result<WorkerToken, Error> {
        let request = self.request(Method::POST, &["workers", "tokens"]);
        self.json(request.json(call), Repeat::Unsafe).await
    }

    /// The workers of other machines that may connect.
    pub async fn remote_workers(&self) -> Result<RemoteWorkerList, Error> {
        self.json(self.request(Method::GET, &["workers", "remote"]), Repeat::Safe).await
    }

    /// Ends a worker of another machine and refuses it from now on.
    pub async fn remove_remote_worker(&self, worker: TicketId) -> Result<(), Error> {
        let path = ["workers", "remote", &worker.to_string()];
        self.send(self.request(Method::DELETE, &path), Repeat::Unsafe).await.map(drop)
    }

    /// The waiting requests of each pool, by batch.
    pub async fn queue(&self) -> Result<QueueList, Error> {
        self.json(self.request(Method::GET, &["queue"]), Repeat::Safe).await
    }

    /// Runs a request again, by its own version of the plugin or by another, and compares.
    pub async fn replay(&self, id: RequestId, call: &ReplayRequest) -> Result<Replay, Error> {
        let request = self.request(Method::POST, &["requests", &id.to_string(), "replay"]);
        self.json(request.json(call), Repeat::Unsafe).await
    }

    pub async fn simulate(&self, call: &SimulationRequest) -> Result<Simulation, Error> {
        let request = self.request(Method::POST, &["simulations"]);
        self.json(request.json(call), Repeat::Unsafe).await
    }
}
