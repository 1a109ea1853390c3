//! The group commits and what follows each: admissions come back to the loop, outputs go to the
//! committed view. Rows that the database refuses are an incident, and delay nothing but their batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_api::operations::IncidentKind;
use assay_api::result::Counts;
use assay_core::id::{BatchId, TenantId};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::command::Reply;
use crate::committed::CommittedBatch;
use crate::committed::{BatchProgress, CommittedView};
use crate::fair_semaphore::FairPermit;
use crate::handle::{DispatchError, ItemFate};
use crate::incidents::Notes;
use crate::traces::{TraceSender, UntilCommit};
use assay_store::admissions::Admitted;
use assay_store::group_commit::{self, Weigh, Write};
use assay_store::operations::IncidentRow;
use assay_store::outcomes::{EndRow, OutcomeRow, Record, Recorded};
use assay_store::single::SingleRow;
use assay_store::{CommitError, DispatchStore};

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
    Nobody,
}

impl Weigh for Pending {
    fn rows(&self) -> usize {
        self.admitted.rows()
    }

    fn bytes(&self) -> usize {
        self.admitted.bytes()
    }
}

impl Write for Pending {
    fn batch(&self) -> BatchId {
        self.admitted.batch
    }

    async fn write<S: DispatchStore>(
        connection: &mut S::Connection,
        group: &[Self],
    ) -> Result<(), CommitError> {
        let rows: Vec<&Admitted> = group.iter().map(|pending| &pending.admitted).collect();
        S::write_admissions(connection, &rows).await
    }
}

/// The fate of admissions, in their order.
pub(super) enum Decided {
    Committed(Vec<Pending>),
    /// The database refuses its rows.
    Refused(Box<Pending>),
}

/// The memory of a row until it is durable: a database that is away must not make the server grow without limit.
#[derive(Default)]
pub(super) struct RowMemory {
    pub permit: Option<Arc<FairPermit>>,
    pub artifact: Option<UncommittedBytes>,
}

/// The bytes of an artifact, in the sum of those that are not durable yet until it is dropped.
pub(super) struct UncommittedBytes {
    bytes: usize,
    all: Arc<AtomicUsize>,
}

impl UncommittedBytes {
    pub(super) fn of(bytes: usize, all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(bytes, Ordering::Relaxed);
        Self { bytes, all: Arc::clone(all) }
    }
}

