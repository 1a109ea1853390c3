//! Copies to shared memory that are under way (`cp.async`). They read their source when they are issued and write when
//! their thread waits for them, which is the latest moment that a device may do it: a kernel that does not wait
//! finds what was there before.

use std::collections::VecDeque;

use crate::error::FaultKind;
use crate::launch::block::BlockContext;
use crate::launch::warp::Warp;
use crate::limits::{COPIES_MAX, WARP_LANES};
use crate::memory::Need;
use crate::program::CopyAsync;

#[derive(Debug)]
struct PendingCopy {
    group: u64,
    at: u32,
    bytes: u8,
    data: [u8; 16],
}

/// The copies of a warp's lanes. A lane's groups are numbered from 0.
#[derive(Debug, Default)]
pub struct PendingCopies {
    lanes: Vec<VecDeque<PendingCopy>>,
    committed: [u64; WARP_LANES],
}

impl PendingCopies {
    pub fn reset(&mut self) {
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.committed = [0; WARP_LANES];
    }

    pub fn commit(&mut self, lane: usize) {
        self.committed[lane] += 1;
    }

    fn push(&mut self, lane: usize, shared: &mut [u8], mut copy: PendingCopy) {
        if self.lanes.is_empty() {
            self.lanes.resize_with(WARP_LANES, VecDeque::new);
        }
        copy.group = self.committed[lane];
        let copies = &mut self.lanes[lane];
        if copies.len() >= COPIES_MAX {
            copies.pop_front().into_iter().for_each(|oldest| oldest.write(shared));
        }
        copies.push_back(copy);
    }

    /// Leaves the last `groups` groups that were committed, and what was not committed.
    pub fn wait(&mut self, lane: usize, groups: Option<u64>, shared: &mut [u8]) {
        let Some(copies) = self.lanes.get_mut(lane) else {
            return;
        };
        let end = match groups {
            Some(groups) => self.committed[lane].saturating_sub(groups),
            None => u64::MAX,
        };
        while copies.front().is_some_and(|copy| copy.group < end) {
            copies.pop_front().into_iter().for_each(|copy| copy.write(shared));
        }
    }
}

impl PendingCopy {
    fn write(self, shared: &mut [u8]) {
        let at = self.at as usize;
        let bytes = usize::from(self.bytes);
        shared[at..at + bytes].copy_from_slice(&self.data[..bytes]);
    }
}

impl Warp {
    pub(crate) fn copy_async(
        &mut self,
        context: &mut BlockContext<'_>,
        shared: &mut [u8],
        copy: &CopyAsync,
        lane: usize,
    ) -> Result<(), FaultKind> {
        let bytes = u64::from(copy.bytes);
        let read = copy.read.map_or(bytes, |read| self.read(context, read, lane));
        if read > bytes {
            return Err(FaultKind::BadOperand("cp.async reads more bytes than it writes"));
        }
        let to = self.place(context, copy.to, lane);
        self.view(context, shared, to, bytes, lane, Need::Write)?;
        let (_, from) = self.place(context, copy.from, lane);
        if !from.is_multiple_of(bytes) {
            return Err(FaultKind::Misaligned { address: from, bytes });
        }
        let mut data = [0; 16];
        if read > 0 {
            let source = context.memory.access(from, read, Need::Read)?;
            data[..source.len()].copy_from_slice(source);
        }
        let (_, at) = to;
        let pending = PendingCopy { group: 0, at: at as u32, bytes: copy.bytes, data };
        self.copies.push(lane, shared, pending);
        Ok(())
    }
}
