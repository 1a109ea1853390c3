//! The server's log: a file at whose end PostgreSQL writes, of bounded size.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use nix::fcntl::OFlag;

use crate::{
    error::{Error, FileContext},
    folder::remove_if_there,
};

/// The time between two looks at the log's size.
pub(crate) const LOOK: Duration = Duration::from_secs(60);
/// The log is put aside at this size; the end of one old one is kept.
const BYTES_MAX: u64 = 8 << 20;
/// The most bytes of the log that an error quotes.
const QUOTE_BYTES_MAX: u64 = 4096;
const QUOTE_LINES_MAX: usize = 12;

/// Opens the log to write at its end.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let mut options = options();
    options.append(true).create(true).mode(0o600);
    options.open(path).doing("open", path)
}

/// Moves the end of a large log to a file beside it. A server that runs goes on in the same, empty file; a line that it
/// writes meanwhile may be lost.
pub(crate) fn put_aside(path: &Path) -> Result<(), Error> {
    let mut log = match options().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.doing("open", path)?,
    };
    let length = log.metadata().doing("look at", path)?.len();
    if length <= BYTES_MAX {
        return Ok(());
    }
    let old = path.with_extension("log.old");
    remove_if_there(&old)?;
    let mut kept = OpenOptions::new();
    let mut kept = kept.write(true).create_new(true).mode(0o600).open(&old).doing("make", &old)?;
    log.seek(SeekFrom::Start(length - BYTES_MAX)).doing("read", path)?;
    io::copy(&mut log.by_ref().take(BYTES_MAX), &mut kept).doing("write", &old)?;
    log.set_len(0).doing("empty", path)
}

/// The end of what the server logged since `from`.
pub(crate) fn quote(path: &Path, from: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(length.saturating_sub(QUOTE_BYTES_MAX))))?;
        let mut bytes = Vec::new();
        file.take(QUOTE_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    match read() {
        Ok(text) => {
            let lines: Vec<&str> = text.lines().collect();
            let shown = lines[lines.len().saturating_sub(QUOTE_LINES_MAX)..].join("\n");
            format!("{shown}\n(from {})", path.display())
        }
        Err(error) => format!("cannot read {}: {error}", path.display()),
    }
}

/// Not through a link, which the owner of the folder may have put there.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_large_log_is_put_aside_while_the_server_writes_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        let old = folder.path().join("server.log.old");
        put_aside(&path).unwrap();
        let mut server = open(&path).unwrap();
        server.write_all(b"a line\n").unwrap();
        put_aside(&path).unwrap();
        assert!(!old.exists() && path.metadata().unwrap().len() == 7);

        let line = [b'x'; 1 << 10];
        for _ in 0..(BYTES_MAX >> 10) + 8 {
            server.write_all(&line).unwrap();
        }
        server.write_all(b"the last\n").unwrap();
        // It must not lead to a file of others.
        let victim = folder.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        symlink(&victim, &old).unwrap();
        put_aside(&path).unwrap();
        server.write_all(b"the next\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "the next\n");
        let kept = fs::read_to_string(&old).unwrap();
        assert!(kept.ends_with("xthe last\n") && kept.len() as u64 == BYTES_MAX);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    }

    #[test]
    fn a_link_in_the_place_of_the_log_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("server.log");
        symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(open(&path).is_err() && put_aside(&path).is_err());
        assert!(!folder.path().join("elsewhere").exists());
    }
}
