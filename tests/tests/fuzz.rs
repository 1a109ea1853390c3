//! The fuzz targets, on the inputs that their runs begin with: `make fuzz` makes others of these.

use std::collections::BTreeSet;
use std::process::Command;

use assay_tests::{checkout, program};

/// It starts a server, so it has a test of its own.
const HTTP: &str = "http";

#[test]
fn every_target_holds_for_its_seeds() {
    let files = std::fs::read_dir(checkout().join("fuzz/targets")).expect("there are targets");
    let files: BTreeSet<String> = files
        .map(|file| file.expect("a file").file_name().into_string().expect("a name"))
        .filter_map(|name| name.strip_suffix(".rs").map(str::to_owned))
        .collect();
    let tried = run(Command::new(program("assay-fuzz-seeds")));
    assert_eq!(tried.lines().map(str::to_owned).collect::<BTreeSet<_>>(), files);
    files.iter().filter(|target| *target != HTTP).for_each(|target| check(target));
}

#[test]
fn calls_of_the_interface_hold() {
    check(HTTP);
}

fn check(target: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [checkout().join("fuzz/seeds.py"), program("assay-fuzz-seeds")] {
        let mut command = Command::new(name);
        command.arg(target).arg(folder.path());
        run(command);
    }
}

fn run(mut command: Command) -> String {
    let ended = command.output().expect("it runs");
    let told = String::from_utf8_lossy(&ended.stdout).into_owned();
    let failed = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{command:?}\n{told}\n{failed}");
    told
}
