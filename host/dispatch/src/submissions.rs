//! Submissions on their way in: checked and taken, written, and reported to the scheduler once they are
//! durable. A single request is reported at once and written with its outcome.

use std::sync::Arc;

use assay_api::batch::{BatchState, Consumes};
use assay_clock::now;
use assay_core::id::{BatchId, RequestId, TenantId};
use assay_core::time::Micros;
use assay_sched::{Event, NewBatch, NewRequest};
use assay_store::admissions::{Admission, Admitted, BatchMark, RequestRow};

use crate::batch::{LiveBatch, refusal};
use crate::command::{HashedItem, Reply};
use crate::committed::CommittedBatch;
use crate::dedup::{ContentHash, Eligibility};
use crate::handle::{Announcement, DispatchError, ItemFate};
use crate::publish::{Output, Pending, Waiter};
use crate::shell::{Shell, answer};
use crate::single::Route;

impl Shell {
    pub(super) fn announce(
        &mut self,
        announcement: Announcement,
        content: Option<ContentHash>,
        reply: Reply<Arc<CommittedBatch>>,
    ) {
        let Announcement { row, plugin, single, replays } = announcement;
        if let Err(refused) = self.admission.admit(&row, now()) {
            return answer(reply, Err(refused));
        }
        if let Some(item) = single {
            let announcement = Announcement { row, plugin, single: None, replays };
            let committed = self.announce_single(announcement, HashedItem { item, content });
            return answer(reply, Ok(committed));
        }
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let committed = self.committed.put(row.clone(), plugin, false);
        self.batches.insert(LiveBatch::new(committed));
        let admission = Admission { batch: Some(row), ..Admission::default() };
        let admitted = Admitted { tenant, batch: id, at, admission };
        self.write(Pending { admitted, waiter: Waiter::Announced { reply } });
    }

    pub(super) fn submit(
        &mut self,
        tenant: TenantId,
        id: BatchId,
        items: Vec<HashedItem>,
        reply: Reply<Vec<ItemFate>>,
    ) {
        let at = now();
        let batch = match self.batches.find(tenant, id) {
            Ok(batch) => batch,
            Err(error) => return answer(reply, Err(error)),
        };
        let taken = match batch.take(items) {
            Ok(taken) => taken,
            Err(error) => return answer(reply, Err(error)),
        };
        let mark = batch.mark(count(&taken.rows), at);
        let unpaid = batch.pay();
        let admission = Admission { batch: None, requests: taken.rows, mark };
        let admitted = Admitted { tenant, batch: id, at, admission };
        let waiter = Waiter::Submitted { fates: taken.fates, reply };
        self.write(Pending { admitted, waiter });
        self.admission.charge(tenant, unpaid, at);
        // The scheduler ignores requests that it does not know yet; they arrive with a deadline.
        for (request, deadline) in taken.dues {
            self.step(Event::RequestDeadline { request, deadline });
        }
    }

    pub(super) fn tell_outstanding(
        &mut self,
        tenant: TenantId,
        id: BatchId,
        outstanding: u32,
        reply: Reply<()>,
    ) {
        let told = self.batches.find(tenant, id).map(|batch| {
            batch.committed.change(|progress| {
                progress.size_told = Some(progress.counts.submitted.saturating_add(outstanding));
            });
        });
        if told.is_ok() {
            self.step(Event::BatchProgressed { batch: id, outstanding });
        }
        answer(reply, told);
    }

    pub(super) fn seal(
        &mut self,
        tenant: TenantId,
        id: BatchId,
        final_count: Option<u32>,
        reply: Reply<()>,
    ) {
        let at = now();
        let batch = match self.batches.find(tenant, id) {
            Ok(batch) => batch,
            Err(error) => return answer(reply, Err(error)),
        };
        let have = batch.size();
        if let Some(want) = final_count.filter(|&want| want != have) {
            return answer(reply, Err(DispatchError::CountDiffers { have, want }));
        }
        if let Some((mark, reply)) = batch.seal(at, reply) {
            self.write_mark((tenant, id), at, mark, Waiter::Sealed { reply });
        }
    }

    /// Writes a change of a batch's row.
    fn write_mark(
        &mut self,
        (tenant, batch): (TenantId, BatchId),
        at: Micros,
        mark: BatchMark,
        waiter: Waiter,
    ) {
        let admission = Admission { mark, ..Admission::default() };
        self.write(Pending { admitted: Admitted { tenant, batch, at, admission }, waiter });
    }

    fn write(&mut self, pending: Pending) {
        if let Err(pending) = self.channels.admissions.send(pending) {
            pending.0.waiter.refuse(DispatchError::Stopping);
        }
    }

