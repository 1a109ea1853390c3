//! The zygote makes a box for each job and watches it to its end. It serves one request at a time, and
//! has one thread, so that a box can be made as a copy of the process.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::cgroup::CgroupFactory;
use crate::job::{JobDeadline, Party};
use crate::message::{self, BoxFailure, Hello, JobMessage, RunReply, RunRequest};
use crate::sandbox_process::{DialoguePipes, JobDescriptors, SandboxFactory, SandboxProcess};
use crate::support::BoxSupport;
use crate::sys;

/// A timer that fires later than this was delayed by the machine: the boxes may have been, too.
const LATE_MIN: Duration = Duration::from_millis(20);

/// Serves requests until the worker closes the socket; then the boxes end with this process.
pub(crate) fn run(
    socket: BorrowedFd<'_>,
    support: BoxSupport,
    groups: Option<CgroupFactory>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("the zygote cannot serve: {error}");
    let mut factory = SandboxFactory::new(groups, support.landlock > 0);
    message::send(socket, &Hello::Ok(support), &[]).map_err(failed)?;
    factory.prepare(1);
    while let Some((order, descriptors)) = message::receive::<RunRequest>(socket).map_err(failed)? {
        let reply = serve(socket, &mut factory, &order, descriptors);
        let reply = reply.unwrap_or_else(RunReply::Failed);
        message::send(socket, &reply, &[]).map_err(failed)?;
    }
    Ok(())
}

fn serve(
    socket: BorrowedFd<'_>,
    factory: &mut SandboxFactory,
    order: &RunRequest,
    descriptors: Vec<OwnedFd>,
) -> Result<RunReply, BoxFailure> {
    let after = |milliseconds| {
        let at = Instant::now().checked_add(Duration::from_millis(milliseconds));
        at.ok_or("the deadline is too far away")
    };
    let until = JobDeadline { at: after(order.deadline_ms)?, latest: after(order.latest_ms)? };
    let contents = contents(order, descriptors)?;
    let mut pipes = DialoguePipes::between(order.jobs.len())?;
    let mut boxes = Vec::new();
    for (job, contents) in order.jobs.iter().zip(contents) {
        match factory.start(job, contents, pipes.next()) {
            Ok(started) => boxes.push(started),
            Err(problem) => {
                factory.discard(boxes);
                return Err(problem.into());
            }
        }
    }
    // Close our copies of the pipes, so that each program sees when the other closes its end.
    drop(pipes);
    // Make the next boxes now, where this process would only wait. Nobody reads the running boxes'
    // output meanwhile, so the time is taken out of their wall time.
    let before = Instant::now();
    factory.prepare(order.jobs.len());
    boxes.iter_mut().for_each(|running| running.forgive(before.elapsed()));
    match watch(socket, &mut boxes, until) {
        Ok(true) => {}
        Ok(false) => {
            let wait_us = wait_us(&mut boxes);
            factory.discard(boxes);
            return Ok(RunReply::Deadline { wait_us });
        }
        Err(problem) => {
            factory.discard(boxes);
            return Err(format!("a box cannot be watched: {problem}").into());
        }
    }
    // Report all of them before an error of one is returned, so that each cgroup is removed.
    let reports: Vec<_> = boxes.into_iter().map(|ended| factory.report(ended)).collect();
    let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first_to_end = match reports[..] {
        [(_, program), (_, interactor)] if interactor < program => Party::Interactor,
        _ => Party::Program,
    };
    let boxes = reports.into_iter().map(|(report, _)| report).collect();
    Ok(RunReply::Ended { boxes, first_to_end })
}

/// Sorts the request's descriptors by job.
fn contents(order: &RunRequest, descriptors: Vec<OwnedFd>) -> Result<Vec<JobDescriptors>, String> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or("a request lacks a descriptor");
    let of_job = |job: &JobMessage| {
        let (stdin, files) = (next()?, next()?);
        let sealed = if job.path.is_none() { Some(next()?) } else { None };
        Ok(JobDescriptors { stdin, files, sealed })
    };
    order.jobs.iter().map(of_job).collect()
}

/// The longest time for which a box was ready and had no core, in microseconds.
fn wait_us(boxes: &mut [SandboxProcess]) -> u64 {
    boxes.iter_mut().map(SandboxProcess::wait_us).max().unwrap_or(0)
}

/// The time for which the two programs of a dialogue, or the one program, waited for a core: while one waits, the other
/// waits for its answer. Read where one of them is at the end of its wall time.
fn waited(boxes: &mut [SandboxProcess], now: Instant) -> Duration {
    if boxes.iter().any(|it| it.is_running() && now >= it.wall_end(Duration::ZERO)) {
        Duration::from_micros(boxes.iter_mut().map(SandboxProcess::wait_us).sum())
    } else {
        Duration::ZERO
    }
}

/// Watches boxes until all have ended; returns false if the deadline came first.
fn watch(
    socket: BorrowedFd<'_>,
    boxes: &mut [SandboxProcess],
    until: JobDeadline,
) -> std::io::Result<bool> {
    loop {
        let now = Instant::now();
        let mut wake = until.at;
        if now >= wake {
            // Time in which the boxes were ready and had no core is no time of theirs.
            wake = until.put_off(Duration::from_micros(wait_us(boxes))).at;
            if now >= wake {
                return Ok(false);
            }
        }
        let waited = waited(boxes, now);
        for running in boxes.iter_mut().filter(|it| it.is_running()) {
            // First: a box that has ended by itself is not killed for a limit.
            running.update()?;
            if running.is_running() {
                wake = wake.min(running.enforce_limits(now, waited)?);
            }
        }
        if boxes.iter().all(|it| !it.is_running()) {
            return Ok(true);
        }
        let timeout = wake.saturating_duration_since(now) + Duration::from_micros(500);
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        let ready = {
            let mut polled = vec![PollFd::new(socket, PollFlags::POLLIN)];
            for running in boxes.iter() {
                polled.extend(running.polled().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
            }
            match poll(&mut polled, timeout) {
                Err(nix::Error::EINTR) => continue,
                ready => ready?,
            };
            polled[0].any() == Some(true)
        };
        if ready {
            // The worker sends nothing while it waits, so it closed the socket.
            sys::exit(0);
        }
        let late = wake.elapsed();
        if late > LATE_MIN {
            // The machine may have been suspended or overloaded.
            boxes.iter_mut().for_each(|running| running.forgive(late));
        }
    }
}
