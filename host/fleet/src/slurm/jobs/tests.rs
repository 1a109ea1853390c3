//! The effect of each answer of Slurm on a job.

use super::*;
use crate::ticket::Ticket;

const NOW: Micros = Micros::from_secs(1_000);

fn at(seconds: u64) -> Micros {
    NOW + Micros::from_secs(seconds)
}

fn listed(ticket: TicketId, id: JobId, state: JobState) -> Listed {
    Listed { id, ticket, pool: "cpu".into(), state, nodes: "n1".into(), reason: "Resources".into() }
}

fn ended_as(state: &str) -> JobState {
    JobState::Ended(state.into())
}

/// Effects in words.
fn said(effects: &[JobEffect]) -> Vec<String> {
    let words = effects.iter().map(|effect| match effect {
        JobEffect::Submit(_) => "submit".into(),
        JobEffect::Cancel(id, how) => format!("cancel {id} {how:?}"),
        JobEffect::Tell(WorkerEvent::Waiting { why, .. }) => format!("waiting: {why}"),
        JobEffect::Tell(WorkerEvent::Placed { .. }) => "placed".into(),
        JobEffect::Tell(WorkerEvent::Leaving { why, .. }) => format!("leaving: {why}"),
        JobEffect::Tell(WorkerEvent::Ended { how, .. }) => match how {
            WorkerEnd::NotStarted(_) => "not started".into(),
            WorkerEnd::Finished(_) => "finished".into(),
            WorkerEnd::Failed(why) => format!("failed: {why}"),
            WorkerEnd::Lost => "lost".into(),
        },
    });
    words.collect()
}

/// A job that `sbatch` was asked for.
fn asked() -> (Jobs, TicketId) {
    let mut jobs = Jobs::default();
    let start = Start { ticket: Ticket::generate(), pool: "cpu".into() };
    let ticket = start.ticket.id;
    assert_eq!(said(&jobs.start(NOW, vec![start])), ["submit"]);
    (jobs, ticket)
}

/// A job that Slurm has under the number 7.
fn submitted() -> (Jobs, TicketId) {
    let (mut jobs, ticket) = asked();
    assert_eq!(said(&jobs.submitted(NOW, ticket, Ok(7))), [""; 0]);
    (jobs, ticket)
}

fn polled(jobs: &mut Jobs, now: Micros, listing: &[Listed]) -> Vec<String> {
    let poll = jobs.poll();
    said(&jobs.polled(now, poll, listing))
}

fn running() -> (Jobs, TicketId) {
    let (mut jobs, ticket) = submitted();
    let listing = [listed(ticket, 7, JobState::Running)];
    assert_eq!(polled(&mut jobs, NOW, &listing), ["placed"]);
    assert_eq!(polled(&mut jobs, NOW, &listing), [""; 0], "once");
    (jobs, ticket)
}

#[test]
fn a_job_waits_runs_and_ends() {
    let (mut jobs, ticket) = submitted();
    let waits = listed(ticket, 7, JobState::Waiting);
    let told = polled(&mut jobs, at(1), std::slice::from_ref(&waits));
    assert_eq!(told, ["waiting: no node has the requested resources free (Slurm: Resources)"]);
    assert_eq!(polled(&mut jobs, at(2), &[waits]), [""; 0], "a reason is told once");
    assert_eq!(polled(&mut jobs, at(3), &[listed(ticket, 7, JobState::Running)]), ["placed"]);
    assert_eq!(polled(&mut jobs, at(4), &[listed(ticket, 7, JobState::Unknown)]), [""; 0]);
    let told = polled(&mut jobs, at(5), &[listed(ticket, 7, ended_as("TIMEOUT"))]);
    assert_eq!(
        told,
        ["failed: Slurm's job 7 on n1 reached the end of its time (TIMEOUT, Resources)"]
    );
    assert!(jobs.workers().is_empty());
    assert_eq!(polled(&mut jobs, at(6), &[listed(ticket, 7, ended_as("TIMEOUT"))]), [""; 0]);
}

#[test]
fn a_job_that_ends_well_or_as_asked_has_not_failed() {
    let (mut jobs, ticket) = running();
    assert_eq!(polled(&mut jobs, at(1), &[listed(ticket, 7, ended_as("COMPLETED"))]), ["finished"]);
    let (mut jobs, ticket) = running();
    assert_eq!(said(&jobs.stop(at(1), ticket, Stop::Kill)), ["cancel 7 End"]);
    assert_eq!(polled(&mut jobs, at(1), &[listed(ticket, 7, ended_as("CANCELLED"))]), ["finished"]);
}

#[test]
fn a_queued_job_of_a_former_server_is_ended() {
    let (mut jobs, running, queued) = (Jobs::default(), TicketId::generate(), TicketId::generate());
    let listing = [listed(running, 7, JobState::Running), listed(queued, 8, JobState::Waiting)];
    polled(&mut jobs, NOW, &listing);
    assert_eq!(said(&jobs.end_queued(at(1))), ["cancel 8 End"]);
    assert_eq!(jobs.running(), [(running, "cpu".into())]);
}

#[test]
fn a_job_that_is_refused_was_not_started() {
    let (mut jobs, ticket) = asked();
    assert_eq!(said(&jobs.submitted(NOW, ticket, Err("no".into()))), ["not started"]);
    assert!(jobs.workers().is_empty());
}

#[test]
fn a_missing_job_is_gone_when_two_answers_lack_it() {
    let (mut jobs, ticket) = running();
    assert_eq!(polled(&mut jobs, at(1), &[]), [""; 0]);
    assert_eq!(polled(&mut jobs, at(2), &[listed(ticket, 7, JobState::Running)]), [""; 0]);
    assert_eq!(polled(&mut jobs, at(3), &[]), [""; 0], "counted anew");
    assert_eq!(polled(&mut jobs, at(4), &[]), ["lost"]);
    assert!(jobs.workers().is_empty());
}

