//! Log lines of plugins on their way to the database.

use std::sync::Arc;

use assay_core::id::RequestId;
use assay_core::limits;
use assay_store::outcomes::{LogRow, Record, Recorded};
use assay_wire::proto;

use crate::publish::{Output, RowMemory};
use crate::shell::Shell;

impl Shell {
    /// Keeps the lines that a stage logged, unless too many bytes of the tenant are not durable yet.
    pub(super) fn keep_logs(
        &mut self,
        request: RequestId,
        stage: usize,
        lines: Vec<proto::LogLine>,
    ) {
        if lines.is_empty() {
            return;
        }
        let Some(batch) = self.batches.get_mut(request.batch) else { return };
        let stage = batch.committed.stage_name(stage);
        let tenant = batch.committed.row.tenant;
        let Some(entry) = batch.entry_mut(request.seq) else { return };
        let rows = lines.into_iter().take(limits::LOG_LINES_MAX + 1).map(|line| {
            entry.log_lines += 1;
            let proto::LogLine { level, message } = assay_wire::log_line(line);
            LogRow { seq: request.seq, line: entry.log_lines, stage: stage.clone(), level, message }
        });
        let rows: Vec<LogRow> = rows.collect();
        let bytes = rows.iter().map(|row| size_of::<LogRow>() + row.message.len()).sum();
        let Some(permit) = self.logs.try_acquire(tenant, bytes) else {
            metrics::counter!("assay_log_lines_dropped_total").increment(rows.len() as u64);
            return;
        };
        let memory = RowMemory { permit: Some(Arc::new(permit)), artifact: None };
        let record = Record::Logs(rows);
        self.output(Output::Record(Recorded { tenant, batch: request.batch, record }, memory));
    }
}