    /// An admission is durable: it is reported to the scheduler, then to the caller.
    pub(super) fn admitted(&mut self, pending: Pending) {
        let Pending { admitted, waiter } = pending;
        let (id, tenant) = (admitted.batch, admitted.tenant);
        let Admission { batch: row, requests, mark } = admitted.admission;
        if matches!(waiter, Waiter::Single) {
            return self.single_written(id, admitted.at);
        }
        if row.is_some() {
            self.batch_announced(id);
            self.preload_plugin(id);
        }
        // Its batch was cancelled or expired meanwhile, perhaps without these requests or those that they repeat.
        let is_late = self.batches.get(id).is_none();
        // Before the scheduler hears of the requests, as it may end a complete batch at once.
        let complete = self.settle((tenant, id), count(&requests), mark, admitted.at);
        if !requests.is_empty() {
            self.requests_submitted(id, &requests, admitted.at);
        }
        if let Some(at) = mark.sealed_at.or(complete) {
            self.batch_sealed(id, at);
        }
        match waiter {
            Waiter::Announced { reply } => {
                let committed = self.committed.find(id).ok_or(DispatchError::NotLive);
                answer(reply, committed);
            }
            // The requests that it relied on may have been refused while it was under way.
            Waiter::Submitted { fates, reply } => {
                answer(
                    reply,
                    match self.batches.repeats_refused(&fates) {
                        _ if is_late => Err(DispatchError::NotLive),
                        true => Err(DispatchError::NotKept),
                        false => Ok(fates),
                    },
                );
            }
            Waiter::Sealed { reply } => {
                let batch = self.batches.get(id);
                let is_open = batch.is_some_and(|batch| refusal(batch.state).is_none());
                answer(reply, if is_open { Err(DispatchError::NotKept) } else { Ok(()) });
            }
            Waiter::Single | Waiter::Nobody => {}
        }
    }

    /// Requests are durable. Seals that waited for them are written, and a seal if the batch is complete by them; returns
    /// its time.
    fn settle(
        &mut self,
        of: (TenantId, BatchId),
        new: u32,
        mark: BatchMark,
        at: Micros,
    ) -> Option<Micros> {
        let batch = self.batches.get_mut(of.1)?;
        let complete = batch.settle(new, mark, at);
        let seals = batch.take_seals();
        if complete.is_some() {
            // If it is lost, a restart sees by the requests that the batch is complete.
            let mark = BatchMark { sealed_at: complete, ..BatchMark::default() };
            self.write_mark(of, at, mark, Waiter::Nobody);
        }
        let mut sealed_at = Some(at);
        for reply in seals {
            let mark = BatchMark { sealed_at: sealed_at.take(), ..BatchMark::default() };
            self.write_mark(of, at, mark, Waiter::Sealed { reply });
        }
        complete
    }

    /// The database refuses the rows of an admission: it is taken back, and its caller is told. Admissions
    /// before and after it stand.
    pub(super) fn not_admitted(&mut self, pending: Pending) {
        let Pending { admitted, waiter } = pending;
        let id = admitted.batch;
        match &waiter {
            Waiter::Announced { .. } => {
                if let Some(batch) = self.batches.remove(id) {
                    self.admission.refused(&batch.committed.row, now());
                }
                self.committed.refuse(id);
            }
            Waiter::Submitted { .. } | Waiter::Sealed { .. } | Waiter::Nobody => {
                for seal in self.batches.take_back(id, &admitted.admission) {
                    answer(seal, Err(DispatchError::NotKept));
                }
            }
            Waiter::Single => {
                self.single.refused(id);
                self.step(Event::BatchCancelled { batch: id });
                self.committed.refuse(id);
            }
        }
        waiter.refuse(DispatchError::NotKept);
    }

    pub(super) fn batch_announced(&mut self, id: BatchId) {
        let Some(batch) = self.batches.get(id) else { return };
        let (row, plugin) = (&batch.committed.row, &batch.committed.plugin);
        let new = NewBatch {
            id,
            tenant: row.tenant,
            run: row.run.as_str().into(),
            plugin: row.digest,
            stages: plugin.shapes.clone(),
            expected_size: row.expected_size,
            group_size: row.group_size,
            tolerance: row.max_extra_delay_ms.map(|ms| Micros::from_ms(ms.into())),
            consumes: match row.consumes {
                Consumes::Batch => assay_sched::Consumes::Batch,
                Consumes::Groups => assay_sched::Consumes::Groups,
            },
            hedged: plugin.may_run_twice(),
            announced: row.announced_at,
        };
        self.step(Event::BatchAnnounced(new));
    }

