use super::*;

fn pair() -> (UnixStream, UnixStream) {
    UnixStream::pair().unwrap()
}

#[test]
fn nothing_is_late_once_its_time_has_passed() {
    let (ours, _theirs) = pair();
    let until = Instant::now() + SLICE_MAX * 3;
    let mut bounded = Bounded::new(&ours, until);
    let late = bounded.read(&mut [0]).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::WouldBlock);
    assert!(Instant::now() >= until, "it was given all of its time");
}

#[test]
fn an_answer_that_nobody_could_hear_is_not_late() {
    let (ours, mut theirs) = pair();
    theirs.write_all(b"answer").unwrap();
    let long_ago = Instant::now().checked_sub(SLICE_MAX * 10).unwrap();
    let mut heard = [0; 6];
    Bounded::new(&ours, long_ago).read_exact(&mut heard).unwrap();
    assert_eq!(&heard, b"answer");
}

#[test]
fn byte_after_byte_is_late_in_the_end() {
    let (ours, theirs) = pair();
    let mut bounded = Bounded::new(&ours, Instant::now());
    let late = loop {
        if let Err(late) = bounded.wait(|_| Ok(1)) {
            break late;
        }
    };
    assert_eq!(late.kind(), ErrorKind::TimedOut);
    drop(theirs);
}

#[test]
fn the_deadline_moves_while_the_process_stands_still() {
    let (ours, mut theirs) = pair();
    let until = Instant::now() + SLICE_MAX;
    let mut bounded = Bounded::new(&ours, until);
    let mut looks = 0;
    // A wait that comes back late, as in a process that is stopped, and the answer in the next one.
    let waited = bounded.wait(|mut socket| {
        looks += 1;
        if looks == 1 {
            std::thread::sleep(SLICE_MAX * 4);
            theirs.write_all(b"x")?;
            return Err(ErrorKind::Interrupted.into());
        }
        socket.read(&mut [0])
    });
    assert_eq!((waited.unwrap(), looks), (1, 2));
    assert!(bounded.stood_still >= SLICE_MAX * 3, "{:?}", bounded.stood_still);
    assert_eq!(bounded.until, until + bounded.stood_still);
    // A busy machine is a little late, and that counts.
    bounded.put_off(LATE_MIN);
    assert_eq!(bounded.until, until + bounded.stood_still);
}

#[test]
fn the_deadline_moves_while_the_executor_has_no_core() {
    let (ours, _theirs) = pair();
    let folder = tempfile::tempdir().unwrap();
    let schedstat = folder.path().join("schedstat");
    let waited = |total: Duration| {
        std::fs::write(&schedstat, format!("7000 {} 3\n", total.as_nanos())).unwrap();
    };
    let (until, minute) = (Instant::now(), Duration::from_secs(60));
    // It waited before as well.
    waited(minute);
    let began = |latest| Bounded {
        core: Some(CoreWait::begin(schedstat.clone(), latest)),
        ..Bounded::new(&ours, until)
    };
    let mut bounded = began(until + minute * 2);
    let mut bound = began(until + minute / 2);
    waited(minute * 2);
    assert_eq!(bounded.wait(|_| Ok(1)).unwrap(), 1);
    assert_eq!((bounded.until, bounded.last_looks_end), (until + minute, None));
    bound.wait(|_| Ok(1)).unwrap();
    assert_eq!(bound.until, until + minute / 2);
    assert_eq!((bounded.starved(true), bounded.starved(false)), (minute, minute));
    // A little is no reason to wait longer, and is told of an executor that has answered.
    waited(minute * 2 + LATE_MIN);
    assert!(!bounded.waits_for_core());
    assert_eq!((bounded.starved(true), bounded.starved(false)), (minute + LATE_MIN, minute));
    // A kernel that does not count it.
    std::fs::remove_file(&schedstat).unwrap();
    assert_eq!(bounded.starved(true), Duration::ZERO);
}
