//! The measurements: each function makes one part of the report.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use assay_api::batch::AnnounceBatch;
use assay_api::plugin::Plugin;
use assay_bench::assay::{Assay, pinned};
use assay_bench::goal::{Goal, Unit};
use assay_bench::load::{Endpoint, Lone, Round, contains};
use assay_bench::machine::resident_bytes;
use assay_bench::processes::{TreeWork, Work};
use assay_bench::rows::{self, Load, Row};
use assay_bench::stats::{Latency, median};
use assay_client::score::{self, Options, Target};
use futures_util::future::pending;
use serde_json::value::RawValue;

use crate::peer::Peer;
use crate::report::{Measure, latency_measures};

const SCORED: &str = "\"kind\":\"scored\"";
const TIMED_OUT: &str = "\"kind\":\"timed_out\"";
const REWARD: &str = "\"reward\":";
const REWARDS_PATH: &str = "/v1/rewards";
/// The rows of one batch of the memory measurement.
const QUEUE_BATCH_ROWS: usize = 50 * rows::BATCH_ROWS;
/// The bytes of the prompt and the response of a queued request.
const QUEUE_BODY_BYTES: usize = 128;
/// Calls before the first that counts.
const WARM_UP: usize = 50;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rounds: usize,
    pub(crate) connections: usize,
    pub(crate) lone_requests: usize,
    pub(crate) queued_requests: usize,
    pub(crate) runaways: usize,
}

/// The two sides; either may be left out.
pub(crate) struct Sides<'a> {
    pub(crate) assay: Option<(&'a Assay, &'a str)>,
    pub(crate) peer: Option<&'a Peer>,
    /// The peer's name for the same reward.
    pub(crate) task: &'a str,
}

/// Batches in turns: a round of Assay's, a round of the peer's. Rates, and what a request took of the processors.
pub(crate) async fn batches(
    name: &str,
    sides: &Sides<'_>,
    loads: &[Load],
    sizes: &Sizes,
) -> Result<Vec<Measure>> {
    let (mut of_assay, mut of_peer) = (Rounds::default(), Rounds::default());
    let peer_path = format!("/{}/score_batch", sides.task);
    // The first round warms up both sides and does not count.
    for number in 0..=sizes.rounds {
        if let Some((assay, plugin)) = sides.assay {
            let run = format!("bench-{}-{number}", sides.task);
            let connections = sizes.connections;
            let round = Round { plugin, run: &run, loads, connections, share_equal: false };
            let before = TreeWork::read(assay.pid());
            of_assay.rates.push(assay.endpoint.batches(&assay.client, &round).await?);
            of_assay.work.push(TreeWork::read(assay.pid()) - &before);
        }
        if let Some(peer) = sides.peer {
            let before = TreeWork::read(peer.pid());
            let round = peer.endpoint.peer_batches(&peer_path, loads, sizes.connections).await?;
            of_peer.rates.push(round.0);
            of_peer.work.push(TreeWork::read(peer.pid()) - &before);
        }
    }
    let requests: usize = loads.iter().map(|load| load.rows).sum();
    let processor = |rounds: &Rounds, pick: fn(&TreeWork) -> Work| {
        rounds.a_request(requests, |work| pick(work).processor_us)
    };
    let row = |what: &str, unit| Measure::new(format!("{name}, {what}"), unit);
    let part =
        |what: &str, pick| row(what, Unit::Microseconds).sides(processor(&of_assay, pick), None);
    let switches = |rounds: &Rounds| rounds.a_request(requests, |work| work.all().switches);
    let mut measures = vec![
        Measure::new(name, Unit::RequestsPerSecond).sides(of_assay.rate(), of_peer.rate()),
        row("processor time a request", Unit::Microseconds)
            .sides(processor(&of_assay, TreeWork::all), processor(&of_peer, TreeWork::all)),
    ];
    if sides.assay.is_some() {
        measures.extend([
            part("of it the server", |work| work.of("assay")),
            part("of it the workers", |work| work.of("assay-worker")),
            part("of it PostgreSQL", |work| work.of("postgres")),
        ]);
    }
    let switched = row("context switches a request", Unit::Share);
    measures.push(switched.sides(switches(&of_assay), switches(&of_peer)));
    Ok(measures)
}

/// One side's rounds; the first does not count.
#[derive(Default)]
struct Rounds {
    rates: Vec<f64>,
    work: Vec<TreeWork>,
}

impl Rounds {
    fn rate(&self) -> Option<f64> {
        median(self.rates.get(1..)?)
    }

