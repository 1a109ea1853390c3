//! Makes a box for each job and watches it to its end. One order at a time; no thread, so that a
//! box can be made as a copy of this process.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::boxed::{Boxed, Contents, Maker, Wires};
use crate::cgroup::Groups;
use crate::job::Party;
use crate::message::{self, Hello, Order, OrderedJob, Reply};
use crate::support::Support;
use crate::sys;

/// Later than this a timer is not by itself.
const LATE_MIN: Duration = Duration::from_millis(20);

/// Serves orders until the worker closes the socket; then everything below ends with this process.
pub(crate) fn run(
    socket: BorrowedFd<'_>,
    support: Support,
    groups: Option<Groups>,
) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("the zygote cannot serve: {error}");
    let mut maker = Maker::new(groups, support.landlock > 0);
    message::send(socket, &Hello::Ok(support), &[]).map_err(failed)?;
    maker.prepare(1);
    while let Some((order, descriptors)) = message::receive::<Order>(socket).map_err(failed)? {
        let reply = serve(socket, &mut maker, &order, descriptors);
        let reply = reply.unwrap_or_else(Reply::Failed);
        message::send(socket, &reply, &[]).map_err(failed)?;
    }
    Ok(())
}

fn serve(
    socket: BorrowedFd<'_>,
    maker: &mut Maker,
    order: &Order,
    descriptors: Vec<OwnedFd>,
) -> Result<Reply, String> {
    let deadline = Instant::now().checked_add(Duration::from_millis(order.deadline_ms));
    let deadline = deadline.ok_or("the deadline is too far away")?;
    let contents = contents(order, descriptors)?;
    let mut wires = Wires::between(order.jobs.len())?;
    let mut boxes = Vec::new();
    for (job, contents) in order.jobs.iter().zip(contents) {
        match maker.start(job, contents, wires.next()) {
            Ok(started) => boxes.push(started),
            Err(problem) => {
                maker.discard(boxes);
                return Err(problem);
            }
        }
    }
    // The boxes' ends are theirs alone: an end must be seen by the other side.
    drop(wires);
    // This process would only wait; if it takes long, nobody reads what they write.
    let before = Instant::now();
    maker.prepare(order.jobs.len());
    boxes.iter_mut().for_each(|running| running.forgive(before.elapsed()));
    match watch(socket, &mut boxes, deadline) {
        Ok(true) => {}
        Ok(false) => {
            maker.discard(boxes);
            return Ok(Reply::Deadline);
        }
        Err(problem) => {
            maker.discard(boxes);
            return Err(format!("a box cannot be watched: {problem}"));
        }
    }
    // All of them, so that each group is removed, before an error of one ends this.
    let reports: Vec<_> = boxes.into_iter().map(|ended| maker.report(ended)).collect();
    let reports = reports.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first_to_end = match reports[..] {
        [(_, program), (_, interactor)] if interactor < program => Party::Interactor,
        _ => Party::Program,
    };
    let boxes = reports.into_iter().map(|(report, _)| report).collect();
    Ok(Reply::Ended { boxes, first_to_end })
}

/// What comes with each job.
fn contents(order: &Order, descriptors: Vec<OwnedFd>) -> Result<Vec<Contents>, String> {
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next().ok_or("an order lacks a descriptor");
    let of_job = |job: &OrderedJob| {
        let (stdin, files) = (next()?, next()?);
        let sealed = if job.path.is_none() { Some(next()?) } else { None };
        Ok(Contents { stdin, files, sealed })
    };
    order.jobs.iter().map(of_job).collect()
}

/// Until all boxes have ended; false when the deadline came first.
fn watch(socket: BorrowedFd<'_>, boxes: &mut [Boxed], deadline: Instant) -> std::io::Result<bool> {
    loop {
        let now = Instant::now();
        if now >= deadline {
            return Ok(false);
        }
        let mut wake = deadline;
        for running in boxes.iter_mut().filter(|it| it.is_running()) {
            // First: what has ended is past no limit.
            running.hear()?;
            if running.is_running() {
                wake = wake.min(running.look(now)?);
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
            // The worker says nothing while it waits: it is gone, and so is everything below.
            sys::exit(0);
        }
        let late = wake.elapsed();
        if late > LATE_MIN {
            // The whole machine may have stood still.
            boxes.iter_mut().for_each(|running| running.forgive(late));
        }
    }
}
