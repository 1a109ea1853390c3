//! The workers of a pool, as many as there are when, during a run of SIMULATE.

use super::ends::Ends;

/// How many workers a pool has, over time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// The workers from the start; `None` for no limit.
    pub(crate) workers: Option<usize>,
    /// The workers that come later: the time of each change (relative, ascending) and their number.
    pub(crate) later: Vec<(u64, usize)>,
}

impl Capacity {
    pub(crate) fn of(workers: usize) -> Self {
        Self { workers: Some(workers), later: Vec::new() }
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.workers.is_some()
    }

    pub(super) fn at_first(&self) -> i64 {
        self.workers.map_or(i64::MAX / 2, |workers| workers as i64)
    }
}

/// How many workers of a pool are busy: from when (relative), and how many.
pub(crate) type Usage = Vec<(u64, u32)>;

/// The workers of one pool.
pub(super) struct SimulatedWorkers<'a> {
    /// Free workers; more may be, whose ends were not looked at yet. Negative while more run than
    /// there are workers.
    free: i64,
    joins: &'a [(u64, usize)],
    ends: &'a mut Ends,
    /// True if workers are limited. Without a limit no job waits, so nobody needs to know when a worker
    /// becomes free.
    is_limited: bool,
}

impl<'a> SimulatedWorkers<'a> {
    pub(super) fn new(capacity: &'a Capacity, ends: &'a mut Ends) -> Self {
        ends.clear();
        let is_limited = capacity.is_limited();
        Self { free: capacity.at_first(), joins: &capacity.later, ends, is_limited }
    }

    /// Marks a worker as busy until `end`.
    pub(super) fn take(&mut self, end: u64) {
        if self.is_limited {
            self.free -= 1;
            self.ends.push(end);
        }
    }

    /// When a worker is free, from `now` on; `None` if never. Time does not go back.
    pub(super) fn free_at(&mut self, mut now: u64) -> Option<u64> {
        if !self.is_limited {
            return Some(now);
        }
        self.free += self.ends.pass(now) as i64;
        while self.free <= 0 {
            let join = self.joins.first().map(|(at, _)| *at);
            let end = self.ends.first();
            match (join, end) {
                (Some(join), _) if end.is_none_or(|end| join <= end) => {
                    self.free += self.joins[0].1 as i64;
                    self.joins = &self.joins[1..];
                    now = now.max(join);
                    self.free += self.ends.pass(now) as i64;
                }
                (_, Some(end)) => {
                    self.ends.pop();
                    self.free += 1;
                    now = now.max(end);
                }
                _ => return None,
            }
        }
        Some(now)
    }
}

/// How many intervals hold at once, of which the starts are in order.
pub(super) fn overlap(starts: &[u64], ends: &mut [u64]) -> Usage {
    ends.sort_unstable();
    let mut usage = Usage::new();
    let (mut started, mut ended) = (0, 0);
    while ended < ends.len() {
        let now = starts.get(started).map_or(ends[ended], |start| (*start).min(ends[ended]));
        started += starts[started..].iter().take_while(|start| **start == now).count();
        ended += ends[ended..].iter().take_while(|end| **end == now).count();
        note(&mut usage, now, (started - ended) as u32);
    }
    usage
}

pub(super) fn note(usage: &mut Usage, now: u64, busy: u32) {
    match usage.last_mut() {
        Some((at, last)) if *at == now => *last = busy,
        Some((_, last)) if *last == busy => {}
        None if busy == 0 => {}
        _ => usage.push((now, busy)),
    }
}
