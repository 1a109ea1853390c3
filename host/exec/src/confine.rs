//! Restrictions of a process that must do more than a program in a box may, as one that holds a GPU's driver: whoever
//! takes it over reads and writes few files, and starts, reaches and becomes nothing.

use std::io::{Error, Result};
use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use crate::filter::SyscallFilter;

/// The version that the rules are written for; an older kernel applies those that it knows.
const NEWEST: ABI = ABI::V6;

/// Leaves this thread, and those that it starts later, what lies below `read` to read and execute, and what is there below
/// `write` to write; no TCP, and no signal to another process. To be called before there are other threads.
pub fn restrict_files(read: &[PathBuf], write: &[PathBuf]) -> Result<()> {
    let restrict = || -> std::result::Result<(), RulesetError> {
        let to_write =
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::Signal)?
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(NEWEST)))?
            .add_rules(path_beneath_rules(write, to_write))?
            .restrict_self()?;
        Ok(())
    };
    restrict().map_err(Error::other)
}

/// Takes from all threads of this process the calls that start or reach programs, processes and machines. What else a
/// driver calls is not known, so that there is no list of what it may.
pub fn forbid_calls() -> Result<()> {
    SyscallFilter::without_others().apply_to_threads()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::ErrorKind;
    use std::net::TcpStream;
    use std::os::unix::net::UnixStream;
    use std::process::Command;
    use std::sync::mpsc::channel;

    use super::*;

    /// Set in the process that is confined.
    const INSIDE: &str = "ASSAY_CONFINED";

    fn assert_confined() {
        let refused = |opened: Result<File>| opened.unwrap_err().kind();
        assert!(File::open("/proc/self/status").is_ok());
        assert!(File::options().write(true).open("/dev/null").is_ok());
        assert_eq!(refused(File::open("/etc/passwd")), ErrorKind::PermissionDenied);
        assert_eq!(refused(File::create("/tmp/confined")), ErrorKind::PermissionDenied);
        assert!(Command::new("/bin/true").spawn().is_err());
        assert!(TcpStream::connect("127.0.0.1:1").is_err_and(|error| is_absent(&error)));
        assert!(UnixStream::connect("/run/no").is_err_and(|error| is_absent(&error)));
    }

    fn is_absent(error: &Error) -> bool {
        error.raw_os_error() == Some(nix::libc::ENOSYS)
    }

    #[test]
    fn a_confined_process_has_few_files_and_nobody_else() {
        if std::env::var_os(INSIDE).is_none() {
            let test = "confine::tests::a_confined_process_has_few_files_and_nobody_else";
            let mut again = Command::new(std::env::current_exe().unwrap());
            let output = again.args(["--exact", test]).env(INSIDE, "1").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        nix::sys::prctl::set_no_new_privs().unwrap();
        restrict_files(&["/proc".into()], &["/dev/null".into()]).unwrap();
        let (tell, wait) = channel();
        let earlier = std::thread::spawn(move || {
            wait.recv().unwrap();
            assert_confined();
        });
        forbid_calls().unwrap();
        assert_confined();
        tell.send(()).unwrap();
        earlier.join().unwrap();
        std::thread::spawn(assert_confined).join().unwrap();
    }
}
