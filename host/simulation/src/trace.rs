//! Completed batches as a trace: what really came and ran, as the simulator replays it.

use std::collections::{BTreeMap, HashMap};

use assay_api::history::{BatchProfile, ProfileStage, RequestProfile};
use assay_core::time::Micros;
use assay_sim::trace::{Iteration, Meta, Task, Trace, TraceRequest, TraceStage, TrainerMode};
use serde_json::json;

/// A task for each run, an iteration for each of its batches. `cost` is by pool, 1 where it is
/// silent.
pub fn trace(
    mut profiles: Vec<BatchProfile>,
    cost: &BTreeMap<String, f64>,
) -> anyhow::Result<Trace> {
    profiles.sort_by_key(|profile| (profile.batch.announced_at, profile.batch.id));
    profiles.dedup_by_key(|profile| profile.batch.id);
    let first =
        profiles.first().ok_or_else(|| anyhow::anyhow!("there are no batches to export"))?;
    for other in &profiles {
        anyhow::ensure!(
            other.stages == first.stages,
            "batches {} and {} have different stages; export them apart",
            first.batch.id,
            other.batch.id
        );
    }
    let start = first.batch.announced_at;
    let mut runs: BTreeMap<&str, Vec<&BatchProfile>> = BTreeMap::new();
    for profile in &profiles {
        runs.entry(&profile.batch.run).or_default().push(profile);
    }
    let tasks = runs.values().zip(0..).map(|(batches, id)| task(id, batches, start));
    Ok(Trace { meta: meta(&first.stages, &runs, cost), tasks: tasks.collect() })
}

fn meta(
    stages: &[ProfileStage],
    runs: &BTreeMap<&str, Vec<&BatchProfile>>,
    cost: &BTreeMap<String, f64>,
) -> Meta {
    let plugins: BTreeMap<_, _> = runs
        .iter()
        .map(|(run, batches)| (run, batches.iter().map(|it| &it.batch.plugin).next_back()))
        .collect();
    Meta {
        stages: stages
            .iter()
            .map(|stage| TraceStage {
                name: stage.name.clone(),
                pool: Some(stage.pool.clone()).filter(|pool| *pool != stage.name),
                timeout: Micros::from_ms(stage.timeout_ms.into()),
                cost: cost.get(&stage.pool).copied().unwrap_or(1.0),
            })
            .collect(),
        mode: TrainerMode::Colocated,
        generator: "assay batch export".into(),
        seed: 0,
        spec: json!({
            "pools": stages.iter().map(|stage| &stage.pool).collect::<Vec<_>>(),
            "runs": plugins,
        }),
    }
}

/// The batches of a run, one after the other: each rollout starts as long after the end of the
/// batch before it as it really did.
fn task(id: u32, batches: &[&BatchProfile], start: Micros) -> Task {
    let start = batches.first().map_or(start, |first| first.batch.announced_at).since(start);
    let mut rollout_start = start;
    let mut iterations: Vec<Iteration> = Vec::with_capacity(batches.len());
    for (at, profile) in batches.iter().enumerate() {
        let next = batches.get(at + 1).map(|next| next.batch.announced_at);
        let iteration = Iteration {
            number: u32::try_from(at).expect("few batches"),
            rollout_start,
            rollout: Micros::ZERO,
            train: next.map_or(Micros::ZERO, |next| next.since(profile.batch.done_at)),
            sync: Micros::ZERO,
            requests: requests(profile),
        };
        let rollout = iteration.requests.iter().map(|request| request.rollout).max();
        let iteration = Iteration { rollout: rollout.unwrap_or_default(), ..iteration };
        rollout_start = rollout_start + iteration.earliest_end() + iteration.train;
        iterations.push(iteration);
    }
    Task { id, tenant: None, start, iterations }
}

/// In the order of admission.
fn requests(profile: &BatchProfile) -> Vec<TraceRequest> {
    let first = profile.batch.first_request_at.since(profile.batch.announced_at);
    let mut requests: Vec<&RequestProfile> = profile.requests.iter().collect();
    requests.sort_by_key(|request| request.seq.unwrap_or(u32::MAX));
    let mut groups = Groups::default();
    let requests = requests.into_iter().zip(0..).map(|(request, number)| TraceRequest {
        request: number,
        group: groups.number(request.group.as_deref()),
        tokens: 0,
        rollout: first + Micros::from_ms_f64(request.arrived_ms),
        service: service(&profile.stages, request),
        outcome: outcome(&profile.stages, request),
    });
    requests.collect()
}

/// A stage that overran its timeout a little was cut there.
fn service(stages: &[ProfileStage], request: &RequestProfile) -> Vec<Option<Micros>> {
    let times = stages.iter().zip(&request.ran_ms).map(|(stage, ran)| {
        ran.map(|ran| Micros::from_ms_f64(ran).min(Micros::from_ms(stage.timeout_ms.into())))
    });
    times.collect()
}

/// The verdict, or the stage that ran into its timeout.
fn outcome(stages: &[ProfileStage], request: &RequestProfile) -> String {
    let reached = request.ran_ms.iter().rposition(Option::is_some);
    match (request.outcome.as_str(), reached.and_then(|at| stages.get(at))) {
        ("timed_out", Some(stage)) => format!("{}_timeout", stage.name),
        (outcome, _) => request.verdict.as_deref().unwrap_or(outcome).to_owned(),
    }
}

