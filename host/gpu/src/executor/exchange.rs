//! The file in memory through which buffers go from one executor to the other, mapped into both: a driver copies between
//! it and the device, and nothing is copied on the way.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use std::ptr::NonNull;

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

pub(crate) struct Exchange {
    file: File,
    /// Kept from one order to the next, as the kernel takes longer for a page's first use than for a copy of it.
    mapped: Option<MappedExchange>,
}

/// The first bytes of an exchange.
struct MappedExchange {
    at: NonNull<u8>,
    bytes: u64,
}

impl Exchange {
    pub(crate) fn new(file: File) -> Self {
        Self { file, mapped: None }
    }

    /// Between sessions, before the worker makes the file shorter.
    pub(crate) fn close(&mut self) {
        self.mapped = None;
    }

    /// Makes the file so long at least.
    pub(crate) fn extend(&self, bytes: u64) -> Result<()> {
        if self.file.metadata()?.len() < bytes { self.file.set_len(bytes) } else { Ok(()) }
    }

    /// A range, which an executor must have made.
    pub(crate) fn range(&mut self, from: u64, bytes: u64) -> Result<&mut [u8]> {
        let end = from.checked_add(bytes).filter(|end| *end > 0).ok_or(ErrorKind::InvalidInput)?;
        let mapped = match self.mapped.take() {
            Some(mapped) if mapped.bytes >= end => mapped,
            _ => MappedExchange::new(&self.file, end)?,
        };
        Ok(self.mapped.insert(mapped).range(from, bytes))
    }
}

impl MappedExchange {
    #[expect(unsafe_code, reason = "the kernel maps a file")]
    fn new(file: &File, end: u64) -> Result<Self> {
        let bytes = file.metadata()?.len();
        if bytes < end {
            let problem = format!("{bytes} bytes, and not {end}");
            return Err(Error::new(ErrorKind::UnexpectedEof, problem));
        }
        let length = usize::try_from(bytes).ok().and_then(NonZeroUsize::new);
        let length = length.ok_or(ErrorKind::InvalidInput)?;
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses the place. The file lies in memory, is as long as that, and is made shorter only by
        // the worker, between sessions, when no executor touches its mapping.
        let at = unsafe { mmap(None, length, protection, MapFlags::MAP_SHARED, file, 0) }?;
        Ok(Self { at: at.cast(), bytes })
    }

    /// A range within the mapping.
    #[expect(unsafe_code, reason = "the mapping as bytes")]
    fn range(&mut self, from: u64, bytes: u64) -> &mut [u8] {
        // SAFETY: `at` is mapped for `bytes` until this value is dropped. Executors take turns: none reads or writes
        // while another has an order.
        let all = unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.bytes as usize) };
        &mut all[from as usize..(from + bytes) as usize]
    }
}

impl Drop for MappedExchange {
    #[expect(unsafe_code, reason = "the kernel ends a mapping")]
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and no reference into it outlives this value.
        let _ = unsafe { munmap(self.at.cast(), self.bytes as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_side_reads_what_the_other_wrote() {
        let file = tempfile::tempfile().unwrap();
        let (mut one, mut other) =
            (Exchange::new(file.try_clone().unwrap()), Exchange::new(file.try_clone().unwrap()));
        assert!(other.range(0, 10).is_err(), "nobody has written");
        one.extend(10_000).unwrap();
        one.range(9_990, 10).unwrap().copy_from_slice(b"0123456789");
        assert_eq!(other.range(9_990, 10).unwrap(), b"0123456789");
        assert_eq!(other.range(0, 3).unwrap(), [0; 3]);
        assert!(other.range(9_991, 10).is_err() && other.range(u64::MAX, 2).is_err());
        // It stays as long as it was, and a longer one is mapped anew.
        one.extend(100).unwrap();
        one.extend(20_000).unwrap();
        one.range(19_999, 1).unwrap()[0] = 7;
        assert_eq!(other.range(19_999, 1).unwrap(), [7]);
        one.close();
        other.close();
        file.set_len(0).unwrap();
        assert!(one.range(0, 1).is_err());
    }
}
