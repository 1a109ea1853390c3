//! Turns: how many, on which pools, and how they end.

use super::*;

fn drawn(agent: Agent) -> Trace {
    let mut spec = small(Rewards::Agent(agent));
    spec.trainer.batch = 2_000;
    generate(&spec).unwrap()
}

/// The judge's turns of a request; every turn but the last calls a tool.
fn turns(request: &TraceRequest) -> usize {
    request.service.iter().flatten().count().div_ceil(2)
}

#[test]
fn pools_alternate_and_end_with_the_judge() {
    for (turns_max, wanted) in [
        (1, "judge-1 gpu 10"),
        (3, "judge-1 gpu 10, tool-1 cpu 1, judge-2 gpu 10, tool-2 cpu 1, judge-3 gpu 10"),
    ] {
        let stages = Agent { turns_max, ..Agent::default() }.stages();
        let shown = stages.iter().map(|it| format!("{} {} {}", it.name, it.pool(), it.cost));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), wanted);
    }
    let trace = drawn(Agent { turns_max: TURNS, ..Agent::default() });
    assert_eq!(trace.meta.stages.len(), 15);
    let pools = trace.meta.pools().unwrap();
    assert_eq!(pools.iter().map(|pool| pool.name.as_str()).collect::<Vec<_>>(), ["gpu", "cpu"]);
}

/// The most that a specification may ask for.
const TURNS: u32 = 8;

#[test]
fn most_requests_take_few_turns_and_a_tail_takes_all() {
    let shares = |turns_max| {
        let trace = drawn(Agent { turns_max, ..Agent::default() });
        let mut counts = vec![0.0; turns_max as usize + 1];
        let mut all = 0.0;
        for request in requests(&trace).filter(|request| request.outcome != "no_answer") {
            counts[turns(request)] += 1.0;
            all += 1.0;
        }
        counts.iter_mut().for_each(|count| *count /= all);
        counts
    };
    let few = shares(4);
    assert_eq!(few[0], 0.0);
    assert!((0.25..0.42).contains(&few[1]) && few[1] + few[2] > 0.55, "{few:?}");
    assert!((0.12..0.28).contains(&few[4]), "{few:?}");
    let many = shares(TURNS);
    // Without a cut each further turn is rarer.
    assert!(many[1..8].is_sorted_by(|fewer, more| fewer > more), "{many:?}");
    assert!((0.01..0.05).contains(&many[8]), "{many:?}");
}

#[test]
fn requests_end_at_a_decision_or_at_a_timeout() {
    let trace = drawn(Agent { answer_timeout: 0.02, local: 0.0, ..Agent::default() });
    for request in requests(&trace) {
        let ran: Vec<f64> = request.service.iter().flatten().map(|ran| ran.as_secs_f64()).collect();
        let last = ran.last().copied();
        match request.outcome.as_str() {
            "no_answer" => assert!(ran.is_empty() && request.tokens == 32_000),
            "judge_timeout" => {
                assert!(!ran.len().is_multiple_of(2) && last == Some(30.0), "{request:?}")
            }
            "tool_timeout" => {
                assert!(ran.len().is_multiple_of(2) && last == Some(60.0), "{request:?}")
            }
            "correct" | "wrong" => {
                assert!(!ran.len().is_multiple_of(2) && last < Some(30.0), "{request:?}")
            }
            other => panic!("{other}"),
        }
    }
    let shares = outcome_shares(requests(&trace));
    assert!((0.02..0.07).contains(&shares["judge_timeout"]), "{shares:?}");
    assert!(shares["tool_timeout"] > 0.0 && shares["correct"] > 0.4, "{shares:?}");
}

#[test]
fn samples_of_a_prompt_take_similar_turns() {
    let trace = drawn(Agent { turns_max: TURNS, ..Agent::default() });
    let mut groups: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for request in &trace.tasks[0].iterations[0].requests {
        if request.outcome != "no_answer" {
            groups.entry(request.group).or_default().push((turns(request) as f64).ln());
        }
    }
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
    };
    let all: Vec<f64> = groups.values().flatten().copied().collect();
    let within = groups.values().map(|group| variance(group)).sum::<f64>() / groups.len() as f64;
    assert!(within < 0.75 * variance(&all), "{within} of {}", variance(&all));
}