/// Numbers of groups by their names; a request without a group is one of its own.
#[derive(Default)]
struct Groups {
    names: HashMap<String, u32>,
    count: u32,
}

impl Groups {
    fn number(&mut self, name: Option<&str>) -> u32 {
        if let Some(number) = name.and_then(|name| self.names.get(name)) {
            return *number;
        }
        let number = self.count;
        self.count += 1;
        if let Some(name) = name {
            self.names.insert(name.to_owned(), number);
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use assay_api::history::BatchHistory;
    use assay_core::id::{BatchId, Digest};

    use super::*;

    const BASE: Micros = Micros::from_secs(1_000_000);

    fn stage(name: &str, pool: &str, timeout_ms: u32) -> ProfileStage {
        ProfileStage { name: name.into(), pool: pool.into(), timeout_ms, retries_max: 0 }
    }

    fn request(seq: u32, group: Option<&str>, ran: [Option<f64>; 2], what: &str) -> RequestProfile {
        let (outcome, verdict) = what.split_once(' ').expect("two words");
        RequestProfile {
            seq: Some(seq),
            group: group.map(str::to_owned),
            arrived_ms: f64::from(seq) * 100.0,
            ran_ms: ran.into(),
            outcome: outcome.into(),
            verdict: Some(verdict.into()),
        }
    }

    /// Announced and done so many seconds behind the base, its first request a second later.
    fn profile(run: &str, announced: u64, done: u64) -> BatchProfile {
        let announced_at = BASE + Micros::from_secs(announced);
        let batch = BatchHistory {
            id: BatchId::generate(),
            run: run.into(),
            iteration: 7,
            plugin: "cuda@1.0.0".into(),
            plugin_digest: Digest([1; 32]),
            requests: 3,
            announced_at,
            first_request_at: announced_at + Micros::from_secs(1),
            earliest_end_at: announced_at + Micros::from_ms(2_300),
            done_at: BASE + Micros::from_secs(done),
            extra_delay_ms: 0.0,
            worker_seconds: BTreeMap::new(),
        };
        BatchProfile {
            batch,
            stages: vec![stage("compile", "cpu", 1_000), stage("execute", "gpu", 2_000)],
            requests: vec![
                request(2, Some("a"), [Some(1_003.25), None], "timed_out timed_out"),
                request(0, None, [Some(10.5), Some(20.0)], "scored success"),
                request(1, Some("a"), [Some(1.0), None], "error plugin_trap"),
            ],
        }
    }

    #[test]
    fn batches_of_a_run_follow_each_other_as_they_did() {
        let cost = BTreeMap::from([("gpu".to_owned(), 10.0)]);
        // Given in any order, and one of them twice.
        let (one, two) = (profile("r", 5, 10), profile("r", 17, 25));
        let trace = trace(vec![two.clone(), one, profile("q", 8, 9), two], &cost).expect("a trace");
        let costs: Vec<_> = trace.meta.stages.iter().map(|stage| stage.cost).collect();
        assert_eq!(costs, [1.0, 10.0]);
        let pools: Vec<_> = trace.meta.stages.iter().map(TraceStage::pool).collect();
        assert_eq!(pools, ["cpu", "gpu"]);
        let shape: Vec<_> =
            trace.tasks.iter().map(|task| (task.id, task.start, task.iterations.len())).collect();
        assert_eq!(shape, [(0, Micros::from_secs(3), 1), (1, Micros::ZERO, 2)]);

        let [first, second] = &trace.tasks[1].iterations[..] else { panic!("two iterations") };
        assert_eq!((first.train, second.train), (Micros::from_secs(7), Micros::ZERO));
        // Cut at its timeout: 1 s + 200 ms + 1 s.
        assert_eq!(first.earliest_end(), Micros::from_ms(2_200));
        assert_eq!(first.rollout, Micros::from_ms(1_200));
        assert_eq!(second.rollout_start, Micros::from_ms(9_200));
        let groups: Vec<_> = first.requests.iter().map(|request| request.group).collect();
        assert_eq!(groups, [0, 1, 1]);
        let outcomes: Vec<_> =
            first.requests.iter().map(|request| request.outcome.as_str()).collect();
        assert_eq!(outcomes, ["success", "plugin_trap", "compile_timeout"]);
        assert_eq!(first.requests[0].service, [Some(Micros(10_500)), Some(Micros::from_ms(20))]);
        assert_eq!(first.requests[2].service, [Some(Micros::from_secs(1)), None]);

        let mut lines = Vec::new();
        assay_sim::trace::write(&trace, &mut lines).expect("writes");
        assert_eq!(assay_sim::trace::read(&lines[..]).expect("reads"), trace);
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let refused =
            |profiles| trace(profiles, &BTreeMap::new()).expect_err("refused").to_string();
        assert!(refused(Vec::new()).contains("no batches"));
        let mut other = profile("r", 9, 10);
        other.stages[0].timeout_ms += 1;
        assert!(refused(vec![profile("r", 1, 2), other]).contains("different stages"));
    }
}
