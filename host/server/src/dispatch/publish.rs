//! The group commits and what follows each: admissions come back to the loop, outputs go to the
//! board.

use std::sync::Arc;

use assay_model::api::Counts;
use assay_model::id::BatchId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::board::{Board, Standing};
use super::incidents::Notes;
use super::room::Place;
use super::{DispatchError, ItemFate, Published, Reply};
use crate::store::Store;
use crate::store::admissions::{self, Admitted};
use crate::store::group_commit::{self, Weigh};
use crate::store::lone::{self, LoneRow};
use crate::store::operations::IncidentRow;
use crate::store::outcomes::{self, EndRow, OutcomeRow, Record, Recorded};

/// An admission on its way to be durable, and who waits for that.
pub(super) struct Pending {
    pub admitted: Admitted,
    pub waiter: Waiter,
}

pub(super) enum Waiter {
    Announced {
        reply: Reply<Arc<Published>>,
    },
    Submitted {
        fates: Vec<ItemFate>,
        reply: Reply<Vec<ItemFate>>,
    },
    Sealed {
        reply: Reply<()>,
    },
    /// See [`super::lone`].
    Lone,
}

impl Weigh for Pending {
    fn rows(&self) -> usize {
        self.admitted.rows()
    }

    fn bytes(&self) -> usize {
        self.admitted.bytes()
    }
}

/// Something for the board, shown once all that came before it is durable.
pub(super) enum Output {
    Record(Recorded),
    /// An outcome; the request's place in the room is given back when it is durable.
    Outcome(Recorded, Place),
    GroupDone {
        batch: BatchId,
        group: Arc<str>,
    },
    /// What somebody should hear of, once the batch's end is durable.
    Incidents {
        batch: BatchId,
        notes: Vec<IncidentRow>,
    },
    /// A lone request with its batch and its outcome.
    Lone(Box<LoneRow>, #[expect(dead_code, reason = "held until it is dropped")] Place),
}

impl Output {
    fn recorded(&self) -> Option<&Recorded> {
        match self {
            Self::Record(recorded) | Self::Outcome(recorded, _) => Some(recorded),
            Self::GroupDone { .. } | Self::Incidents { .. } | Self::Lone(..) => None,
        }
    }

    fn lone(&self) -> Option<&LoneRow> {
        match self {
            Self::Lone(row, _) => Some(row),
            _ => None,
        }
    }
}

impl Weigh for Output {
    fn rows(&self) -> usize {
        self.recorded().map_or(0, Weigh::rows) + self.lone().map_or(0, Weigh::rows)
    }

