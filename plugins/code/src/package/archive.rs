//! The zip archive of a DMOJ package. It lives in the plugin's memory, so what it unpacks to is
//! bounded by what comes out, not by what it declares.

use std::cell::{Cell, RefCell};
use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::limits::{ARCHIVE_FILES_MAX, UNPACKED_BYTES_MAX};

pub(super) struct Archive {
    zip: RefCell<ZipArchive<Cursor<Vec<u8>>>>,
    left: Cell<u64>,
}

impl Archive {
    pub(super) fn open(bytes: Vec<u8>) -> Result<Self, String> {
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|error| error.to_string())?;
        if zip.len() > ARCHIVE_FILES_MAX {
            return Err(format!("{} files, at most {ARCHIVE_FILES_MAX}", zip.len()));
        }
        Ok(Self { zip: RefCell::new(zip), left: Cell::new(UNPACKED_BYTES_MAX) })
    }

    /// `None` where there is no such file.
    pub(super) fn read(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let mut zip = self.zip.borrow_mut();
        let file = match zip.by_name(path) {
            Ok(file) => file,
            Err(zip::result::ZipError::FileNotFound) => return Ok(None),
            Err(error) => return Err(format!("{path}: {error}")),
        };
        let mut bytes = Vec::new();
        // One byte more than may be, so that too much is seen.
        let read = file.take(self.left.get() + 1).read_to_end(&mut bytes);
        read.map_err(|error| format!("{path}: {error}"))?;
        let size = u64::try_from(bytes.len()).expect("lengths fit");
        let left = self.left.get().checked_sub(size).ok_or_else(|| {
            format!("its files have more than {UNPACKED_BYTES_MAX} bytes together")
        })?;
        self.left.set(left);
        Ok(Some(bytes))
    }
}
