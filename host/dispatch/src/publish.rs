//! The group commits and what follows each: admissions come back to the loop, outputs go to the
//! committed.

use std::sync::Arc;

use assay_api::result::Counts;
use assay_core::id::BatchId;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::budget::BudgetPermit;
use crate::command::Reply;
use crate::committed::CommittedBatch;
use crate::committed::{BatchProgress, CommittedView};
use crate::handle::{DispatchError, ItemFate};
use crate::incidents::Notes;
use assay_store::Store;
use assay_store::admissions::{self, Admitted};
use assay_store::group_commit::{self, Weigh};
use assay_store::operations::IncidentRow;
use assay_store::outcomes::{self, EndRow, OutcomeRow, Record, Recorded};
use assay_store::single::{self, SingleRow};

/// An admission that is not durable yet, and the caller that waits for it.
pub(super) struct Pending {
    pub admitted: Admitted,
    pub waiter: Waiter,
}

pub(super) enum Waiter {
    Announced {
        reply: Reply<Arc<CommittedBatch>>,
    },
    Submitted {
        fates: Vec<ItemFate>,
        reply: Reply<Vec<ItemFate>>,
    },
    Sealed {
        reply: Reply<()>,
    },
    /// See [`crate::single`].
    Single,
}

impl Weigh for Pending {
    fn rows(&self) -> usize {
        self.admitted.rows()
    }

    fn bytes(&self) -> usize {
        self.admitted.bytes()
    }
}

/// A change of the committed view; it is shown once everything before it is durable.
pub(super) enum Output {
    Record(Recorded),
    /// An outcome; the request's permit is returned when the outcome is durable.
    Outcome(Recorded, BudgetPermit),
    GroupDone {
        batch: BatchId,
        group: Arc<str>,
    },
    /// Incidents to record once the batch's end is durable.
    Incidents {
        batch: BatchId,
        notes: Vec<IncidentRow>,
    },
    /// A single request with its batch and its outcome.
    Single(Box<SingleRow>, #[expect(dead_code, reason = "held until it is dropped")] BudgetPermit),
}

impl Output {
    fn recorded(&self) -> Option<&Recorded> {
        match self {
            Self::Record(recorded) | Self::Outcome(recorded, _) => Some(recorded),
            Self::GroupDone { .. } | Self::Incidents { .. } | Self::Single(..) => None,
        }
    }

    fn single(&self) -> Option<&SingleRow> {
        match self {
            Self::Single(row, _) => Some(row),
            _ => None,
        }
    }
}

impl Weigh for Output {
    fn rows(&self) -> usize {
        self.recorded().map_or(0, Weigh::rows) + self.single().map_or(0, Weigh::rows)
    }

    fn bytes(&self) -> usize {
        self.recorded().map_or(0, Weigh::bytes) + self.single().map_or(0, Weigh::bytes)
    }
}

pub(super) struct Channels {
    pub admissions: mpsc::UnboundedSender<Pending>,
    /// Bounded by the admission budget: each waiting request is pending once at most.
    pub committed: mpsc::UnboundedReceiver<Vec<Pending>>,
    outputs: mpsc::UnboundedSender<Output>,
    singles: mpsc::UnboundedSender<Output>,
}

impl Channels {
    pub(super) fn send(&self, output: Output) {
        let channel = if output.single().is_some() { &self.singles } else { &self.outputs };
        // The group commits outlive the loop.
        let _ = channel.send(output);
    }
}

/// The group commits themselves; they end once the loop has and everything is written.
pub(super) type Commits = JoinSet<()>;

/// Starts the group commits.
pub(super) fn start(store: &Store, view: Arc<CommittedView>, notes: &Notes) -> (Channels, Commits) {
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
            // The loop may have ended at shutdown; the commit stands all the same.
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
            let (view, notes) = (view.clone(), notes.clone());
            move |group| publish(&view, &notes, group)
        },
    ));
    let (singles, single_outputs) = mpsc::unbounded_channel::<Output>();
    tasks.spawn(group_commit::run(
        store.clone(),
        "single requests",
        single_outputs,
        async |connection, group: &[Output]| {
            let rows: Vec<&SingleRow> = group.iter().filter_map(Output::single).collect();
            single::write(connection, &rows).await
        },
        {
            let notes = notes.clone();
            move |group| publish(&view, &notes, group)
        },
    ));
    (Channels { admissions, committed, outputs, singles }, tasks)
}

/// Shows a committed group, batch by batch so that readers wake once.
fn publish(view: &CommittedView, notes: &Notes, group: Vec<Output>) {
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
        let Some(committed) = view.find(batch) else {
            run.for_each(drop);
            continue;
        };
        committed.change(|progress| run.for_each(|output| show(progress, output)));
        if committed.look(|progress| progress.state.is_final()) {
            view.retire(&committed);
        }
    }
}

impl Output {
    pub(super) fn batch(&self) -> BatchId {
        match self {
            Self::Single(row, _) => row.batch.id,
            Self::Record(recorded) | Self::Outcome(recorded, _) => recorded.batch,
            Self::GroupDone { batch, .. } | Self::Incidents { batch, .. } => *batch,
        }
    }
}

fn show(progress: &mut BatchProgress, output: Output) {
    match output {
        Output::GroupDone { group, .. } => {
            let results = u32::try_from(progress.results.len()).unwrap_or(u32::MAX);
            progress.groups_done.push((results, group));
        }
        Output::Single(row, _) => {
            show_outcome(progress, row.outcome);
            show_end(progress, row.end);
        }
        Output::Record(recorded) | Output::Outcome(recorded, _) => match recorded.record {
            Record::Outcome(row) => show_outcome(progress, row),
            Record::End(end) => show_end(progress, end),
            Record::Artifact(_) | Record::Logs(_) => {}
        },
        Output::Incidents { .. } => {}
    }
}

fn show_outcome(progress: &mut BatchProgress, row: OutcomeRow) {
    count(&mut progress.counts, row.kind);
    progress.counts.shared += u32::from(row.shared);
    progress.reward_sum += row.reward.unwrap_or(0.0);
    progress.results.push(row.result);
}

fn show_end(progress: &mut BatchProgress, end: EndRow) {
    progress.state = end.state;
    progress.counts = end.counts;
    progress.ended_at = Some(end.ended_at);
    progress.earliest_end_at = end.earliest_end_at;
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
        // The caller may have gone.
        match self {
            Self::Announced { reply } => drop(reply.send(Err(error))),
            Self::Submitted { reply, .. } => drop(reply.send(Err(error))),
            Self::Sealed { reply } => drop(reply.send(Err(error))),
            Self::Single => {}
        }
    }
}