    fn a_request(&self, requests: usize, pick: impl Fn(&TreeWork) -> u64) -> Option<f64> {
        let counted = self.work.get(1..)?.iter().map(|work| pick(work) as f64 / requests as f64);
        median(&counted.collect::<Vec<_>>())
    }
}

/// The cost of deduplication if no two requests are equal, and its gain if half of them are equal to one
/// before. The ways take turns; no two rounds have the same requests.
pub(crate) async fn sharing(
    assay: &Assay,
    plugin: &str,
    response: Option<&str>,
    batches: usize,
    sizes: &Sizes,
) -> Result<[Measure; 3]> {
    let ways = [
        ("computed each, all different", false, 1),
        ("shared, all different", true, 1),
        ("shared, half of them equal to another", true, 2),
    ];
    let mut rates = ways.map(|_| Vec::new());
    let count = batches * rows::BATCH_ROWS;
    let mut first = 0;
    for number in 0..=sizes.rounds {
        for (rates, (_, share_equal, copies)) in rates.iter_mut().zip(ways) {
            let row = |at: usize| numbered(first + at / copies, response);
            let loads = rows::loads(&(0..count).map(row).collect::<Vec<_>>())?;
            first += count;
            // A run keeps the plugin of its first batch.
            let name = plugin.split('@').next().unwrap_or(plugin);
            let run = format!("bench-sharing-{name}-{number}");
            let connections = sizes.connections;
            let round = Round { plugin, run: &run, loads: &loads, connections, share_equal };
            rates.push(assay.endpoint.batches(&assay.client, &round).await?);
        }
    }
    let measure = |(name, rates): (&str, &Vec<f64>)| {
        let rate = rates.get(1..).and_then(median);
        Measure::new(format!("{plugin}, {name}"), Unit::RequestsPerSecond).sides(rate, None)
    };
    let names = ways.map(|(name, ..)| name);
    Ok([0, 1, 2].map(|way| measure((names[way], &rates[way]))))
}

/// A synthetic row, or for a guest that wants this response one that differs by its prompt.
fn numbered(number: usize, response: Option<&str>) -> Row {
    let row = rows::synthetic(number, rows::BODY_BYTES);
    let Some(response) = response else { return row };
    let label = RawValue::from_string("8".into()).expect("a number is JSON");
    Row { prompt: row.prompt + &row.response, response: response.into(), label: Some(label), ..row }
}

/// Single requests, one after the other or many at once.
pub(crate) async fn lone(
    name: &str,
    sides: &Sides<'_>,
    row: &Row,
    at_once: usize,
    sizes: &Sizes,
) -> Result<[Measure; 3]> {
    let (mut of_assay, mut of_peer) = (Vec::new(), Vec::new());
    let requests = sizes.lone_requests;
    let peer_path = format!("/{}/score", sides.task);
    let peer_body = rows::peer_body(row)?;
    for _ in 0..sizes.rounds {
        if let Some((assay, plugin)) = sides.assay {
            let body = rows::reward_body(plugin, row)?;
            let warm_up = Lone { requests: WARM_UP, at_once, good_sign: SCORED };
            assay.endpoint.lone(REWARDS_PATH, &body, &warm_up).await?;
            let lone = Lone { requests, ..warm_up };
            of_assay.push(assay.endpoint.lone(REWARDS_PATH, &body, &lone).await?);
        }
        if let Some(peer) = sides.peer {
            let warm_up = Lone { requests: WARM_UP, at_once, good_sign: REWARD };
            peer.endpoint.lone(&peer_path, &peer_body, &warm_up).await?;
            let lone = Lone { requests, ..warm_up };
            of_peer.push(peer.endpoint.lone(&peer_path, &peer_body, &lone).await?);
        }
    }
    Ok(latency_measures(name, Latency::median(&of_assay), Latency::median(&of_peer)))
}

