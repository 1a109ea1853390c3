//! Workers of launchers as a client sees them: who has joined, what a pool waits for, who is busy.

use assay_api::capacity::{PoolCapacity, SetCapacity};
use assay_api::operations::{Worker, WorkerState};
use assay_api::request::SubmitItem;
use assay_client::Client;
use assay_core::id::TicketId;
use assay_tests::{Answers, Host, item, until};

pub(crate) async fn joined(client: &Client, count: usize) -> Vec<Worker> {
    until(&format!("{count} workers have joined"), async || {
        let workers = client.workers().await.expect("answers").items;
        let joined = workers.into_iter().filter(|it| it.joined_at.is_some());
        let joined: Vec<Worker> = joined.filter(|it| it.state != WorkerState::Draining).collect();
        (joined.len() == count).then_some(joined)
    })
    .await
}

pub(crate) async fn pool(client: &Client, name: &str) -> PoolCapacity {
    let pools = client.capacity().await.expect("answers").pools;
    pools.into_iter().find(|pool| pool.pool == name).expect("the pool is there")
}

/// Waits until the reason is among those for which workers of the pool wait; returns how many do.
pub(crate) async fn waits(client: &Client, name: &str, reason: &str) -> u32 {
    until(&format!("{name} waits: {reason}"), async || {
        let waiting = pool(client, name).await.waiting.into_iter();
        waiting.filter(|it| it.reason.contains(reason)).map(|it| it.workers).next()
    })
    .await
}

pub(crate) async fn set(client: &Client, pool: &str, count: u32) {
    let wanted = SetCapacity { min: count, max: count };
    client.set_capacity(pool, &wanted).await.expect("sets");
}

pub(crate) async fn scores(host: &Host, plugin: &str) {
    let client = host.client();
    let items: Vec<SubmitItem> = (0..20).map(|at| item(format!("r{at}"), "xx", "4")).collect();
    let results = Answers::submit(&client, plugin, &items).await.finish(&client, &items).await;
    assert_eq!(results.len(), items.len());
    for result in results.values() {
        assert_eq!(result.outcome.kind(), "scored", "{result:?}");
    }
}

pub(crate) async fn busy(client: &Client, other_than: Option<TicketId>) -> Worker {
    until("a worker is busy", async || {
        let mut workers = client.workers().await.expect("answers").items.into_iter();
        workers.find(|it| it.state == WorkerState::Busy && Some(it.ticket) != other_than)
    })
    .await
}