    /// Tells the workers that may run the batch which plugin to load before its first request comes.
    fn preload_plugin(&mut self, id: BatchId) {
        if let Some(batch) = self.batches.get(id) {
            self.workers.preload_all(&batch.committed.plugin);
        }
    }

    fn requests_submitted(&mut self, id: BatchId, rows: &[RequestRow], at: Micros) {
        let requests = rows.iter().filter_map(|row| {
            let request = RequestId { batch: id, seq: row.seq };
            let progress = self.progress_of(request, Eligibility::Primary);
            let entry = self.batches.get(id)?.entry(row.seq)?;
            let (group, deadline) = (entry.group, entry.due());
            let expected_ms = row.expected_ms;
            Some(NewRequest { seq: row.seq, group, arrived: at, deadline, expected_ms, progress })
        });
        let requests: Vec<NewRequest> = requests.collect();
        let Some(batch) = self.batches.get(id) else { return };
        let count = count(rows);
        batch.committed.change(|progress| {
            if progress.state == BatchState::Announced {
                progress.state = BatchState::Open;
            }
            progress.first_request_at.get_or_insert(at);
            progress.last_request_at = Some(at);
            progress.counts.submitted += count;
        });
        self.submitted(id, requests);
    }

    pub(super) fn batch_sealed(&mut self, id: BatchId, at: Micros) {
        let Some(batch) = self.batches.get(id) else { return };
        batch.committed.change(|progress| {
            if !progress.state.is_final() {
                progress.state = BatchState::Sealed;
            }
            progress.sealed_at.get_or_insert(at);
        });
        self.step(Event::BatchSealed { batch: id });
    }

    /// Drops an ended batch and returns what it held of its tenant's quotas.
    pub(super) fn forget(&mut self, id: BatchId) {
        if let Some(mut batch) = self.batches.remove(id) {
            for seal in batch.drop_seals() {
                answer(seal, Err(DispatchError::NotLive));
            }
            self.admission.release(&batch.committed.row, batch.overpaid(), now());
        }
    }

    fn announce_single(
        &mut self,
        announcement: Announcement,
        item: HashedItem,
    ) -> Arc<CommittedBatch> {
        let Announcement { row, plugin, replays, .. } = announcement;
        let (tenant, id, at) = (row.tenant, row.id, row.announced_at);
        let committed = self.committed.put(row.clone(), plugin, true);
        let due = item.item.due;
        let mut batch = LiveBatch::new(committed.clone());
        batch.replays = replays;
        let requests = batch.take(vec![item]).map(|taken| taken.rows).unwrap_or_default();
        batch.state = BatchState::Sealed;
        self.batches.insert(batch);
        let admission = Admission { batch: Some(row), requests, mark: BatchMark::default() };
        self.single.hold(Admitted { tenant, batch: id, at, admission });
        self.batch_announced(id);
        let request = RequestId { batch: id, seq: 0 };
        let progress = self.progress_of(request, Eligibility::WaiterOnly);
        let request = NewRequest {
            seq: 0,
            group: None,
            arrived: at,
            deadline: due,
            expected_ms: None,
            progress,
        };
        self.submitted(id, vec![request]);
        self.step(Event::BatchSealed { batch: id });
        committed
    }

    /// Writes the single requests that have been held for long enough.
    pub(super) fn write_overdue(&mut self, now: Micros) {
        while let Some(admitted) = self.single.take_due(now) {
            self.write(Pending { admitted, waiter: Waiter::Single });
        }
    }

    /// A single request that took longer is committed: its waiting outputs are sent.
    fn single_written(&mut self, id: BatchId, at: Micros) {
        if let Some(committed) = self.committed.find(id) {
            committed.change(|progress| {
                progress.state = BatchState::Sealed;
                progress.first_request_at = Some(at);
                progress.sealed_at = Some(at);
                progress.counts.submitted = 1;
            });
        }
        let request = RequestId { batch: id, seq: 0 };
        if let Some(key) = self.batches.dedup_key(request) {
            self.dedup.make_eligible(key, request);
        }
        for output in self.single.written(id) {
            self.output(output);
        }
    }

    /// Sends an output to its group commit, unless its batch is held or not committed yet.
    pub(super) fn output(&mut self, output: Output) {
        match self.single.route(output) {
            Route::Send(output) => self.channels.send(output),
            Route::Keep => {}
            Route::Write(admitted) => {
                self.write(Pending { admitted: *admitted, waiter: Waiter::Single });
            }
        }
    }
}

fn count(rows: &[RequestRow]) -> u32 {
    u32::try_from(rows.len()).expect("a submit is within its limit")
}
