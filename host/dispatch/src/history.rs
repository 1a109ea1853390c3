//! Completed batches in two forms: the profile from which the scheduler and the planner learn, and the
//! row that stores it.
//!
//! Any earlier version may have written a row, so each is checked; an inconsistent row is skipped and
//! never repaired by guessing.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_api::history::ProfileStage;
use assay_clock::now;
use assay_core::id::Digest;
use assay_core::plugin::Stage;
use assay_core::time::Micros;
use assay_sched::{Ending, Event, Profile, ProfileRequest, Sched, StageShape};

use assay_store::history::{ENDINGS, HistoryRow};
use assay_store::{Store, StoreError};

/// Reads the profiles of completed batches, the oldest first.
pub async fn read(store: &Store) -> Result<Vec<Arc<Profile>>, StoreError> {
    let mut profiles = Vec::new();
    store
        .read_history(|row| {
            let batch = row.batch;
            match profile(row) {
                Ok(profile) => profiles.push(Arc::new(profile)),
                Err(reason) => {
                    tracing::warn!(batch.id = %batch, reason, "a batch's history is left out");
                }
            }
        })
        .await?;
    Ok(profiles)
}

/// Passes profiles to the scheduler, so that it ranks batches as before the restart.
pub(super) fn learn(sched: &mut Sched, history: &[Arc<Profile>]) {
    for profile in history {
        // No batch is live yet, so there are no actions.
        let _ = sched.step(now(), Event::HistoryRead(Arc::clone(profile)));
    }
}

/// The row for the profile of a completed batch; `stages` are its plugin's.
pub(super) fn row(profile: &Profile, stages: &[Stage]) -> HistoryRow {
    let stages: Vec<ProfileStage> = stages
        .iter()
        .map(|stage| ProfileStage {
            name: stage.name.clone(),
            pool: stage.pool.clone(),
            timeout_ms: stage.timeout_ms,
            retries_max: stage.retries_max,
        })
        .collect();
    let worker_seconds: BTreeMap<_, _> = profile
        .worker_time()
        .into_iter()
        .map(|(pool, time)| (pool.to_string(), time.as_secs_f64()))
        .collect();
    let micros = |time: Micros| i64::try_from(time.0).unwrap_or(i64::MAX);
    HistoryRow {
        tenant: profile.tenant,
        batch: profile.batch,
        run: profile.run.to_string(),
        digest: profile.plugin.0.to_vec(),
        stages: serde_json::to_string(&stages).expect("stages are plain data"),
        announced_at: profile.announced,
        first_arrival_at: profile.first_arrival,
        earliest_end_at: profile.earliest_end,
        ended_at: profile.ended,
        worker_seconds: serde_json::to_string(&worker_seconds).expect("sums are plain data"),
        arrived_us: profile.requests.iter().map(|request| micros(request.arrived)).collect(),
        ran_us: profile.ran.iter().map(|ran| micros(*ran)).collect(),
        endings: profile.requests.iter().map(|request| letter(request.ending)).collect(),
    }
}

/// The profile of a row, or the reason why the row is inconsistent.
fn profile(row: HistoryRow) -> Result<Profile, &'static str> {
    let stages: Vec<ProfileStage> =
        serde_json::from_str(&row.stages).map_err(|_| "its stages cannot be read")?;
    if stages.is_empty() {
        return Err("it has no stages");
    }
    let requests = row.arrived_us.len();
    if requests == 0 {
        return Err("it has no requests");
    }
    if row.ran_us.len() != requests * stages.len() || row.endings.len() != requests {
        return Err("its lists have different lengths");
    }
    let micros = |us: i64| u64::try_from(us).map(Micros).map_err(|_| "it has a time below zero");
    let requests = row.arrived_us.iter().zip(row.endings.chars()).map(|(arrived, letter)| {
        let ending = ending(letter).ok_or("a request ended in an unknown way")?;
        Ok(ProfileRequest { arrived: micros(*arrived)?, ending })
    });
    Ok(Profile {
        batch: row.batch,
        tenant: row.tenant,
        run: row.run.into(),
        plugin: Digest::try_from(&row.digest[..]).map_err(|_| "its plugin's digest is none")?,
        stages: stages.iter().map(shape).collect(),
        announced: row.announced_at,
        first_arrival: row.first_arrival_at,
        earliest_end: row.earliest_end_at,
        ended: row.ended_at,
        requests: requests.collect::<Result<_, &str>>()?,
        ran: row.ran_us.iter().map(|ran| micros(*ran)).collect::<Result<_, &str>>()?,
    })
}

