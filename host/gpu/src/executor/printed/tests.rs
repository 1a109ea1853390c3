use std::io::Write as _;

use super::*;

#[test]
fn the_beginning_is_kept_and_nobody_waits() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let printed = Printed::from_pipe(reader).unwrap();
    printed.keep(10);
    writer.write_all(b"one").unwrap();
    assert_eq!(printed.so_far().unwrap(), b"one");
    // Much more than a pipe holds.
    writer.write_all(&vec![b'x'; 1 << 20]).unwrap();
    assert_eq!(printed.so_far().unwrap(), b"onexxxxxxx");
    printed.keep(4);
    assert_eq!(printed.so_far().unwrap(), b"");
    writer.write_all(b"three").unwrap();
    assert_eq!(printed.so_far().unwrap(), b"thre");
}
