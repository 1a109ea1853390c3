use proptest::prelude::*;

use super::*;

#[test]
fn orders_and_replies_arrive_as_sent() {
    let mut wire = Vec::new();
    send(&mut wire, &ExecutorRequest::Prepare { seed: 7 }).unwrap();
    send(&mut wire, &Reply::Err(DeviceProblem::TimedOut)).unwrap();
    let mut from = &wire[..];
    assert!(matches!(receive(&mut from).unwrap(), Some(ExecutorRequest::Prepare { seed: 7 })));
    assert!(matches!(receive(&mut from).unwrap(), Some(Reply::Err(DeviceProblem::TimedOut))));
    assert!(receive::<ExecutorRequest>(&mut from).unwrap().is_none());
    // Whoever ends in the midst of a message has sent none.
    assert!(receive::<ExecutorRequest>(&mut &wire[..3]).unwrap().is_none());
    assert!(receive::<ExecutorRequest>(&mut &wire[..5]).unwrap().is_none());
}

#[test]
fn a_message_that_is_too_long_is_not_read() {
    let mut wire = (MESSAGE_BYTES_MAX + 1).to_le_bytes().to_vec();
    wire.extend([0; 64]);
    let error = receive::<ExecutorRequest>(&mut &wire[..]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_a_message_or_none(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut wire = (bytes.len() as u32).to_le_bytes().to_vec();
        wire.extend(bytes);
        let _ = receive::<ExecutorRequest>(&mut &wire[..]);
        let _ = receive::<Reply>(&mut &wire[..]);
    }
}
