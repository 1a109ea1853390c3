//! Traces written and read.

use assay_sim::trace::{Trace, TrainerMode, read, write};

use crate::made::trace;

fn written(trace: &Trace) -> String {
    let mut bytes = Vec::new();
    write(trace, &mut bytes).expect("memory");
    String::from_utf8(bytes).expect("JSON")
}

#[test]
fn a_trace_survives_being_written() {
    for mode in [TrainerMode::Colocated, TrainerMode::Disaggregated { stale: 1 }] {
        let mut trace = trace(&["prepare", "compile", "execute"], mode, 2, 3);
        trace.tasks[1].tenant = Some("lab".into());
        let text = written(&trace);
        let back = read(text.as_bytes()).expect("its own form");
        assert_eq!(back, trace);
        assert_eq!(written(&back), text);
    }
}

#[test]
fn only_pools_that_differ_from_their_stages_are_written() {
    let mut trace = trace(&["ask", "call", "again"], TrainerMode::Colocated, 1, 2);
    assert!(!written(&trace).contains("pools"));
    trace.meta.stages[2].pool = Some("ask".into());
    trace.meta.stages[0].cost = 10.0;
    let text = written(&trace);
    assert!(text.contains(r#""pools":["ask","call","ask"]"#), "{text}");
    let back = read(text.as_bytes()).expect("its own form");
    assert_eq!(back, trace);
    let pools = back.meta.pools().expect("one cost each");
    let pools: Vec<_> = pools.iter().map(|pool| (pool.name.as_str(), pool.cost)).collect();
    assert_eq!(pools, [("ask", 10.0), ("call", 1.0)]);
}

const META: &str = r#"{"kind":"meta","format":"assay-reward-trace-1","stages":["a","b","c"],"timeout_s":[9,9,9],"cost":[1,1,2]}"#;
const ITERATION: &str =
    r#"{"kind":"iteration","task":4,"iteration":9,"rollout_start_s":1,"rollout_end_s":3.5}"#;

fn problem(lines: &[&str]) -> String {
    read(lines.join("\n").as_bytes()).expect_err("it is wrong").to_string()
}

#[test]
fn a_bare_trace_is_enough() {
    let request = r#"{"kind":"request","task":4,"iteration":9,"request":3,"rollout_s":0.25,"service_s":[null,0.5,null],"outcome":"scored","more":[1]}"#;
    let trace = read([META, "", ITERATION, request].join("\n").as_bytes()).expect("enough");
    assert_eq!(trace.meta.mode, TrainerMode::Colocated);
    assert_eq!((trace.tasks[0].id, trace.tasks[0].start.0), (4, 1_000_000));
    let iteration = &trace.tasks[0].iterations[0];
    assert_eq!((iteration.number, iteration.rollout.0), (9, 2_500_000));
    assert_eq!((iteration.requests[0].tokens, iteration.requests[0].group), (0, 3));
    assert_eq!(iteration.earliest_end().0, 750_000);
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    assert_eq!(problem(&[]), "the trace is empty");
    assert_eq!(problem(&[ITERATION]), "line 1: the first line is of kind `iteration`, not `meta`");
    assert_eq!(problem(&[META, META]), "line 2: a second meta line");
    assert_eq!(
        problem(&[&META.replace("-1", "-2")]),
        "line 1: the format is `assay-reward-trace-2`, not `assay-reward-trace-1`"
    );
    assert_eq!(
        problem(&[&META.replace("9,9,9", "9,9")]),
        "line 1: 3 stages, 2 timeouts and 3 costs"
    );
    let pools = |pools: &str| META.replace("\"cost\"", &format!("\"pools\":{pools},\"cost\""));
    assert_eq!(problem(&[&pools(r#"["a","b"]"#)]), "line 1: 3 stages and 2 pools");
    assert_eq!(
        problem(&[&pools(r#"["gpu","b","gpu"]"#)]),
        "line 1: stages `a` and `c` share the pool `gpu` but cost 1 and 2: give them one cost, or a pool each"
    );
    assert_eq!(problem(&[META, ITERATION, ITERATION]), "line 3: a second iteration 9 of task 4");
    assert_eq!(problem(&[META, ITERATION]), "task 4, iteration 9: it has no requests");
    assert_eq!(problem(&[META, r#"{"kind":"batch"}"#]), "line 2: unknown kind `batch`");
    assert!(problem(&[META, "{"]).starts_with("line 2: EOF while parsing"));
    let request = |service: &str, iteration: u32| {
        format!(
            r#"{{"kind":"request","task":4,"iteration":{iteration},"request":3,"rollout_s":0,"service_s":{service},"outcome":"x"}}"#
        )
    };
    let wrong = |service, iteration| problem(&[META, ITERATION, &request(service, iteration)]);
    assert_eq!(wrong("[1,1,1]", 8), "line 3: no line for iteration 8 of task 4 before this");
    assert_eq!(wrong("[1,1]", 9), "line 3: `service_s` has 2 entries, the trace 3 stages");
    assert_eq!(wrong("[1,9.5,1]", 9), "line 3: stage `b` ran for longer than its timeout");
    assert_eq!(wrong("[1,null,1]", 9), "line 3: a stage was reached after one that was not");
    assert_eq!(wrong("[-1,1,1]", 9), "line 3: `service_s` is -1, not 0 to 1000000000 seconds");
    let request_of = |iteration| request("[1,1,1]", iteration);
    let next = ITERATION.replace("\"iteration\":9", "\"tenant\":\"lab\",\"iteration\":10");
    assert_eq!(
        problem(&[META, ITERATION, &request_of(9), &next, &request_of(10)]),
        "task 4, iteration 10: it is another tenant's than the one before"
    );
    let promised = ITERATION.replace("\"task\"", "\"requests\":2,\"task\"");
    assert_eq!(
        problem(&[META, &promised, &request("[1,1,1]", 9)]),
        "task 4, iteration 9: 2 requests were promised, 1 are there"
    );
}