/// A file of real answers from end to end, as `assay score` does it, and the fraction of
/// the rewards that are as expected.
pub(crate) async fn file(
    name: &str,
    sides: &Sides<'_>,
    input: &Path,
    folder: &Path,
    sizes: &Sizes,
) -> Result<[Measure; 2]> {
    let rows = rows::read(input)?;
    let loads = rows::loads(&rows)?;
    let expected: Vec<_> = rows.iter().map(|row| row.expected).collect();
    let (mut assay_rates, mut peer_rates) = (Vec::new(), Vec::new());
    let (mut assay_agrees, mut peer_agrees) = (None, None);
    for number in 0..sizes.rounds {
        if let Some((assay, plugin)) = sides.assay {
            let mut options = Options::new(input.to_owned(), plugin.to_owned());
            // Every round is of the same rows.
            options.share_equal = false;
            options.output = Target::File(folder.join(format!("file-{number}.results.jsonl")));
            let summary = score::score(&assay.client, &options, |_| {}, pending()).await?;
            ensure!(summary.ok(), "the file was not scored to its end:\n{}", summary.text());
            assay_rates.push(summary.requests_per_s);
            let agreement = &summary.agreement;
            assay_agrees = share(agreement.agreed as usize, agreement.compared as usize);
        }
        if let Some(peer) = sides.peer {
            let path = format!("/{}/score_batch", sides.task);
            let (rate, rewards) =
                peer.endpoint.peer_batches(&path, &loads, sizes.connections).await?;
            peer_rates.push(rate);
            let known: Vec<_> = rewards
                .iter()
                .zip(&expected)
                .filter_map(|(reward, expected)| Some((*reward, (*expected)?)))
                .collect();
            let agreed = known.iter().filter(|(reward, expected)| reward == expected).count();
            peer_agrees = share(agreed, known.len());
        }
    }
    Ok([
        Measure::new(format!("{name}, rate"), Unit::RequestsPerSecond)
            .sides(median(&assay_rates), median(&peer_rates)),
        Measure::new(format!("{name}, as expected"), Unit::Percent)
            .sides(assay_agrees, peer_agrees),
    ])
}

fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// How much the server grows by a queued request, beyond the request's own bytes. The server has
/// no worker, so nothing leaves the queue.
pub(crate) async fn queue_memory(assay: &Assay, plugin: &str, sizes: &Sizes) -> Result<Measure> {
    let rows: Vec<_> =
        (0..rows::BATCH_ROWS).map(|number| rows::synthetic(number, QUEUE_BODY_BYTES)).collect();
    // Memory that the server allocates once must not count, so a first load runs before.
    queue(&assay.endpoint, plugin, &rows, rows::BATCH_ROWS).await?;
    let resident = || resident_bytes(assay.pid()).context("the server is gone");
    let before = resident()?;
    let queued = queue(&assay.endpoint, plugin, &rows, sizes.queued_requests).await?;
    let grown = resident()?.saturating_sub(before) as f64;
    let beyond = grown / queued as f64 - QUEUE_BODY_BYTES as f64;
    Ok(Measure::new("memory by queued request, beyond its text", Unit::Bytes)
        .sides(Some(beyond.max(0.0)), None)
        .goal(Goal::AtMost(4_096.0)))
}

/// Submits at least `wanted` requests whose keys differ, in as few batches as may be.
async fn queue(endpoint: &Endpoint, plugin: &str, rows: &[Row], wanted: usize) -> Result<usize> {
    let mut queued = 0;
    while queued < wanted {
        let announced = AnnounceBatch {
            plugin: plugin.to_owned(),
            run: "bench-queue".into(),
            iteration: queued as u64,
            expected_size: None,
            group_size: None,
            max_extra_delay_ms: None,
            consumes: None,
            share_equal: Some(false),
            join: None,
            settings: None,
        };
        let batch = endpoint.announce(&announced).await?;
        let mut in_batch = 0;
        while queued < wanted && in_batch < QUEUE_BATCH_ROWS {
            let load = rows::load_from(rows, in_batch)?;
            endpoint.submit(batch, &load).await?;
            in_batch += load.rows;
            queued += load.rows;
        }
    }
    Ok(queued)
}

/// How long after its deadline a guest that never ends is answered; the slowest of several.
pub(crate) async fn runaway(assay: &Assay, liar: &Plugin, sizes: &Sizes) -> Result<Measure> {
    let stage = liar.stages.first().context("the liar has no stage")?;
    let deadline = Duration::from_millis(stage.timeout_ms.into());
    let row = Row { prompt: String::new(), response: "spin".into(), label: None, expected: None };
    let body = rows::reward_body(&pinned(liar), &row)?;
    let mut slowest = Duration::ZERO;
    for _ in 0..sizes.runaways {
        let (took, answer) = assay.endpoint.timed(REWARDS_PATH, &body).await?;
        let text = String::from_utf8_lossy(&answer);
        ensure!(contains(&answer, TIMED_OUT.as_bytes()), "a runaway guest ended as {text}");
        ensure!(took >= deadline, "a runaway guest was stopped before its deadline: {took:?}");
        slowest = slowest.max(took - deadline);
    }
    Ok(Measure::new("runaway guest, answered after its deadline", Unit::Milliseconds)
        .sides(Some(slowest.as_secs_f64() * 1e3), None)
        .goal(Goal::AtMost(20.0)))
}