    fn bytes(&self) -> usize {
        self.recorded().map_or(0, Weigh::bytes) + self.lone().map_or(0, Weigh::bytes)
    }
}

pub(super) struct Channels {
    pub admissions: mpsc::UnboundedSender<Pending>,
    /// Bounded by what is in the room: each waiting request is pending once at the most.
    pub committed: mpsc::UnboundedReceiver<Vec<Pending>>,
    outputs: mpsc::UnboundedSender<Output>,
    lone: mpsc::UnboundedSender<Output>,
}

impl Channels {
    pub(super) fn send(&self, output: Output) {
        let channel = if output.lone().is_some() { &self.lone } else { &self.outputs };
        // The writers outlive the loop.
        let _ = channel.send(output);
    }
}

/// The group commits themselves; they end once the loop has and everything is written.
pub(super) type Commits = JoinSet<()>;

/// Starts the group commits.
pub(super) fn start(store: &Store, board: Arc<Board>, notes: &Notes) -> (Channels, Commits) {
    let mut tasks = Commits::new();
    let (admissions, pending) = mpsc::unbounded_channel::<Pending>();
    let (commits, committed) = mpsc::unbounded_channel();
    tasks.spawn(group_commit::run(
        store.clone(),
        "admissions",
        pending,
        async |connection, group: &[Pending]| {
            let rows: Vec<&Admitted> = group.iter().map(|pending| &pending.admitted).collect();
            admissions::write(connection, &rows).await
        },
        move |group| {
            // The loop may be gone at shutdown; what is committed stays committed.
            let _ = commits.send(group);
        },
    ));
    let (outputs, recorded) = mpsc::unbounded_channel::<Output>();
    tasks.spawn(group_commit::run(
        store.clone(),
        "outcomes",
        recorded,
        async |connection, group: &[Output]| {
            let rows: Vec<&Recorded> = group.iter().filter_map(Output::recorded).collect();
            if rows.is_empty() { Ok(()) } else { outcomes::write(connection, &rows).await }
        },
        {
            let (board, notes) = (board.clone(), notes.clone());
            move |group| publish(&board, &notes, group)
        },
    ));
    let (lone, lone_outputs) = mpsc::unbounded_channel::<Output>();
    tasks.spawn(group_commit::run(
        store.clone(),
        "lone requests",
        lone_outputs,
        async |connection, group: &[Output]| {
            let rows: Vec<&LoneRow> = group.iter().filter_map(Output::lone).collect();
            lone::write(connection, &rows).await
        },
        {
            let notes = notes.clone();
            move |group| publish(&board, &notes, group)
        },
    ));
    (Channels { admissions, committed, outputs, lone }, tasks)
}

/// Shows a committed group, batch by batch so that readers wake once.
fn publish(board: &Board, notes: &Notes, group: Vec<Output>) {
    let mut outputs = group.into_iter().peekable();
    while let Some(batch) = outputs.peek().map(Output::batch) {
        let run = std::iter::from_fn(|| outputs.next_if(|output| output.batch() == batch));
        let run = run.filter_map(|output| match output {
            Output::Incidents { notes: incidents, .. } => {
                incidents.into_iter().for_each(|incident| notes.note(incident));
                None
            }
            other => Some(other),
        });
        let Some(published) = board.find(batch) else {
            run.for_each(drop);
            continue;
        };
        published.change(|standing| run.for_each(|output| show(standing, output)));
        if published.look(|standing| standing.state.is_final()) {
            board.retire(&published);
        }
    }
}

impl Output {
    pub(super) fn batch(&self) -> BatchId {
        match self {
            Self::Lone(row, _) => row.batch.id,
            Self::Record(recorded) | Self::Outcome(recorded, _) => recorded.batch,
            Self::GroupDone { batch, .. } | Self::Incidents { batch, .. } => *batch,
        }
    }
}

fn show(standing: &mut Standing, output: Output) {
    match output {
        Output::GroupDone { group, .. } => {
            let results = u32::try_from(standing.results.len()).unwrap_or(u32::MAX);
            standing.groups_done.push((results, group));
        }
        Output::Lone(row, _) => {
            show_outcome(standing, row.outcome);
            show_end(standing, row.end);
        }
        Output::Record(recorded) | Output::Outcome(recorded, _) => match recorded.record {
            Record::Outcome(row) => show_outcome(standing, row),
            Record::End(end) => show_end(standing, end),
            Record::Artifact(_) | Record::Logs(_) => {}
        },
        Output::Incidents { .. } => {}
    }
}

fn show_outcome(standing: &mut Standing, row: OutcomeRow) {
    count(&mut standing.counts, row.kind);
    standing.counts.shared += u32::from(row.shared);
    standing.reward_sum += row.reward.unwrap_or(0.0);
    standing.results.push(row.result);
}

fn show_end(standing: &mut Standing, end: EndRow) {
    standing.state = end.state;
    standing.counts = end.counts;
    standing.ended_at = Some(end.ended_at);
    standing.earliest_end_at = end.earliest_end_at;
}

pub(super) fn count(counts: &mut Counts, kind: &str) {
    match kind {
        "scored" => counts.scored += 1,
        "timed_out" => counts.timed_out += 1,
        _ => counts.error += 1,
    }
}

impl Waiter {
    pub(super) fn refuse(self, error: DispatchError) {
        // Whoever asked may have gone.
        match self {
            Self::Announced { reply } => drop(reply.send(Err(error))),
            Self::Submitted { reply, .. } => drop(reply.send(Err(error))),
            Self::Sealed { reply } => drop(reply.send(Err(error))),
            Self::Lone => {}
        }
    }
}
