//! Parses the output of Slurm's commands and describes it in words. Pure: any text may be odd, truncated or long.

use std::sync::Arc;

use assay_core::id::TicketId;
use assay_core::limits;

/// The columns of `squeue -o`: state, nodes, name, reason. A reason holds spaces and bars, so it is last.
pub(super) const COLUMNS: &str = "%i|%T|%N|%j|%r";

/// The number of a job.
pub(super) type JobId = u32;

/// A job of ours as `squeue` lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub id: JobId,
    pub ticket: TicketId,
    pub pool: Arc<str>,
    pub state: JobState,
    pub nodes: String,
    /// The reason why it waits, or how it ended, in Slurm's words.
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JobState {
    Waiting,
    Running,
    /// The name of the state, such as `TIMEOUT`.
    Ended(String),
    /// A state that this version does not know: the job exists.
    Unknown,
}

/// The begin of the names of our jobs; `cluster` tells one server's jobs from another's.
pub(super) fn prefix(cluster: &str) -> String {
    format!("assay-{cluster}-")
}

/// The name of a worker's job.
pub(super) fn job_name(cluster: &str, pool: &str, ticket: TicketId) -> String {
    format!("{}{pool}-{ticket}", prefix(cluster))
}

/// The pool and the ticket in the name of a job of this cluster.
fn worker_of(cluster: &str, name: &str) -> Option<(Arc<str>, TicketId)> {
    let rest = name.strip_prefix(&prefix(cluster))?;
    let at = rest.len().checked_sub(limits::SLURM_TICKET_BYTES)?;
    let (pool, ticket) = (rest.get(..at)?, rest.get(at..)?);
    let pool = pool.strip_suffix('-').filter(|pool| !pool.is_empty())?;
    Some((pool.into(), ticket.parse().ok()?))
}

/// The jobs of this cluster among all that `squeue` printed; a line that is no job of ours is passed over.
pub(super) fn listing(cluster: &str, printed: &str) -> Vec<Listed> {
    printed.lines().filter_map(|line| listed(cluster, line)).collect()
}

fn listed(cluster: &str, line: &str) -> Option<Listed> {
    let mut columns = line.splitn(5, '|');
    let mut next = || columns.next().map(str::trim);
    let (id, state, nodes, name, reason) = (next()?, next()?, next()?, next()?, next()?);
    let (pool, ticket) = worker_of(cluster, name)?;
    let id = id.parse().ok().filter(|&id: &JobId| id > 0)?;
    let (nodes, reason) = (plain(nodes), plain(reason));
    Some(Listed { id, ticket, pool, state: state_of(state), nodes, reason })
}

fn state_of(state: &str) -> JobState {
    match state {
        "PENDING" | "CONFIGURING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD"
        | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => JobState::Waiting,
        "RUNNING" | "RESIZING" | "SIGNALING" | "STAGE_OUT" | "STOPPED" | "SUSPENDED" => {
            JobState::Running
        }
        "BOOT_FAIL" | "CANCELLED" | "COMPLETED" | "COMPLETING" | "DEADLINE" | "FAILED"
        | "NODE_FAIL" | "OUT_OF_MEMORY" | "PREEMPTED" | "REVOKED" | "TIMEOUT" => {
            JobState::Ended(state.to_owned())
        }
        _ => JobState::Unknown,
    }
}

/// The id in what `sbatch --parsable` printed: `17`, or `17;cluster`. A site may print lines of its own before it.
pub(super) fn submitted(printed: &str) -> Result<JobId, String> {
    let last = printed.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let id = last.split(';').next().unwrap_or_default();
    let id = id.parse().ok().filter(|&id: &JobId| id > 0);
    id.ok_or_else(|| format!("sbatch printed no job id: {}", cut(&plain(printed))))
}

/// Whether `scancel` failed because there is nothing to cancel any more.
pub(super) fn is_gone(said: &str) -> bool {
    ["Invalid job id", "already completing or completed"].iter().any(|text| said.contains(text))
}

/// Why a job waits, as a sentence.
pub(super) fn waits(listed: &Listed) -> String {
    let reason = cut(&listed.reason);
    // Slurm says some reasons as `ReqNodeNotAvail, UnavailableNodes:n1`.
    let word = reason.split([',', ' ', ':']).next().unwrap_or_default();
    let words = match word {
        "Resources" => "no node has the requested resources free",
        "Priority" => "jobs of a higher priority wait before it",
        "None" | "" => "Slurm has not looked at it yet",
        "Dependency" | "DependencyNeverSatisfied" => "it depends on another job",
        "BeginTime" => "its time to begin has not come",
        "JobHeldUser" | "JobHeldAdmin" | "JobHoldMaxRequeue" => {
            "it is held; `scontrol release` lets it go"
        }
        "Licenses" => "it needs a license that is in use",
        "Reservation" | "ReservationDeleted" => "it waits for its reservation",
        "PartitionDown" | "PartitionInactive" => "its partition starts no jobs",
        "PartitionTimeLimit" => "its time is above the limit of its partition",
        "PartitionNodeLimit" => "it asks for more nodes than its partition allows",
        "BadConstraints" => "no node can ever give what it asks for",
        "ReqNodeNotAvail" | "NodeDown" | "Nodes" => {
            "the nodes that it could run on are not available"
        }
        "Prolog" | "Configuring" => "its node is being prepared",
        word if word.starts_with("QOS") || word.starts_with("MaxQOS") => {
            "a limit of its quality of service is reached"
        }
        word if word.starts_with("Assoc") || word.starts_with("MaxAssoc") => {
            "a limit of its account is reached"
        }
        _ => "Slurm keeps it waiting",
    };
    format!("{words} (Slurm: {})", if reason.is_empty() { "no reason" } else { &reason })
}

/// How a job ended, as a sentence without a subject.
pub(super) fn ended(listed: &Listed, state: &str) -> String {
    let words = match state {
        "TIMEOUT" | "DEADLINE" => "reached the end of its time",
        "NODE_FAIL" | "BOOT_FAIL" => "lost its node",
        "PREEMPTED" => "gave way to another job",
        "OUT_OF_MEMORY" => "used more memory than it may",
        "CANCELLED" | "REVOKED" => "was cancelled",
        "FAILED" => "ended with an error",
        _ => "ended",
    };
    let at = if listed.nodes.is_empty() { String::new() } else { format!(" on {}", listed.nodes) };
    let reason = match listed.reason.as_str() {
        "" | "None" => String::new(),
        reason => format!(", {}", cut(reason)),
    };
    format!("Slurm's job {}{at} {words} ({state}{reason})", listed.id)
}

/// A text of Slurm without control characters, so that it cannot write over a terminal, and without space around it.
pub(super) fn plain(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    line.trim().to_owned()
}

/// The beginning of a text.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(limits::SLURM_TEXT_CHARS_MAX) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
