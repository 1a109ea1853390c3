//! The job that tells webhooks of incidents. A delivery is a row before it is sent, so that a restart loses none, and
//! is sent until the receiver takes it or its tries are used up: at least once.

mod message;
mod send;

use std::time::Duration;

use assay_core::limits;
use assay_core::time::Micros;
use assay_dispatch::now;
use assay_store::webhooks::{DueDelivery, TryResult};
use assay_store::{Store, StoreError};
use tokio::task::JoinSet;

/// The metric that counts the tries of deliveries by their result.
const TRIES: &str = "assay_webhook_tries_total";
const PERIOD: Duration = Duration::from_secs(2);
const REPEAT: Micros = Micros::from_secs(60 * limits::WEBHOOK_REPEAT_MINUTES);

/// Works until it is dropped. `dashboard` is where browsers reach the server.
pub async fn run(store: Store, dashboard: String) {
    let dashboard = dashboard.trim_end_matches('/');
    for result in ["delivered", "again", "failed"] {
        metrics::counter!(TRIES, "result" => result).increment(0);
    }
    loop {
        match round(&store, dashboard).await {
            // There may be more.
            Ok(tried) if tried > 0 => {}
            Ok(_) => tokio::time::sleep(PERIOD).await,
            Err(error) => {
                tracing::warn!("webhooks cannot be told of incidents: {error}");
                tokio::time::sleep(PERIOD).await;
            }
        }
    }
}

/// Makes deliveries of new incidents, and tries those that are due, all at the same time; returns how many.
async fn round(store: &Store, dashboard: &str) -> Result<usize, StoreError> {
    let at = now();
    // An incident that goes on has a new time, so that it is told of again.
    store.make_deliveries(at.since(REPEAT), at).await?;
    let due = store.due_deliveries(at).await?;
    let tried = due.len();
    let mut trying = JoinSet::new();
    for delivery in due {
        let (store, dashboard) = (store.clone(), dashboard.to_owned());
        trying.spawn(async move { attempt(&store, &delivery, &dashboard).await });
    }
    while let Some(ended) = trying.join_next().await {
        match ended {
            Ok(recorded) => recorded?,
            Err(error) => tracing::error!("a try of a delivery panicked: {error}"),
        }
    }
    Ok(tried)
}

async fn attempt(store: &Store, delivery: &DueDelivery, dashboard: &str) -> Result<(), StoreError> {
    let message = message::message(delivery, dashboard, now());
    let sent = send::send(&delivery.url, &delivery.hosts, message).await;
    let at = now();
    let result = result(delivery.tries, sent, at);
    let name = match &result {
        TryResult::Delivered => "delivered",
        TryResult::Again { .. } => "again",
        TryResult::Failed { error } => {
            let (tenant, webhook) = (&delivery.tenant, &delivery.webhook);
            tracing::warn!(%tenant, %webhook, "a delivery to a webhook is given up: {error}");
            "failed"
        }
    };
    metrics::counter!(TRIES, "result" => name).increment(1);
    store.record_try(delivery.id, &result, at).await
}

/// The end of a try, after `before` other tries.
fn result(before: u32, sent: Result<(), send::Unsent>, at: Micros) -> TryResult {
    let Err(unsent) = sent else { return TryResult::Delivered };
    let pause = limits::WEBHOOK_PAUSES_SECONDS.get(before as usize);
    match pause.filter(|_| !unsent.is_final) {
        Some(&seconds) => {
            TryResult::Again { error: unsent.why, at: at + Micros::from_secs(seconds) }
        }
        None => TryResult::Failed { error: unsent.why },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_have_growing_pauses_and_an_end() {
        let unsent = |is_final| send::Unsent { why: "no".into(), is_final };
        let at = Micros::from_secs(1_000);
        let pauses = limits::WEBHOOK_PAUSES_SECONDS.iter().zip(0..).map(|(&seconds, before)| {
            let again = at + Micros::from_secs(seconds);
            let expected = TryResult::Again { error: "no".into(), at: again };
            assert_eq!(result(before, Err(unsent(false)), at), expected);
            seconds
        });
        assert!(pauses.collect::<Vec<_>>().is_sorted());
        let failed = TryResult::Failed { error: "no".into() };
        assert_eq!(result(5, Err(unsent(false)), at), failed);
        assert_eq!(result(0, Err(unsent(true)), at), failed);
        assert_eq!(result(3, Ok(()), at), TryResult::Delivered);
    }
}