#[test]
fn an_answer_that_may_be_older_than_the_job_says_nothing() {
    let (mut jobs, ticket) = asked();
    let polls = [jobs.poll(), jobs.poll()];
    jobs.submitted(NOW, ticket, Ok(7));
    for poll in polls {
        assert_eq!(said(&jobs.polled(NOW, poll, &[])), [""; 0]);
    }
    assert_eq!(polled(&mut jobs, NOW, &[]), [""; 0]);
    assert_eq!(polled(&mut jobs, NOW, &[]), ["lost"]);
}

#[test]
fn while_slurm_cannot_be_asked_no_job_is_gone() {
    let (mut jobs, ticket) = running();
    let (mut waiting, _) = submitted();
    for second in 0..1_000 {
        assert_eq!(said(&jobs.poll_failed(at(second), "away")), [""; 0]);
    }
    assert_eq!(jobs.workers(), [(ticket, "cpu".into())]);
    let told = said(&waiting.poll_failed(NOW, "away"));
    assert_eq!(told, ["waiting: Slurm cannot be asked: away"]);
    assert_eq!(said(&waiting.poll_failed(at(1), "away")), [""; 0], "once");
}

#[test]
fn a_worker_leaves_politely_at_first() {
    let (mut jobs, ticket) = running();
    assert_eq!(said(&jobs.stop(NOW, ticket, Stop::Leave)), ["cancel 7 Ask"]);
    assert_eq!(said(&jobs.stop(NOW, ticket, Stop::Leave)), [""; 0], "asked already");
    let still = [listed(ticket, 7, JobState::Running)];
    assert_eq!(polled(&mut jobs, at(1), &still), ["cancel 7 Ask"]);
    assert_eq!(polled(&mut jobs, at(6), &still), ["cancel 7 End"]);
    assert_eq!(said(&jobs.stop(at(6), ticket, Stop::Kill)), ["cancel 7 End"]);
}

#[test]
fn a_job_that_waits_is_cancelled_at_once() {
    let (mut jobs, ticket) = submitted();
    assert_eq!(said(&jobs.stop(NOW, ticket, Stop::Leave)), ["cancel 7 End"]);
}

#[test]
fn a_job_that_was_given_up_before_it_had_a_number_is_cancelled_with_it() {
    let (mut jobs, ticket) = asked();
    assert_eq!(said(&jobs.stop(NOW, ticket, Stop::GiveUp)), [""; 0]);
    assert_eq!(said(&jobs.submitted(NOW, ticket, Ok(7))), ["cancel 7 End"]);
}

#[test]
fn a_job_that_does_not_go_counts_as_ended_and_is_cancelled_further() {
    let (mut jobs, ticket) = running();
    jobs.stop(NOW, ticket, Stop::Kill);
    assert_eq!(said(&jobs.poll_failed(at(14), "away")), [""; 0]);
    assert_eq!(said(&jobs.poll_failed(at(15), "away")), ["finished"]);
    assert_eq!(said(&jobs.poll_failed(at(16), "away")), [""; 0], "once");
    assert_eq!(
        polled(&mut jobs, at(17), &[listed(ticket, 7, JobState::Running)]),
        ["cancel 7 End"]
    );
    assert_eq!(polled(&mut jobs, at(18), &[listed(ticket, 7, ended_as("CANCELLED"))]), [""; 0]);
    assert!(jobs.workers().is_empty());
}

#[test]
fn the_job_of_another_server_is_known_and_ended_when_nobody_wants_it() {
    let (mut jobs, stray) = (Jobs::default(), TicketId::generate());
    assert_eq!(polled(&mut jobs, NOW, &[listed(stray, 3, JobState::Running)]), [""; 0]);
    assert_eq!(jobs.workers(), [(stray, "cpu".into())]);
    assert_eq!(said(&jobs.stop(NOW, stray, Stop::Kill)), ["cancel 3 End"]);
    assert_eq!(polled(&mut jobs, at(1), &[]), [""; 0]);
    assert_eq!(polled(&mut jobs, at(2), &[]), ["finished"]);
    assert!(jobs.workers().is_empty());
}

#[test]
fn another_job_of_the_same_name_changes_nothing() {
    let (mut jobs, ticket) = running();
    let other = listed(ticket, 8, ended_as("FAILED"));
    let own = listed(ticket, 7, JobState::Running);
    assert_eq!(polled(&mut jobs, NOW, &[other.clone(), own.clone()]), [""; 0]);
    assert_eq!(polled(&mut jobs, NOW, &[own, other]), [""; 0]);
    assert_eq!(jobs.workers(), [(ticket, "cpu".into())]);
}

#[test]
fn slurm_is_asked_often_only_while_something_changes() {
    let seconds = |jobs: &Jobs, now| jobs.pause(now).as_secs_f64();
    assert_eq!(seconds(&Jobs::default(), NOW), 15.0);
    let (mut jobs, ticket) = running();
    assert_eq!((seconds(&jobs, at(1)), seconds(&jobs, at(61))), (2.0, 15.0));
    jobs.stop(at(100), ticket, Stop::Leave);
    assert_eq!(seconds(&jobs, at(1_000)), 2.0);
    let pauses: Vec<f64> = (0..5)
        .map(|_| {
            jobs.poll_failed(at(100), "away");
            seconds(&jobs, at(100))
        })
        .collect();
    assert_eq!(pauses, [4.0, 8.0, 15.0, 15.0, 15.0]);
}
