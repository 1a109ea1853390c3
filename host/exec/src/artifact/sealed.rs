//! Sealed memory files, which nobody can change. Compiled programs are executed from them.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};

/// `MFD_EXEC`: asks for a file that may be executed. Linux 6.3 and later may refuse one without it.
const EXECUTABLE: MFdFlags = MFdFlags::from_bits_retain(0x10);
/// `F_SEAL_EXEC`: the mode cannot be changed. Known to Linux 6.3 and later.
const SEAL_MODE: SealFlag = SealFlag::from_bits_retain(0x20);

/// An executable memory file with these bytes, which nobody can change.
pub fn sealed(bytes: &[u8]) -> io::Result<OwnedFd> {
    let flags = MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_WRITE;
    let (file, seals) = match memfd_create(c"program", flags | EXECUTABLE) {
        Ok(file) => (file, seals | SEAL_MODE),
        // An older kernel, on which every memory file may be executed.
        Err(Errno::EINVAL) => (memfd_create(c"program", flags)?, seals),
        Err(error) => return Err(error.into()),
    };
    let mut file = File::from(file);
    file.write_all(bytes)?;
    // All runs of a program share the file: nobody who may not write it can set its times to the present ones.
    file.set_permissions(Permissions::from_mode(0o555))?;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals | SealFlag::F_SEAL_SEAL))?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt as _;

    use super::*;

    #[test]
    fn nobody_can_change_it() {
        let file = File::from(sealed(b"bytes").unwrap());
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.set_len(1).is_err() && file.set_len(100).is_err());
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o555, "anybody may execute it");
        let mut bytes = [0; 5];
        file.read_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"bytes");
    }
}