fn shape(stage: &ProfileStage) -> StageShape {
    StageShape {
        pool: stage.pool.as_str().into(),
        timeout: Micros::from_ms(stage.timeout_ms.into()),
        retries_max: stage.retries_max,
    }
}

fn kind(ending: Ending) -> &'static str {
    match ending {
        Ending::Scored => "scored",
        Ending::TimedOut => "timed_out",
        Ending::Error => "error",
    }
}

/// The ending for the kind of an outcome.
pub(super) fn ending_of(wanted: &str) -> Option<Ending> {
    [Ending::Scored, Ending::TimedOut, Ending::Error]
        .into_iter()
        .find(|ending| kind(*ending) == wanted)
}

fn letter(ending: Ending) -> char {
    let (letter, _) = ENDINGS
        .into_iter()
        .find(|(_, known)| *known == kind(ending))
        .expect("every ending has a letter");
    letter
}

fn ending(wanted: char) -> Option<Ending> {
    let (_, kind) = ENDINGS.into_iter().find(|(letter, _)| *letter == wanted)?;
    ending_of(kind)
}

#[cfg(test)]
mod tests {
    use assay_core::id::{BatchId, TenantId};

    use super::*;

    fn stages() -> Vec<Stage> {
        let stage = |name: &str, pool: &str| Stage {
            name: name.into(),
            pool: pool.into(),
            timeout_ms: 1_500,
            memory_bytes_max: 1,
            retries_max: 2,
        };
        vec![stage("compile", "cpu"), stage("execute", "gpu")]
    }

    fn whole() -> Profile {
        let micros = |times: &[u64]| times.iter().copied().map(Micros).collect::<Vec<_>>();
        let request = |arrived, ending| ProfileRequest { arrived: Micros(arrived), ending };
        Profile {
            batch: BatchId::generate(),
            tenant: TenantId::generate(),
            run: "run".into(),
            plugin: Digest([7; 32]),
            stages: stages()
                .iter()
                .map(|stage| StageShape {
                    pool: stage.pool.as_str().into(),
                    timeout: Micros::from_ms(1_500),
                    retries_max: 2,
                })
                .collect(),
            announced: Micros(1_000),
            first_arrival: Micros(2_000),
            earliest_end: Micros(9_000),
            ended: Micros(9_500),
            requests: vec![
                request(0, Ending::Scored),
                request(5, Ending::TimedOut),
                request(9, Ending::Error),
            ],
            ran: micros(&[10, 20, 1_500_000, 0, 1, 0]),
        }
    }

    #[test]
    fn a_profile_survives_its_row() {
        let profile = whole();
        let row = row(&profile, &stages());
        assert_eq!(row.endings, "ste");
        assert_eq!(row.worker_seconds, r#"{"cpu":1.500011,"gpu":0.00002}"#);
        assert_eq!(super::profile(row), Ok(profile));
    }

    #[test]
    fn what_does_not_hold_together_is_refused() {
        let refused = |change: fn(&mut HistoryRow)| {
            let mut row = row(&whole(), &stages());
            change(&mut row);
            profile(row).expect_err("it does not hold together")
        };
        let lengths = "its lists have different lengths";
        assert_eq!(refused(|row| row.stages = "nonsense".into()), "its stages cannot be read");
        assert_eq!(refused(|row| row.stages = "[]".into()), "it has no stages");
        assert_eq!(refused(|row| row.ran_us.truncate(5)), lengths);
        assert_eq!(refused(|row| row.endings.truncate(2)), lengths);
        assert_eq!(refused(|row| row.arrived_us.truncate(2)), lengths);
        assert_eq!(refused(|row| row.arrived_us.clear()), "it has no requests");
        assert_eq!(refused(|row| row.ran_us[1] = -1), "it has a time below zero");
        assert_eq!(refused(|row| row.arrived_us[1] = -1), "it has a time below zero");
        let unknown = "a request ended in an unknown way";
        assert_eq!(refused(|row| row.endings = "stx".into()), unknown);
        assert_eq!(refused(|row| row.digest.truncate(31)), "its plugin's digest is none");
    }
}
