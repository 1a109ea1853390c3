//! The empirical distribution of a run's last batches, arranged so that the next one can be sampled.

use std::sync::Arc;

use assay_core::time::Micros;
use assay_sched::{Ending, Profile};

use crate::problem::Flow;
use crate::tail::Tail;

/// One or more profiles of the same stages as one body of evidence; made anew with each batch.
#[derive(Debug)]
pub(crate) struct Basis {
    pub(crate) stages: usize,
    /// The number of batches that it is made of.
    pub(crate) batches: usize,
    /// Whether the workload changed so lately that these batches may not tell what the next one is like.
    pub(crate) is_new: bool,
    /// The mean time from the announcement to the first arrival.
    pub(crate) lead: Micros,
    /// The observed requests, in order of arrival.
    rows: Vec<Row>,
    /// s_ij by row; zero where a stage was not reached.
    ran: Vec<Micros>,
    /// For each stage, the rows that reached it, ordered by service time.
    reached: Vec<Vec<u32>>,
    /// For each stage, the expected excess of the time from its start to the request's end.
    pub(crate) tails: Vec<Tail>,
    /// For each stage, the times from its start to the request's end, sorted.
    left: Vec<Vec<Micros>>,
    /// For each stage, the mean service time; `None` if no row reached it.
    means: Vec<Option<Micros>>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    arrived: Micros,
    /// The row's place in `ran`.
    at: usize,
}

impl Basis {
    /// `None` without requests.
    pub(crate) fn of<'a>(profiles: impl Iterator<Item = &'a Arc<Profile>>) -> Option<Self> {
        let profiles: Vec<&Arc<Profile>> = profiles.collect();
        let stages = profiles.first()?.stages.len();
        let mut basis = Self {
            stages,
            batches: profiles.len(),
            is_new: false,
            lead: Micros::ZERO,
            rows: Vec::new(),
            ran: Vec::new(),
            reached: Vec::new(),
            tails: Vec::new(),
            left: Vec::new(),
            means: Vec::new(),
        };
        let mut lead = 0;
        for profile in &profiles {
            lead += profile.first_arrival.since(profile.announced).0;
            basis.add(profile);
        }
        basis.lead = Micros(lead / profiles.len() as u64);
        if basis.rows.is_empty() {
            return None;
        }
        basis.rows.sort_by_key(|row| row.arrived);
        basis.arrange();
        Some(basis)
    }

    fn add(&mut self, profile: &Profile) {
        for (index, request) in profile.requests.iter().enumerate() {
            // A request that ended as an error says little about the next batch.
            if request.ending != Ending::Error {
                self.rows.push(Row { arrived: request.arrived, at: self.ran.len() });
                self.ran.extend_from_slice(profile.ran(index));
            }
        }
    }

    fn arrange(&mut self) {
        for stage in 0..self.stages {
            let ran = |row: &u32| self.service(*row as usize)[stage];
            let mut reached: Vec<u32> =
                (0..self.rows.len() as u32).filter(|row| ran(row) > Micros::ZERO).collect();
            reached.sort_by_key(ran);
            let left = |row: &u32| {
                let service = self.service(*row as usize);
                service[stage..].iter().fold(Micros::ZERO, |sum, ran| sum + *ran)
            };
            let mut left: Vec<Micros> = reached.iter().map(left).collect();
            left.sort_unstable();
            let sum = reached.iter().map(|row| ran(row).0).sum::<u64>();
            self.tails.push(Tail::of(&left));
            self.left.push(left);
            self.means.push(sum.checked_div(reached.len() as u64).map(Micros));
            self.reached.push(reached);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The first row that arrived after `elapsed`, from the first arrival.
    pub(crate) fn after(&self, elapsed: Micros) -> usize {
        self.rows.partition_point(|row| row.arrived <= elapsed)
    }

    pub(crate) fn arrived(&self, row: usize) -> Micros {
        self.rows[row].arrived
    }

    pub(crate) fn service(&self, row: usize) -> &[Micros] {
        let at = self.rows[row].at;
        &self.ran[at..at + self.stages]
    }

    /// The rows that reached a stage, by how long they ran it.
    pub(crate) fn reached(&self, stage: usize) -> &[u32] {
        &self.reached[stage]
    }

    /// The rows that ran a stage for longer than `elapsed`.
    pub(crate) fn longer(&self, stage: usize, elapsed: Micros) -> &[u32] {
        let reached = &self.reached[stage];
        let from = reached.partition_point(|row| self.service(*row as usize)[stage] <= elapsed);
        &reached[from..]
    }

    /// The time at a stage that this fraction of the rows does not exceed; zero if none reached it.
    pub(crate) fn quantile(&self, stage: usize, fraction: f64) -> Micros {
        let reached = &self.reached[stage];
        let at = ((reached.len() as f64 * fraction) as usize).min(reached.len().saturating_sub(1));
        reached.get(at).map_or(Micros::ZERO, |row| self.service(*row as usize)[stage])
    }

    /// The time from a stage's start to the end that this fraction of the rows does not exceed.
    pub(crate) fn left_quantile(&self, stage: usize, fraction: f64) -> Micros {
        let left = &self.left[stage];
        let at = ((left.len() as f64 * fraction) as usize).min(left.len().saturating_sub(1));
        left.get(at).copied().unwrap_or_default()
    }

    /// How long a stage ran on average; `None` if no row reached it.
    pub(crate) fn mean(&self, stage: usize) -> Option<Micros> {
        self.means[stage]
    }
}

impl Basis {
    /// The most workers of a pool that one batch would have used at once had none ever queued.
    pub(crate) fn zero_queue_peak(&self, flow: &Flow, pool: usize) -> usize {
        let mut changes = Vec::new();
        for row in &self.rows {
            let mut at = row.arrived;
            for (stage, ran) in flow.stages.iter().zip(&self.ran[row.at..]) {
                if *ran == Micros::ZERO {
                    break;
                }
                if stage.pool == pool {
                    changes.push((at, 1));
                    changes.push((at + *ran, -1));
                }
                at = at + *ran;
            }
        }
        changes.sort_unstable();
        let (mut busy, mut peak) = (0_i64, 0);
        for (_, change) in changes {
            busy += change;
            peak = peak.max(busy);
        }
        peak as usize / self.batches.max(1)
    }
}