impl Drop for UncommittedBytes {
    fn drop(&mut self) {
        self.all.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A change of the committed view; it is shown once everything before it is durable.
pub(super) enum Output {
    Record(Recorded, #[expect(dead_code, reason = "held until it is dropped")] RowMemory),
    /// An outcome, and what its request holds until it is durable.
    Outcome(Recorded, UntilCommit),
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
    Single(Box<SingleRow>, UntilCommit),
}

impl Output {
    fn recorded(&self) -> Option<&Recorded> {
        match self {
            Self::Record(recorded, _) | Self::Outcome(recorded, _) => Some(recorded),
            Self::GroupDone { .. } | Self::Incidents { .. } | Self::Single(..) => None,
        }
    }

    /// Whether nothing else is written of the batch after it.
    pub(super) fn is_end(&self) -> bool {
        self.single().is_some() || self.recorded().is_some_and(Recorded::is_end)
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
    pub decided: mpsc::UnboundedReceiver<Decided>,
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
pub(super) fn start(
    store: &impl DispatchStore,
    view: &Arc<CommittedView>,
    notes: &Notes,
    traces: TraceSender,
) -> (Channels, Commits) {
    let mut tasks = Commits::new();
    let (admissions, pending) = mpsc::unbounded_channel::<Pending>();
    let (decisions, decided) = mpsc::unbounded_channel();
    let (refusals, refuser) = (decisions.clone(), Refuser::new(view, notes));
    tasks.spawn(group_commit::run(
        store.clone(),
        "admissions",
        pending,
        move |group| {
            // The loop may have ended at shutdown; the commit stands all the same.
            let _ = decisions.send(Decided::Committed(group));
        },
        move |pending, why| {
            refuser.admission(&pending, why);
            let _ = refusals.send(Decided::Refused(Box::new(pending)));
            None
        },
    ));
    let (outputs, recorded) = mpsc::unbounded_channel::<Output>();
    let (publisher, refuser) =
        (Publisher::new(view, notes, traces.clone()), Refuser::new(view, notes));
    tasks.spawn(group_commit::run(
        store.clone(),
        "outcomes",
        recorded,
        move |group| publisher.publish(group),
        // The computed outcome is neither lost nor replaced: its batch goes on when the rows are taken.
        move |output, why| {
            refuser.output(&output, why);
            Some(output)
        },
    ));
    let (singles, single_outputs) = mpsc::unbounded_channel::<Output>();
    let (publisher, refuser) = (Publisher::new(view, notes, traces), Refuser::new(view, notes));
    tasks.spawn(group_commit::run(
        store.clone(),
        "single requests",
        single_outputs,
        move |group| publisher.publish(group),
        // Nothing of it was acknowledged, so its caller can be told.
        move |output, why| {
            refuser.single(&output, why);
            None
        },
    ));
    (Channels { admissions, decided, outputs, singles }, tasks)
}

/// Records rows that the database refuses.
struct Refuser {
    view: Arc<CommittedView>,
    notes: Notes,
}

impl Refuser {
    fn new(view: &Arc<CommittedView>, notes: &Notes) -> Self {
        Self { view: Arc::clone(view), notes: notes.clone() }
    }

    fn admission(&self, pending: &Pending, why: &str) {
        let Admitted { tenant, batch, admission, .. } = &pending.admitted;
        let what = match (&admission.batch, admission.requests.len()) {
            (Some(_), _) => "a batch; its caller was told".to_owned(),
            (None, 0) => "a change of a batch; its caller was told".to_owned(),
            (None, requests) => format!("{requests} requests; their caller was told"),
        };
        let run = admission.batch.as_ref().map(|row| row.run.clone());
        self.note((*tenant, *batch), run, &what, why);
    }

    fn output(&self, output: &Output, why: &str) {
        let Some(recorded) = output.recorded() else { return };
        let what = match &recorded.record {
            Record::Outcome(_) => "an outcome",
            Record::Artifact(_) => "an artifact",
            Record::Logs(_) => "lines of a log",
            Record::End(_) => "the end of a batch",
        };
        let what = format!("{what}; it is kept and tried again, and its batch waits for it");
        self.note((recorded.tenant, recorded.batch), None, &what, why);
    }

    fn single(&self, output: &Output, why: &str) {
        let Some(row) = output.single() else { return };
        let (batch, run) = (&row.batch, row.batch.run.clone());
        let what = "a single request; its caller was told";
        self.note((batch.tenant, batch.id), Some(run), what, why);
        self.view.refuse(batch.id);
    }

    fn note(
        &self,
        (tenant, batch): (TenantId, BatchId),
        run: Option<String>,
        what: &str,
        why: &str,
    ) {
        self.notes.note(IncidentRow {
            at: assay_clock::now(),
            tenant: Some(tenant),
            kind: IncidentKind::RequestsFailed,
            pool: None,
            batch: Some(batch),
            run: run.or_else(|| self.view.find(batch).map(|it| it.row.run.clone())),
            code: None,
            count: 1,
            detail: format!("the database refused {what}: {why}"),
        });
    }
}

/// Shows what is committed.
struct Publisher {
    view: Arc<CommittedView>,
    notes: Notes,
    traces: TraceSender,
}

impl Publisher {
    fn new(view: &Arc<CommittedView>, notes: &Notes, traces: TraceSender) -> Self {
        Self { view: Arc::clone(view), notes: notes.clone(), traces }
    }

    /// Shows a committed group, batch by batch so that readers wake once.
    fn publish(&self, group: Vec<Output>) {
        let mut outputs = group.into_iter().peekable();
        while let Some(batch) = outputs.peek().map(Write::batch) {
            let run = std::iter::from_fn(|| outputs.next_if(|output| output.batch() == batch));
            let run = run.filter_map(|mut output| match &mut output {
                Output::Outcome(_, held) | Output::Single(_, held) => {
                    if let Some(trace) = held.trace.take() {
                        self.traces.send(trace, assay_clock::now());
                    }
                    Some(output)
                }
                Output::Incidents { notes: incidents, .. } => {
                    incidents.drain(..).for_each(|incident| self.notes.note(incident));
                    None
                }
                Output::Record(..) | Output::GroupDone { .. } => Some(output),
            });
            let Some(committed) = self.view.find(batch) else {
                run.for_each(drop);
                continue;
            };
            let has_ended = || committed.look(|progress| progress.state.is_final());
            let had_ended = has_ended();
            committed.change(|progress| run.for_each(|output| show(progress, output)));
            if has_ended() && !had_ended {
                self.view.retire(&committed);
            }
        }
    }
}

impl Write for Output {
    fn batch(&self) -> BatchId {
        match self {
            Self::Single(row, _) => row.batch.id,
            Self::Record(recorded, _) | Self::Outcome(recorded, _) => recorded.batch,
            Self::GroupDone { batch, .. } | Self::Incidents { batch, .. } => *batch,
        }
    }

    /// A group has single requests alone, or none; see [`Channels::send`].
    async fn write<S: DispatchStore>(
        connection: &mut S::Connection,
        group: &[Self],
    ) -> Result<(), CommitError> {
        let singles: Vec<&SingleRow> = group.iter().filter_map(Self::single).collect();
        if !singles.is_empty() {
            return S::write_singles(connection, &singles).await;
        }
        let rows: Vec<&Recorded> = group.iter().filter_map(Self::recorded).collect();
        if rows.is_empty() { Ok(()) } else { S::write_records(connection, &rows).await }
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
        Output::Record(recorded, _) | Output::Outcome(recorded, _) => match recorded.record {
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
            Self::Single | Self::Nobody => {}
        }
    }
}
