//! Where the paper's pseudocode is silent, and which way was taken.

use assay_planner::{Policy, Tuning};

use super::page::Page;

/// Point, reading, why.
const READINGS: [[&str; 3]; 10] = [
    [
        "T with several live batches",
        "each batch has its own, by eq. 2 over its own requests",
        "one T over all lets early batches wait for late ones; the reference measured 7.2 s of delay",
    ],
    [
        "a search that no N satisfies",
        "a request's deadline is max(T, its own t) + D",
        "then N = all requests always satisfies, and the search ends with the fewest that do",
    ],
    [
        "when LT is tested",
        "as a request that waited more than 1 ms starts; start plus the timeouts of its remaining stages \
         against T + D",
        "testing as it is queued changes nothing",
    ],
    [
        "a running request while N shrinks",
        "it keeps its worker to the end of its stage; surplus workers leave as they become free",
        "nothing is preempted",
    ],
    [
        "sampling Queuing_k and Running_k",
        "spread evenly over history that reached stage k; for Running_k also s_k > elapsed",
        "other history says nothing about them",
    ],
    ["a run longer than all history", "it is assumed to run to its timeout", "the safe side"],
    [
        "the first batch of a task",
        "another task's history, and growth with demand; in this simulator the first iteration is history",
        "N = all requests costs 191 times the GPU work in the reference",
    ],
    [
        "when r is measured from",
        "the first request; the gap from the announcement is averaged over history",
        "as good as the rollout's start, and known without a hint",
    ],
    [
        "triggers",
        "first request, completion and, where trainers give one, the hint; `assay` also every 10 s",
        "section 5; the period is what lets `assay` give workers back",
    ],
    [
        "what is allocated between plans",
        "`distrs`: N to the next plan; `assay`: up to N on demand, and only while the simulation uses them",
        "eq. 5 counts what is allocated, used or not",
    ],
];

pub(super) fn add(page: &mut Page) {
    page.heading("Where the pseudocode is silent");
    page.say(
        "Algorithms 1 and 2 leave these open. `distrs` takes the readings below, `assay` shares them \
         where it does not say otherwise; 36 vectors of the reference check SIMULATE and algorithm 1 \
         row by row (`assay-reproduce vectors`).",
    );
    let owned = |row: &[&str; 3]| row.iter().map(|&cell| cell.to_owned()).collect();
    let mut rows: Vec<Vec<String>> = READINGS.iter().map(owned).collect();
    let Tuning { history, robust_quantile, .. } = Policy::ASSAY.tuning();
    let taken = format!(
        "`distrs`: service times of the last batch as they were; `assay`: those of the last {history}, \
         cut at their quantile {robust_quantile} for T"
    );
    let why = "one late long-runner makes the next batch's T, and its deadlines, too late";
    rows.push(vec!["T from history".to_owned(), taken, why.to_owned()]);
    page.table(&["point", "reading", "why"], &rows);
}
